"""Which chart shows the figures of a plan."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.bi.plans.charting import chart_of_plan
from app.bi.plans.compiling import compiled
from app.bi.plans.entities import Dimension, Entity
from app.bi.plans.plan import Plan
from app.container.model import container

CHANNEL = Dimension("channel", "channel", "channel")
TICKETS = {
    "set": "Tickets", "one": "ticket", "name": "subject", "date": "createdAt", "columns": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "shape", "x", "series"),
    [
        ({"dimensions": (CHANNEL,)}, "bar", "channel", None),
        ({"dimensions": (CHANNEL,), "chart": "pie"}, "arc", "channel", None),
        ({"grain": "month"}, "line", "month", None),
        ({"grain": "weekday"}, "bar", "weekday", None),
        ({"grain": "month", "dimensions": (CHANNEL,)}, "line", "month", "channel"),
    ],
)
def test_groups_are_bars_and_time_is_a_line(
    app: Flask, parts: dict[str, Any], shape: str, x: str, series: str | None
) -> None:
    plan = Plan(entity=Entity("Tickets", TICKETS, container()), kind="count", **parts)
    chart = chart_of_plan(plan, compiled(plan))
    assert chart is not None
    assert (chart.type, chart.x, chart.y, chart.series) == (shape, x, "count", series)


@pytest.mark.parametrize("parts", [{}, {"dimensions": (CHANNEL,), "chart": "table"}])
def test_one_figure_and_a_table_have_no_chart(app: Flask, parts: dict[str, Any]) -> None:
    plan = Plan(entity=Entity("Tickets", TICKETS, container()), kind="count", **parts)
    assert chart_of_plan(plan, compiled(plan)) is None
