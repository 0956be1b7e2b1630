"""Whether one figure is larger than another: yes or no, as the question asks."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from app.bi.plans.columns import Compiled
from app.bi.plans.plan import Plan
from app.bi.query import Row


def is_of_two(plan: Plan) -> bool:
    """Whether two figures are set against each other."""
    return plan.compared is not None or _pair(plan) is not None


def verdict(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str | None:
    """Yes or no; None where the figures of several currencies or groups say both."""
    pairs = _pairs(plan, compiled, rows)
    if plan.asked not in ("more", "less") or not pairs:
        return None
    said = {first > second if plan.asked == "more" else first < second for first, second in pairs}
    return None if len(said) > 1 else "Yes" if said.pop() else "No"


def _pairs(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> list[tuple[Decimal, Decimal]]:
    if plan.compared is not None:
        values = [(row.get("current"), row.get("previous")) for row in rows]
        pairs = [(Decimal(left), Decimal(other)) for left, other in values
                 if left is not None and other is not None]  # fmt: skip
        return [(other, left) for left, other in pairs] if plan.is_reversed else pairs
    pair = _pair(plan)
    if pair is None or compiled.currency is not None:
        return []
    name = "percent" if plan.kind == "share" else compiled.figures[0]
    path, values_of = pair
    figures = [_figure(rows, path, value, name) for value in values_of]
    return [(figures[0], figures[1])]


def _pair(plan: Plan) -> tuple[str, tuple[str, ...]] | None:
    """By which property there are two groups, and the values of it as they were named."""
    if len(plan.dimensions) != 1 or plan.grain is not None:
        return None
    group = plan.dimensions[0]
    for condition in plan.conditions:
        if (
            len(condition.values) == 2
            and not condition.negated
            and condition.path in (group.key, group.path)
        ):
            return condition.path or "", condition.values
    return None


def _figure(rows: Sequence[Row], path: str, value: str, name: str) -> Decimal:
    """The figure of a group; one that is not there has nothing."""
    figure: Any = next((row[name] for row in rows if str(row.get(path)) == value.strip("'")), 0)
    return Decimal(figure or 0)
