"""A right that has ended is not used once more, whatever the request asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text, update
from sqlalchemy.exc import OperationalError

from app.auth.epoch import DatabaseEpoch, bump_epoch
from app.db.engines import read_engine, transaction
from app.models.user import Role, Session, UserRole
from tests.conftest import KeepApp
from tests.contract.conftest import Api

ONLY_POSTGRESQL = pytest.mark.only_on("postgresql")
ROLES: Any = Role.__table__
GIVEN: Any = UserRole.__table__
SESSIONS: Any = Session.__table__


def end_sessions(app: Flask) -> None:
    """As another process does it: nothing of this one hears of it."""
    with app.app_context(), transaction() as running:
        running.execute(update(SESSIONS).values(revoked_at=text("created_at")))
        bump_epoch()


def give(app: Flask, role: str) -> None:
    """Let all users have ``role`` and no other."""
    with app.app_context(), transaction() as running:
        found = running.execute(ROLES.select().where(ROLES.c.name == role)).one()
        running.execute(update(GIVEN).values(role_id=found.id))
        bump_epoch()


def names(app: Flask) -> list[str]:
    with app.app_context(), read_engine().connect() as connection:
        return list(connection.execute(text("SELECT name FROM clients ORDER BY id")).scalars())


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "Clients(1)", None), ("GET", "Clients?$filter=name eq 'A'", None),
        ("GET", "Clients/$count", None), ("GET", "Clients(999)", None), ("GET", "$metadata", None),
        ("GET", "Nothing", None), ("GET", "Clients?$filter=(", None), ("GET", "Me", None),
        ("POST", "Clients", {"name": "B"}), ("POST", "Clients", {"name": ""}),
        ("POST", "Clients", {"name": "B", "externalId": "a"}),
        ("PATCH", "Clients(1)", {"name": "B"}), ("PATCH", "Clients(999)", {"name": "B"}),
        ("PATCH", "Clients(1)", {"name": "A"}), ("PUT", "Clients(1)", {"name": "B"}),
        ("DELETE", "Clients(1)", None), ("DELETE", "Clients(999)", None),
    ],
)  # fmt: skip
def test_an_ended_session_gets_nothing_and_does_nothing(
    app: Flask, admin: Api, method: str, path: str, body: Any
) -> None:
    made = admin.post("/odata/Clients", {"name": "A", "externalId": "a"})
    path = path.replace("Clients(1)", f"Clients({made.json['id']})")
    end_sessions(app)
    answer = admin.send(method, f"/odata/{path}", json=body)
    assert answer.status_code == 401, answer.text
    assert answer.json["error"]["code"] == "TOKEN_REVOKED"
    assert names(app) == ["A"]
    again = admin.send(method, f"/odata/{path}", json=body)
    assert again.status_code == 401


def test_the_rights_are_those_of_now(app: Flask, admin: Api) -> None:
    made = admin.post("/odata/Clients", {"name": "A"}).json["id"]
    give(app, "Viewer")
    refused = admin.patch(f"/odata/Clients({made})", {"name": "B"})
    assert refused.status_code == 403
    assert admin.get(f"/odata/Clients({made})").json["name"] == "A"
    give(app, "Admin")
    assert admin.patch(f"/odata/Clients({made})", {"name": "B"}).json["name"] == "B"
    give(app, "Viewer")
    assert admin.delete(f"/odata/Clients({made})").status_code == 403
    assert names(app) == ["B"]
    with app.app_context(), read_engine().connect() as connection:
        refusals = connection.execute(
            text("SELECT count(*) FROM audit_records WHERE action = 'access.denied'")
        ).scalar_one()
    assert refusals == 2  # each once


def test_a_request_whose_rights_have_changed_counts_once(
    keep_app: KeepApp, sign_in: Callable[..., Api]
) -> None:
    app = keep_app(RATE_LIMIT_USER="100/minute")  # nobody else counts there
    user = sign_in("Viewer", app)

    def remaining() -> int:
        answer = user.get("/odata/Clients")
        assert answer.status_code == 200
        return int(answer.headers["RateLimit-Remaining"])

    assert remaining() == 99
    with app.app_context(), transaction():
        bump_epoch()
    assert [remaining(), remaining()] == [98, 97]


def test_what_was_done_on_the_way_is_done_once(app: Flask, admin: Api) -> None:
    admin.get("/odata/Clients")
    with app.app_context(), transaction():
        bump_epoch()
    made = admin.post("/odata/Clients", {"name": "A"})
    assert made.status_code == 201
    with app.app_context(), read_engine().connect() as connection:
        told = connection.execute(
            text("SELECT entity_id, type FROM events WHERE type = 'client.created'")
        ).all()
    assert told == [(made.json["id"], "client.created")]


@ONLY_POSTGRESQL
def test_a_database_that_is_gone_is_an_answer(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    admin.get("/odata/$metadata")

    def gone(self: DatabaseEpoch) -> int:
        raise OperationalError("SELECT", None, ConnectionError())

    monkeypatch.setattr(DatabaseEpoch, "current", gone)
    assert admin.get("/odata/$metadata").status_code == 503
