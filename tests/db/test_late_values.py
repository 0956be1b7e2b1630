"""One compiled statement serves every caller and every day: the values come when it runs."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import StatementError

from app.db.engines import primary_engine
from app.db.late_values import DYNAMIC_TYPES, dynamic

VALUES = {
    "dyn_caller_id": 7,
    "dyn_now": datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
    "dyn_today": date(2026, 3, 29),
}


def test_values_are_bound_by_their_types_when_the_statement_runs(app: Flask) -> None:
    statement = select(*(dynamic(name).label(name) for name in DYNAMIC_TYPES))
    other = {"dyn_caller_id": 8, "dyn_now": datetime(2026, 1, 1, tzinfo=UTC),
             "dyn_today": date(2026, 1, 1)}  # fmt: skip
    with app.app_context(), primary_engine().connect() as connection:
        for values in (VALUES, other):
            row = connection.execute(statement, values).one()
            assert [row.caller_id, row.now, row.today] == list(values.values())
        with pytest.raises(StatementError, match="dyn_"):
            connection.execute(statement, {"dyn_caller_id": 7})


def test_a_value_that_nobody_gives_has_no_name() -> None:
    with pytest.raises(KeyError):
        dynamic("tomorrow")
