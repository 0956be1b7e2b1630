"""Reading the application's own sources: which module imports which, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"


class Import(NamedTuple):
    """``importer`` imports ``imported``: ``late`` in a function, ``typed`` for the type checker."""

    importer: str
    imported: str
    late: bool
    typed: bool


@cache
def sources() -> dict[str, ast.Module]:
    """Module name -> its tree, for every module of the application."""
    return {
        module_name(path): ast.parse(path.read_text(encoding="utf-8"), str(path))
        for path in sorted(APP.rglob("*.py"))
    }


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a module, as ``ast.walk`` gives them: that takes a second for all of ``app``."""
    return tuple(ast.walk(tree))


def module_name(path: Path) -> str:
    """``app/crm/service.py`` -> ``app.crm.service``; a package is named by its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports() -> tuple[Import, ...]:
    """Every import of one module of the application by another, also for the type checker alone."""
    return tuple(each for name, tree in sources().items() for each in _imports_of(name, tree))


def _imports_of(importer: str, tree: ast.Module) -> Iterator[Import]:
    late_nodes, typed_nodes = set[int](), set[int]()
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            late_nodes |= {id(inner) for inner in ast.walk(node)}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            typed_nodes |= {id(inner) for inner in ast.walk(node)}
    for node in nodes_of(tree):
        late, typed = id(node) in late_nodes, id(node) in typed_nodes
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("app"):
                    yield Import(importer, alias.name, late, typed)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("app"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield Import(
                    importer, whole if whole in sources() else str(node.module), late, typed
                )
