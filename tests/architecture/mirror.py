"""The rule of where a module's tests are: at its own place, or in its room.

``app/odata/syntax/lexer.py`` is tested by ``tests/odata/syntax/test_lexer.py``. Several modules may
be tested together, as long as that is in their room: ``app/crm/...`` by ``tests/crm/``. A room's
tests reach a module when

- they name it: import it, or patch something of it;
- they ask for what it offers: an address of one of its views or operations, or a command;
- a module of the room that they name or ask imports it, to run it: that is its front. What only
  such an inner module imports is reached by nobody.

What stands in the root of ``app/`` or of ``tests/`` belongs to all rooms.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.modules import APP, ROOT, imports, nodes_of, sources

TESTS = ROOT / "tests"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTED = re.compile(r"^\s*from (app[\w.]*) import (\([^)]*\)|.+)$", re.MULTILINE)
_NAMED = re.compile(r"\bapp(?:\.\w+)+")
_PATCHED = re.compile(r"\b(app(?:\.\w+)+)\.\w+")
_WORD = re.compile(r"[/}\"']([\w.-]+)(?=[/?({\"'\s])")
_DECORATORS = ("get", "post", "put", "patch", "delete", "route", "command")


def without_tests() -> set[str]:
    """The modules that define a function and that no test of their room reaches."""
    fronts = {name for name in sources() if _is_front(name)}
    imported = {
        each.imported
        for each in imports()
        if each.importer in fronts and room(each.importer) == room(each.imported) and not each.typed
    }
    return {
        name
        for name, tree in sources().items()
        if has_logic(tree) and name not in fronts | imported
    }


def mirror(path: Path) -> Path:
    """``app/crm/service.py`` -> ``tests/crm/test_service.py``."""
    return TESTS / path.relative_to(APP).with_name(f"test_{path.name}")


def has_logic(tree: ast.Module) -> bool:
    """Whether there is anything to test: a function, also one of a class."""
    return any(isinstance(node, _FUNCTIONS) for node in nodes_of(tree))


def room(module: str) -> str:
    """``crm`` of ``app.crm.service``; nothing for what stands in the root."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or (APP / parts[-1]).is_dir() else ""


def offers(tree: ast.Module) -> set[str]:
    """The last words of the addresses of the views and operations, and the names of commands."""
    words = set()
    for node in nodes_of(tree):
        for decorator in getattr(node, "decorator_list", ()):
            match decorator:
                case ast.Call(
                    func=ast.Attribute(attr=name), args=[ast.Constant(value=str(text)), *_]
                ) if name in _DECORATORS:
                    words.add(_last_word(text))
        match node:
            case ast.Call(func=ast.Name(id="Operation"), keywords=keywords):
                words |= {
                    _last_word(str(ast.literal_eval(keyword.value)))
                    for keyword in keywords
                    if keyword.arg == "path" and isinstance(keyword.value, ast.Constant)
                }
    return words - {""}


def _last_word(path: str) -> str:
    return re.sub(r"<[^>]*>", "", path).strip("/").split("/")[-1]


def _has_mirror(module: str) -> bool:
    path = APP.parent.joinpath(*module.split("."))
    return not path.is_dir() and mirror(path.with_suffix(".py")).exists()


def _is_front(module: str) -> bool:
    own = room(module)
    if _has_mirror(module) or module in _named(own):
        return True
    return not offers(sources()[module]).isdisjoint(_asked_for(own))


@cache
def _asked_for(own: str) -> frozenset[str]:
    """Words of addresses, and texts of one word, in the tests of a room."""
    return frozenset(_WORD.findall(_texts(own)))


@cache
def _texts(own: str) -> str:
    """The tests of a room, and those of all rooms."""
    paths = [*TESTS.glob("*.py"), *(TESTS / own).rglob("*.py")] if own else TESTS.rglob("*.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def _named(own: str) -> frozenset[str]:
    """The modules that the tests of a room import, or name in a text."""
    text = _texts(own)
    imported = (
        f"{package}.{name.split()[0]}"
        for package, names in _IMPORTED.findall(text)
        for name in names.strip("()").split(",")
        if name.strip()
    )
    return frozenset((*imported, *_NAMED.findall(text), *_PATCHED.findall(text)))
