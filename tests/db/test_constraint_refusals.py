"""What a database has refused is read alike from both: the kind of rule, and over which columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.clock import utc_now
from app.db.constraint_refusals import CHECK, FOREIGN_KEY, NOT_NULL, UNIQUE, Refusal, read_refusal
from app.extensions import db
from app.models.client import Client
from app.models.user import Role, UserRole


def role(**values: Any) -> Any:
    row = {"name": "Auditor", "created_at": utc_now(), "is_builtin": False, "permissions": {}}
    return Role.__table__.insert().values(row | values)


def client(**values: Any) -> Any:
    row = {"name": "Acme", "number": "C-1", "created_at": utc_now(), "updated_at": utc_now()}
    return Client.__table__.insert().values(row | values)


CASES: dict[str, tuple[Callable[[], Any], Refusal]] = {
    "unique": (lambda: role(name="Admin"), Refusal(UNIQUE, ("name",))),
    "primary key": (
        lambda: role(id=select(Role.id).limit(1).scalar_subquery()), Refusal(UNIQUE, ("id",)),
    ),
    "not null": (lambda: role(created_at=None), Refusal(NOT_NULL, ("created_at",))),
    "range": (
        lambda: client(payment_terms_days=999), Refusal(CHECK, ("payment_terms_days",)),
    ),
    "allowed": (lambda: client(status="Asleep"), Refusal(CHECK, ("status",))),
}  # fmt: skip


@pytest.mark.both_databases
@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_its_kind_and_its_columns(app: Flask, case: str) -> None:
    write, expected = CASES[case]
    assert refusal(app, write()) == expected


def test_a_reference_to_nowhere_names_its_column_where_the_database_does(
    app: Flask, database: str
) -> None:
    statement = UserRole.__table__.insert().values(user_id=10**9, role_id=1)
    known = ("user_id",) if database.startswith("postgresql") else ()
    assert refusal(app, statement) == Refusal(FOREIGN_KEY, known)


def test_what_is_no_constraint_of_ours_has_no_kind() -> None:
    assert read_refusal(IntegrityError("", {}, Exception("datatype mismatch"))) == Refusal("", ())


def refusal(app: Flask, statement: Any) -> Refusal:
    with app.app_context(), db.engine.connect() as connection:
        with pytest.raises(IntegrityError) as caught:
            connection.execute(statement)
        connection.rollback()
    return read_refusal(caught.value)
