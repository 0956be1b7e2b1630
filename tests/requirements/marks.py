"""Which test says that it proves which requirement, read from the sources of the tests."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
_MARK = "pytest.mark.requirement"


@cache
def marked() -> dict[str, list[str]]:
    """Number -> the tests marked with it, as pytest names them."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if _MARK in text else ():
            if isinstance(node, ast.FunctionDef):
                for number in _numbers(node):
                    found[number].append(f"{path.relative_to(TESTS.parent)}::{node.name}")
    return found


def _numbers(function: ast.FunctionDef) -> list[str]:
    return [
        argument.value
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == _MARK
        for argument in mark.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
