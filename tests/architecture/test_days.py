"""One source of today: an instant becomes a day in app/clock.py, by the organisation's zone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.architecture.modules import nodes_of, sources

# Where an instant is cut to a day, and by what.
CUTTING = {
    "app.clock": "the time zone that it is given",
    "app.odata.model.edm": "UTC, for services without a zone of their own",
    "app.odata.binding.comparison": "UTC: a date literal beside an instant (contract P5)",
    "app.odata.sql.sqlite_functions": "none: a date plus a duration is a date",
    "app.importing.workbook": "none: a cell has no zone",
    "app.localisation.columns": "none: likewise",
    "app.demo.sales": "UTC: the history is invented",
    "app.demo.work": "UTC: likewise",
    "app.demo.billing": "UTC: likewise",
}
ASKS_ZONE = {"app.settings.days"}
_SQL_TODAY = re.compile(r"\bcurrent_date\b|\b(?:date|datetime|julianday)\('now'", re.IGNORECASE)


@cache
def nodes() -> tuple[tuple[str, ast.Call | ast.Attribute], ...]:
    """Every call and every attribute in the application's sources, with its module."""
    return tuple(
        (name, node)
        for name, tree in sources().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.Call | ast.Attribute)
    )


def test_an_instant_becomes_a_day_in_one_place() -> None:
    modules = {
        name
        for name, node in nodes()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "date"
        and not node.args
    }
    assert modules == set(CUTTING)


def test_nobody_asks_another_clock_what_day_it_is() -> None:
    asked = [
        (name, ast.unparse(node))
        for name, node in nodes()
        if isinstance(node, ast.Attribute)
        and (
            (node.attr in ("today", "now", "utcnow") and _is_of_datetime(node.value))
            or node.attr in ("current_date", "localtime", "gmtime")
        )
    ]
    assert asked == []


def test_no_statement_asks_the_database_what_day_it_is() -> None:
    statements = [
        (name, text) for name, tree in sources().items() for text in _texts(tree)
        if _SQL_TODAY.search(text)
    ]  # fmt: skip
    assert statements == []


def test_the_zone_of_the_organisation_is_asked_for_in_one_place() -> None:
    modules = {
        name
        for name, node in nodes()
        if isinstance(node, ast.Attribute)
        and node.attr == "time_zone"
        and ast.unparse(node.value).endswith("defaults")
    }
    assert modules == ASKS_ZONE


def _is_of_datetime(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] in ("date", "datetime")


def _texts(tree: ast.Module) -> Iterator[str]:
    documented = {
        id(node.body[0].value)
        for node in nodes_of(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documented:
            yield node.value
