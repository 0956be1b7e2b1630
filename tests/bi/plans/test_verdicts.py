"""Yes or no to whether one figure is larger than another."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from flask import Flask

from app.bi.periods.spans import Period
from app.bi.plans.columns import Compiled
from app.bi.plans.entities import Entity
from app.bi.plans.phrasing import verdict
from app.bi.plans.plan import Plan
from app.bi.query import Query
from app.container.model import container

MAY = Period(date(2026, 5, 1), date(2026, 6, 1), "May")
JUNE = Period(date(2026, 6, 1), date(2026, 7, 1), "June")


def _plan(**parts: Any) -> Plan:
    data = {
        "set": "Tickets",
        "one": "ticket",
        "name": "subject",
        "date": "createdAt",
        "columns": (),
    }
    entity = Entity("Tickets", data, container())
    return Plan(entity=entity, kind="count", period=JUNE, compared=MAY, **parts)


@pytest.mark.parametrize(
    ("asked", "is_reversed", "rows", "said"),
    [
        ("more", False, [(5, 3)], "Yes"),
        ("more", False, [(3, 5)], "No"),
        ("more", True, [(3, 5)], "Yes"),
        ("less", False, [(3, 5)], "Yes"),
        ("less", False, [(3, 3)], "No"),
        ("more", False, [(5, 3), (1, 2)], None),
        ("more", False, [(5, None)], None),
        ("", False, [(5, 3)], None),
    ],
)
def test_a_verdict_is_what_the_figures_say(
    app: Flask, asked: str, is_reversed: bool, rows: list[tuple[Any, Any]], said: str | None
) -> None:
    plan = _plan(asked=asked, is_reversed=is_reversed)
    compiled = Compiled(Query("Tickets", {}), (), ("current", "previous"))
    given = [{"current": current, "previous": previous} for current, previous in rows]
    assert verdict(plan, compiled, given) == said
