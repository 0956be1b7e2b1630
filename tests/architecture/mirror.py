"""The rule of where a module's tests are: at its own place, or where a test module imports it.

``app/odata/syntax/lexer.py`` is tested by ``tests/odata/syntax/test_lexer.py``. What has no such
module is reached through the doors of its room alone.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.modules import APP, ROOT, module_name, sources

TESTS = ROOT / "tests"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def without_tests() -> list[str]:
    """The modules of the application that define a function and have no test module."""
    imported = _imported_by_tests()
    return [
        name
        for path in sorted(APP.rglob("*.py"))
        if path.name != "__init__.py"
        and has_logic(sources()[name := module_name(path)])
        and name not in imported
        and not mirror(path).exists()
    ]


def mirror(path: Path) -> Path:
    """``app/crm/service.py`` -> ``tests/crm/test_service.py``."""
    return TESTS / path.relative_to(APP).with_name(f"test_{path.name}")


def has_logic(tree: ast.Module) -> bool:
    """Whether there is anything to test: a function, also one of a class."""
    return any(isinstance(node, _FUNCTIONS) for node in ast.walk(tree))


def _imported_by_tests() -> set[str]:
    names = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.update((node.module, *(f"{node.module}.{a.name}" for a in node.names)))
    return names
