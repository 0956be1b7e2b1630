"""Words that say nothing of what they name: where locals, parameters, attributes, functions and
classes have them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.architecture.modules import nodes_of, sources

EMPTY_WORDS = ("found", "given", "made", "one", "place", "shown", "told")
# Said of something that the reader has to know already: a function says what it returns or does.
PARTICIPLES = ("asked", "chosen", "drawn", "held", "kept", "meant", "said", "seen", "taken")


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
            if name in EMPTY_WORDS:
                yield module, name
