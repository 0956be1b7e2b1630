"""Every address of the service: who may call it, and the shape of what it refuses."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Rule

from app.http.security import rules_of
from tests.architecture.modules import sources

# Contract P2: what may be called without credentials, and nothing else.
PUBLIC = (
    "/api/auth/login", "/api/v1/auth/login", "/api/auth/refresh", "/api/v1/auth/refresh",
    "/healthz", "/readyz", "/openapi.json", "/docs", "/s/",
    # Closed by a token of its own, and not there without one (docs/adr/0012).
    "/metrics",
    # The console's own page to sign in on, and how it looks (docs/adr/0036).
    "/admin/sign-in", "/admin/assets/",
)  # fmt: skip

pytestmark = pytest.mark.only_on("sqlite")


def rules(app: Flask) -> list[Rule]:
    return sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule)


def address(rule: Rule) -> str:
    """An address that fits ``rule``."""
    return re.sub(r"<int:\w+>", "7", re.sub(r"<(?:path:|string:)?\w+>", "x", rule.rule))


def test_only_what_the_contract_names_is_public(app: Flask) -> None:
    marks = rules_of(app)
    public = {rule.rule for rule in rules(app) if marks[rule.endpoint].public}
    assert {path for path in public if not path.startswith(PUBLIC)} == set()
    assert {"/api/auth/login", "/api/v1/auth/login", "/healthz", "/readyz"} <= public


@pytest.mark.requirement("SEC-01", "SEC-02", "INS-06")
def test_every_other_address_wants_credentials_on_every_method(app: Flask) -> None:
    client, marks = app.test_client(), rules_of(app)
    asked = 0
    for rule in rules(app):
        if marks[rule.endpoint].public or rule.rule.startswith("/admin"):
            continue
        for method in {*(rule.methods or ()), "GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"}:
            answer = client.open(address(rule), method=method)
            assert answer.status_code == 401, (method, rule.rule)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            if method != "HEAD":
                assert answer.json["error"]["code"] == "TOKEN_MISSING"
            asked += 1
    assert asked > 50


def test_every_page_of_the_console_leads_to_signing_in(app: Flask) -> None:
    client, marks = app.test_client(), rules_of(app)
    pages = [rule for rule in rules(app) if rule.rule.startswith("/admin")]
    closed = [rule for rule in pages if not marks[rule.endpoint].public]
    assert len(closed) > 10
    for rule in closed:
        for method in {*(rule.methods or ()), "GET", "POST", "DELETE"}:
            answer = client.open(address(rule), method=method)
            assert answer.status_code == 303, (method, rule.rule)
            assert answer.headers["Location"].startswith("/admin/sign-in?next=")


def test_both_spellings_of_an_address_have_the_same_methods(app: Flask) -> None:
    methods: dict[str, set[str]] = {}
    for rule in rules(app):
        methods.setdefault(rule.rule, set()).update(rule.methods or ())
    for path, offered in methods.items():
        if path.startswith("/api/v1/"):
            assert methods[path.replace("/api/v1/", "/api/", 1)] == offered, path


@pytest.mark.requirement("INS-06")
def test_no_module_registers_hooks_of_its_own_on_requests(app: Flask) -> None:
    """What every request pays for is in the gate, in Flask-Limiter and in the finisher."""
    ours = [
        [function.__qualname__ for function in hooks.get(None, []) if is_ours(function)]
        for hooks in (app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs)
    ]
    assert ours == [["Gate.identify", "Gate.enter"], ["Finisher.leave"], ["Gate.release"]]


def is_ours(hook: Any) -> bool:
    """Whether a hook is not Flask-Limiter's, of which one is a partial object."""
    return getattr(hook, "__module__", "").startswith("app.")


def test_a_view_that_is_one_call_of_its_service_has_its_name() -> None:
    different = {
        f"{module}.{view.name}": called
        for module, tree in sources().items()
        if module.endswith(".routes")
        for view in tree.body
        if isinstance(view, ast.FunctionDef) and ".response(" in ast.unparse(view)
        if (called := only_call(module, view)) not in ("", view.name)
    }
    assert not different


def only_call(module: str, view: ast.FunctionDef) -> str:
    """What a view calls of its room, if that is one function."""
    package = module.rpartition(".")[0]
    room = {
        alias.asname or alias.name
        for node in sources()[module].body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(package)
        for alias in node.names
    }
    calls = {
        ast.unparse(node.func)
        for statement in view.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] in room
    }
    return calls.pop().rpartition(".")[2] if len(calls) == 1 else ""
