"""One request, one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db import records
from app.errors import ForbiddenError
from app.extensions import db
from app.models.event import AuditRecord
from app.models.user import Role
from tests.conftest import KeepApp
from tests.contract.conftest import Api

SignIn = Callable[..., Api]


def write(name: str = "made") -> None:
    row = {"name": name, "created_at": utc_now(), "is_builtin": False, "permissions": {}}
    records.insert(Role.__table__, row)


def made(session: Session) -> int:
    statement = select(func.count()).select_from(Role).where(Role.name == "made")
    return int(session.execute(statement).scalar_one())


@pytest.fixture
def probes(keep_app: KeepApp, sign_in: SignIn) -> Api:
    return sign_in("Viewer", keep_app(_add_views))


def _add_views(app: Flask) -> None:
    def good() -> dict[str, Any]:
        write()
        return {}

    def refuse() -> tuple[dict[str, Any], int]:
        write()
        return {}, 409

    def fail() -> None:
        write()
        raise ZeroDivisionError

    def forbid() -> None:
        write()
        raise ForbiddenError("no", [("permission", "invoices:void")])

    def refused_at_commit() -> dict[str, Any]:
        write()

        def refuse_commit() -> None:
            refused = sqlite3.IntegrityError("UNIQUE constraint failed: roles.name")
            refused.sqlite_errorname = "SQLITE_CONSTRAINT_UNIQUE"
            raise IntegrityError("", {}, refused)

        db.session().commit = refuse_commit  # type: ignore[method-assign]
        return {}

    for view in (good, refuse, fail, forbid, refused_at_commit):
        app.add_url_rule(f"/api/{view.__name__}", view_func=view, methods=["POST"])


@pytest.mark.parametrize(
    ("view", "status", "kept"),
    [
        ("good", 200, 1),
        ("refuse", 409, 0),
        ("fail", 500, 0),
        ("forbid", 403, 0),
        ("refused_at_commit", 409, 0),
    ],
)
def test_success_is_committed_and_nothing_else(
    probes: Api, session: Session, view: str, status: int, kept: int
) -> None:
    assert probes.post(f"/api/{view}").status_code == status
    assert made(session) == kept
    assert probes.get("/api/auth/me").status_code == 200


@pytest.mark.requirement("OPS-18")
def test_a_denial_is_in_the_audit_log_though_all_else_is_undone(
    probes: Api, session: Session
) -> None:
    probes.post("/api/forbid")
    row = (
        session.connection()
        .execute(select(AuditRecord).where(AuditRecord.action == "access.denied"))
        .one()
    )
    assert row.after == {"method": "POST", "path": "/api/forbid", "permission": "invoices:void"}
    assert (row.via, row.ip) == ("jwt", "127.0.0.1")


def test_a_guess_is_in_the_audit_log_without_what_was_guessed(
    probes: Api, anonymous: Api, session: Session
) -> None:
    anonymous.get("/api/auth/me", headers={"Authorization": "Bearer guess.guess.guess"})
    anonymous.get("/api/auth/me")
    rows = session.connection().execute(
        select(AuditRecord).where(AuditRecord.action == "auth.refused")
    )
    (row,) = rows
    assert row.after == {"method": "GET", "path": "/api/auth/me", "code": "INVALID_CREDENTIALS"}
    assert (row.actor_id, row.via) == (None, "system")
