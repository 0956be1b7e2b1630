"""Each form of the console says on the next page what it did, or that page is what it did."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from flask import Flask

from tests.console.conftest import SignIn

CONSOLE = Path(__file__).parents[2] / "app" / "console"
# The page that follows is what was begun, or asks for the rest; nothing was changed by signing in.
SHOWN_BY_THE_NEXT_PAGE = {
    "act_on_webhook", "begin_conversation", "change_many", "choose_columns", "export_report",
    "go_on", "judge_article", "move_deal", "sign_in", "sign_out", "take_import", "undo_many",
}  # fmt: skip


def test_what_a_form_did_is_said() -> None:
    silent = {name for name, is_silent in _views_that_go_on() if is_silent}
    assert silent == SHOWN_BY_THE_NEXT_PAGE


def _views_that_go_on() -> Iterator[tuple[str, bool]]:
    for path in CONSOLE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "console.post" in map(
                _decorator, node.decorator_list
            ):
                calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
                says = any(ast.unparse(each.func) == "session.say" for each in calls)
                onward = [each for each in calls if ast.unparse(each.func) == "see_other"]
                yield node.name, not says and any(len(each.args) < 2 for each in onward)


def _decorator(node: ast.expr) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def test_administration_says_what_it_did(sign_in: SignIn, app: Flask) -> None:
    browser = sign_in("Admin")

    def said(path: str, **fields: str) -> str:
        answer = browser.submit(path, **fields)
        assert answer.status_code == 303, answer.text
        return browser.get(answer.headers["Location"].partition("/admin/")[2]).text

    user = {"username": "sally", "password": "correct horse battery staple", "roles": "Sales"}
    assert "User sally created." in said("users", **user)
    key = 2
    assert "User disabled." in said(f"users/{key}", step="disabled")
    assert "User enabled." in said(f"users/{key}", step="active")
    assert "Role saved." in said("roles/new", name="Nothing")
