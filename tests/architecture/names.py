"""Words that say nothing of what they name: where locals, parameters, attributes, functions and
classes have them. And private names in tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.architecture.modules import ROOT, nodes_of, sources

EMPTY_WORDS = ("found", "given", "made", "one", "place", "shown", "told")
# Of locals alone.
EMPTY_LOCALS = (*EMPTY_WORDS, "asked", "behind", "here", "kept", "said")
# Said of something that the reader has to know already: a function says what it returns or does.
PARTICIPLES = ("asked", "chosen", "drawn", "held", "kept", "meant", "said", "seen", "taken")

# Methods of named tuples and rows, and the end of a process, which the libraries document.
DOCUMENTED = ("_asdict", "_exit", "_fields", "_mapping", "_replace")
# What a module has somewhere that is asked for a private name; most have nothing of the kind.
MAY_BE_PRIVATE = re.compile(
    rf"(?<!self)(?<!cls)\.(?!(?:{'|'.join(DOCUMENTED)})\b)_[A-Za-z]|"
    r"import [^(\n]*\b_[A-Za-z]|import \([^)]*\b_[A-Za-z]|\bsetattr\("
)


@cache
def empty_names() -> tuple[tuple[str, str], ...]:
    """Module and word of each name that a local, a parameter or an attribute has."""
    return tuple(_empty_names())


@cache
def empty_functions() -> tuple[tuple[str, str], ...]:
    """Module and name of each function or class that has such a word, or a participle, alone."""
    return tuple(
        (module, node.name)
        for module, tree in sources().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name.strip("_").lower() in EMPTY_WORDS + PARTICIPLES
    )


def _empty_names() -> Iterator[tuple[str, str]]:
    for module, tree in sources().items():
        for node in nodes_of(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.ExceptHandler(name=name) | ast.MatchAs(name=name):
                    pass
                case _:
                    continue
            if name in EMPTY_LOCALS:
                yield module, name


def private_names_in_tests() -> Iterator[str]:
    """Private names that a test takes from a module or an object that is not its own."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not MAY_BE_PRIVATE.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if (name := _private_name(node)) is not None and name not in DOCUMENTED:
                yield f"{path.relative_to(ROOT)}: {name}"


def _private_name(node: ast.AST) -> str | None:
    """``_x`` of ``from y import _x``, of ``y._x``, and of ``monkeypatch.setattr(y, "_x", z)``."""
    match node:
        case ast.ImportFrom(names=aliases):
            names = [alias.name for alias in aliases]
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return None
        case ast.Attribute(attr=name):
            names = [name]
        case ast.Call(func=ast.Attribute(attr="setattr"), args=arguments):
            texts = [each.value for each in arguments if isinstance(each, ast.Constant)]
            names = [text.rpartition(".")[2] for text in texts if isinstance(text, str)]
        case _:
            return None
    return next((name for name in names if re.fullmatch("_[A-Za-z].*", name)), None)
