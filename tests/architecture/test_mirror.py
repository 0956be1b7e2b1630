"""Tests are where they are looked for: ``mirror.py`` says the rule."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.mirror import has_logic, mirror, without_tests
from tests.architecture.modules import APP, ROOT

# It only goes down: who gives one of them a test module of its own lowers it.
MOST = 409


def test_no_more_modules_are_without_a_test_module() -> None:
    modules = without_tests()
    assert len(modules) <= MOST, "a new module needs a test module: mirror.py says where"


def test_a_module_is_tested_at_its_own_place() -> None:
    assert mirror(APP / "odata/syntax/lexer.py") == ROOT / "tests/odata/syntax/test_lexer.py"
    assert mirror(APP / "money.py") == ROOT / "tests/test_money.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("def f(): ...", True), ("class A:\n async def f(self): ...", True), ("A = 1", False)],
)
def test_what_defines_a_function_has_logic(text: str, expected: bool) -> None:
    assert has_logic(ast.parse(text)) is expected
