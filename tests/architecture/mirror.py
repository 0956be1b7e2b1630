"""The rule of where a module's tests are: at its own place, or in its room.

``app/odata/syntax/lexer.py`` is tested by ``tests/odata/syntax/test_lexer.py``. Several modules may
be tested together, as long as that is in their room: ``app/crm/...`` by ``tests/crm/``. A room's
tests reach a module when

- they name it: import it, or patch something of it;
- they ask for what it offers: an address of one of its views or operations, or a command;
- a module of the room that they reach imports it.

What stands in the root of ``app/`` or of ``tests/`` belongs to all rooms.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.graph import graph
from tests.architecture.modules import APP, ROOT, nodes_of, sources

TESTS = ROOT / "tests"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTED = re.compile(r"^\s*from (app[\w.]*) import (\([^)]*\)|.+)$", re.MULTILINE)
_NAMED = re.compile(r"\bapp(?:\.\w+)+")
_PATCHED = re.compile(r"\b(app(?:\.\w+)+)\.\w+")
_WORD = re.compile(r"[/}\"']([\w.-]+)(?=[/?({\"'\s])")
_OFFERS = ("get", "post", "put", "patch", "delete", "route", "command", "Operation")


def without_tests() -> list[str]:
    """The modules that define a function and that no test of their room reaches."""
    reached = {name for name in sources() if _is_reached(name)}
    waiting = list(reached)
    while waiting:
        importer = waiting.pop()
        inner = {name for name in graph()[importer] - reached if room(name) == room(importer)}
        reached |= inner
        waiting += inner
    return [name for name, tree in sources().items() if has_logic(tree) and name not in reached]


def without_own_tests() -> list[str]:
    """Those that have no test module at their own place, and that no test of their room names."""
    return [
        name
        for name, tree in sources().items()
        if has_logic(tree) and not _has_mirror(name) and name not in _named(room(name))
    ]


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
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
            texts = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "path")]
            for text in texts if name in _OFFERS else ():
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    words |= set(re.sub(r"<[^>]*>", "", text.value).strip("/").split("/")[-1:])
    return words - {""}


def _has_mirror(module: str) -> bool:
    path = APP.parent.joinpath(*module.split("."))
    return not path.is_dir() and mirror(path.with_suffix(".py")).exists()


def _is_reached(module: str) -> bool:
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
