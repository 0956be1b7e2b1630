"""Every error has the one shape, and says nothing of the inside (contract P10)."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from flask import Flask, abort, request
from sqlalchemy.exc import (
    OperationalError,
    ProgrammingError,
    TimeoutError as PoolTimeout,
)

from app.clock import utc_now
from app.db import records
from app.errors import Detail, InvalidQueryError, NotFoundError, ValidationError
from app.http.error_answers import error_response
from app.http.security import counted, public
from app.models.client import Client
from app.models.user import Role, User, UserRole
from tests.conftest import KeepApp
from tests.contract.conftest import Api

SignIn = Callable[..., Api]


def sqlite(message: str, code: int) -> OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return OperationalError("", {}, error)


def caused(cause: Exception) -> Exception:
    """What a library makes of ``cause``."""
    error = RuntimeError("the file cannot be written")
    error.__cause__ = cause
    return error


SECRET = "postgresql://user:hunter2@host/database"


def shape(answer: Any) -> dict[str, Any]:
    """The error of an answer, after its form is checked."""
    assert answer.content_type == "application/json"
    assert answer.headers["Content-Language"] == "en"
    assert answer.json.keys() == {"error"}
    error = answer.json["error"]
    assert error.keys() - {"position"} == {"code", "message", "details"}
    assert isinstance(error["message"], str) and error["message"]
    for detail in error["details"]:
        assert {"field", "message"} <= detail.keys()
    assert answer.headers["X-Request-ID"]
    return dict(error)


@pytest.fixture
def probes(keep_app: KeepApp, sign_in: SignIn) -> Api:
    """A service with views that fail in every way."""
    return sign_in("Viewer", keep_app(_add_probes))


def _add_probes(app: Flask) -> None:
    views = {
        "unexpected": lambda: 1 / 0,
        "secret": _raise(RuntimeError(SECRET)),
        "details": _raise(ValidationError([Detail("lineItems[0].quantity", "too small", "range")])),
        "query": _raise(InvalidQueryError("no operand", position=17)),
        "missing": _raise(NotFoundError("There is no record 7.")),
        "teapot": lambda: abort(418),
        "unavailable": lambda: abort(503),
        "form": lambda: request.form["missing"],
        "text": lambda: "text",
        "unique": insert_twice,
        "check": update_users(status="asleep"),
        "not-null": update_users(updated_at=None),
        "range": insert_client(payment_terms_days=999),
        "reference": refer_to_nobody,
    }
    for name, view in views.items():
        app.add_url_rule(f"/api/probe/{name}", f"api-{name}", view, methods=["GET", "POST"])
        app.add_url_rule(f"/odata/probe/{name}", f"odata-{name}", view)
    app.add_url_rule("/api/probe/role", view_func=drop_role, methods=["DELETE"])
    app.add_url_rule("/api/broken", view_func=counted("free")(public(_raise(KeyError("x")))))


def _raise(error: Exception) -> Callable[[], Any]:
    def view() -> Any:
        raise error

    return view


@pytest.mark.requirement("SEC-134", "SEC-135", "SEC-192")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/probe/unexpected", 500, "INTERNAL_ERROR"),
        ("/api/probe/secret", 500, "INTERNAL_ERROR"),
        ("/odata/probe/unexpected", 500, "INTERNAL_ERROR"),
        ("/api/broken", 500, "INTERNAL_ERROR"),
        ("/api/probe/details", 400, "VALIDATION_ERROR"),
        ("/api/probe/query", 400, "INVALID_QUERY"),
        ("/api/probe/missing", 404, "NOT_FOUND"),
        ("/api/probe/teapot", 400, "VALIDATION_ERROR"),
        ("/api/probe/unavailable", 503, "SERVICE_UNAVAILABLE"),
        ("/api/probe/form", 400, "VALIDATION_ERROR"),
        ("/api/nothing", 404, "NOT_FOUND"),
        ("/odata/nothing", 404, "NOT_FOUND"),
        ("/nothing", 404, "NOT_FOUND"),
        ("/api//auth/me", 404, "NOT_FOUND"),
        ("/api/../etc/passwd", 404, "NOT_FOUND"),
        ("/.git/config", 404, "NOT_FOUND"),
        ("/console", 404, "NOT_FOUND"),
        ("/static/app.py", 404, "NOT_FOUND"),
        ("/api/auth/me?x=%00", 400, "INVALID_QUERY"),
        ("/api/auth/me?x=%ff", 400, "INVALID_QUERY"),
        ("/api/auth/me?x=%ed%a0%80", 400, "INVALID_QUERY"),
        ("/api/auth/%00", 400, "INVALID_QUERY"),
    ],
)
def test_each_failure_has_its_status_and_code(
    probes: Api, path: str, status: int, code: str
) -> None:
    answer = probes.get(path)
    assert answer.status_code == status
    assert shape(answer)["code"] == code


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("x=%00", ["x"]),
        ("a=1&x=%ff&b=%C3%A9&y=a%00b", ["x", "y"]),
        ("$filter=name eq '%ed%a0%80'", ["$filter"]),
        ("%ff=1", ["\ufffd"]),
        ("a%00b", ["a\ufffdb"]),
    ],
)
@pytest.mark.parametrize("path", ["/api/auth/me", "/odata/Clients"])
def test_a_parameter_of_bad_bytes_is_named(
    probes: Api, path: str, query: str, names: list[str]
) -> None:
    answer = probes.get(f"{path}?{query}")
    assert answer.status_code == 400
    error = shape(answer)
    assert error["code"] == "INVALID_QUERY"
    assert [detail["field"] for detail in error["details"]] == names
    assert f"The parameter {names[0]} " in error["message"]


@pytest.mark.only_on("sqlite")
def test_a_path_of_bad_bytes_is_refused(probes: Api) -> None:
    answer = probes.get("/api/auth/x", environ_overrides={"PATH_INFO": "/api/auth/\xff"})
    assert (answer.status_code, shape(answer)["code"]) == (400, "INVALID_QUERY")


@pytest.mark.requirement("SEC-191")
@pytest.mark.only_on("sqlite")
def test_an_unexpected_error_tells_its_request_id_and_nothing_else(
    probes: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = probes.get("/api/probe/secret", headers={"X-Request-ID": "my-request-7"})
    error = shape(answer)
    assert error["message"] == "Something went wrong on our side. Request id: my-request-7"
    assert error["details"] == []
    assert "hunter2" not in answer.text
    logged = capsys.readouterr().err
    assert "my-request-7" in logged and "RuntimeError" in logged
    assert "hunter2" not in logged


@pytest.mark.only_on("sqlite")
def test_odata_details_have_code_and_target(probes: Api) -> None:
    rest = shape(probes.get("/api/probe/details"))["details"]
    assert rest == [{"field": "lineItems[0].quantity", "message": "too small"}]
    odata = shape(probes.get("/odata/probe/details"))["details"]
    assert odata == [
        {
            "code": "range",
            "target": "lineItems[0].quantity",
            "field": "lineItems[0].quantity",
            "message": "too small",
        }
    ]
    assert shape(probes.get("/odata/probe/query"))["position"] == 17


@pytest.mark.requirement("SEC-49")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "TRACE", "PROPFIND"])
def test_a_method_that_is_not_offered_is_405_with_those_that_are(probes: Api, method: str) -> None:
    answer = probes.client.open("/api/probe/text", method=method, headers=probes.headers)
    assert answer.status_code == 405
    assert shape(answer)["code"] == "METHOD_NOT_ALLOWED"
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


@pytest.mark.requirement("SEC-49")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_no_header_changes_the_method(probes: Api, name: str) -> None:
    answer = probes.post("/api/auth/sessions", headers={name: "GET"})
    assert answer.status_code == 405


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "path", ["/api/probe/text/", "/api/admin/users/", "//api/auth/me", "/api/auth//me"]
)
def test_nothing_redirects(probes: Api, path: str) -> None:
    answer = probes.get(path, headers={"Host": "evil.example"})
    assert answer.status_code in (200, 403, 404)
    assert "evil.example" not in str(answer.headers) + answer.text


def test_a_body_that_is_refused_names_each_field(admin: Api) -> None:
    body = {"username": "anna", "email": "anna@", "password": "three-blue-kettles", "extra": 1}
    answer = admin.post("/api/admin/users", body)
    assert answer.status_code == 400
    fields = {detail["field"] for detail in shape(answer)["details"]}
    assert fields == {"roles", "extra", "email"}
    del body["extra"]
    answer = admin.post("/api/admin/users", {**body, "roles": ["Sales"], "timezone": "Mars"})
    fields = {detail["field"] for detail in shape(answer)["details"]}
    assert fields == {"email", "timezone"}


def test_wrong_types_are_400_at_their_place(admin: Api) -> None:
    body = {"name": 7, "role": ["Viewer"], "scopes": ["clients:read", 7], "expiresAt": "tomorrow"}
    details = shape(admin.post("/api/admin/api-keys", body))["details"]
    assert {detail["field"] for detail in details} == {"name", "role", "scopes[1]", "expiresAt"}


@pytest.mark.requirement("SEC-22")
@pytest.mark.parametrize(
    "body", ["", "[]", "null", "{", '{"username":', '"x"', "username=x", "{}", '{"username":"x"}']
)
def test_malformed_logins_are_400(anonymous: Api, body: str) -> None:
    answer = anonymous.client.post("/api/auth/login", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert shape(answer)["code"] == "VALIDATION_ERROR"


def insert_twice() -> None:
    role = {"name": "Admin", "created_at": utc_now(), "is_builtin": False, "permissions": {}}
    records.insert(Role.__table__, role)


def update_users(**values: Any) -> Callable[[], None]:
    return lambda: records.connection().execute(User.__table__.update().values(**values)) and None


def insert_client(**values: Any) -> Callable[[], None]:
    now = utc_now()
    row = {"name": "Acme", "number": "C-1", "created_at": now, "updated_at": now, **values}
    return lambda: records.insert(Client.__table__, row) and None


def drop_role() -> None:
    role = Role.__table__
    records.connection().execute(role.delete().where(role.c.name == "Viewer"))


def refer_to_nobody() -> None:
    records.insert(UserRole.__table__, {"user_id": 10**9, "role_id": 10**9})


@pytest.mark.parametrize(
    ("write", "status", "code", "fields"),
    [
        ("unique", 409, "DUPLICATE", ["name"]),
        ("check", 400, "VALIDATION_ERROR", ["status"]),
        ("not-null", 400, "VALIDATION_ERROR", ["updatedAt"]),
        ("range", 400, "VALIDATION_ERROR", ["paymentTermsDays"]),
    ],
)
def test_what_the_database_refuses_names_its_field(
    probes: Api, write: str, status: int, code: str, fields: list[str]
) -> None:
    answer = probes.get(f"/api/probe/{write}")
    assert answer.status_code == status
    error = shape(answer)
    assert error["code"] == code
    assert [detail["field"] for detail in error["details"]] == fields


def test_a_reference_to_nowhere_is_400_and_one_that_stays_409(probes: Api) -> None:
    assert shape(probes.get("/api/probe/reference"))["code"] == "VALIDATION_ERROR"
    kept = probes.delete("/api/probe/role")
    assert (kept.status_code, shape(kept)["code"]) == (409, "IN_USE")
    assert probes.get("/api/auth/me").json["roles"] == ["Viewer"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (sqlite("database is locked", sqlite3.SQLITE_BUSY), True),
        (sqlite("database or disk is full", sqlite3.SQLITE_FULL), True),
        (sqlite("unable to open database file", sqlite3.SQLITE_CANTOPEN), True),
        (sqlite("no such table: clients", sqlite3.SQLITE_ERROR), False),
        (sqlite('near "SELCT": syntax error', sqlite3.SQLITE_ERROR), False),
        (OperationalError("", {}, psycopg.OperationalError("connection refused")), True),
        (OperationalError("", {}, psycopg.errors.QueryCanceled("statement timeout")), True),
        (OperationalError("", {}, psycopg.errors.DeadlockDetected("deadlock")), True),
        (ProgrammingError("", {}, psycopg.errors.UndefinedTable("clients")), False),
        (PoolTimeout("QueuePool limit"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (caused(OSError(errno.EDQUOT, "Disk quota exceeded")), True),
        (OSError(errno.ENOENT, "No such file"), False),
        (caused(OSError(errno.EACCES, "Permission denied")), False),
    ],
    ids=str,
)
def test_what_is_away_or_full_is_503_and_a_mistake_of_ours_500(
    app: Flask, error: Exception, expected: bool
) -> None:
    with app.test_request_context("/api/x"):
        response = error_response(error)
    assert response.status_code == (503 if expected else 500)
    assert ("Retry-After" in response.headers) is expected


@pytest.mark.parametrize(
    "error", [psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable]
)
def test_who_is_in_the_way_of_others_may_come_again_at_once(
    app: Flask, error: type[psycopg.Error]
) -> None:
    with app.test_request_context("/api/x"):
        response = error_response(OperationalError("", {}, error("deadlock")))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert "Another request is changing the same records" in response.get_data(as_text=True)
