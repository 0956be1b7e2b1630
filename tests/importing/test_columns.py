"""Headings become properties, cells become values, and what is not clear stays a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.importing.columns import Column, Options, Plan, plan_columns
from app.localisation.columns import Cell
from app.settings import change_settings


@pytest.mark.parametrize(
    ("heading", "target"),
    [
        ("name", "name"), ("Tax ID", "taxId"), ("VAT number", "taxId"), ("E-Mail", "email"),
        ("PAYMENT TERMS DAYS", "paymentTermsDays"), ("Zip", "billingAddress.postalCode"),
        ("billingAddress.city", "billingAddress.city"), ("Shipping address city",
        "shippingAddress.city"), ("customFields.segment", "customFields.segment"),
        ("External id", "externalId"),
    ],
)  # fmt: skip
def test_usual_headings_are_recognised(heading: str, target: str) -> None:
    assert plan_columns([heading], Options(type="client")) == ([Column(heading, target)], [])


@pytest.mark.parametrize(
    ("headings", "mapping", "wrong"),
    [
        (["colour"], {}, ["colour"]),
        (["name", "Name"], {}, ["Name"]),
        (["a"], {"a": "colour"}, ["a"]),
        (["a"], {"b": "name"}, ["b", "a"]),
        (["name", ""], {}, []),
        (["name", "rank"], {"rank": None}, []),
        (["rank"], {"rank": None}, [""]),
        (["number"], {}, ["number"]),
        (["customFields."], {}, ["customFields."]),
    ],
)
def test_headings_that_are_nothing_are_problems(
    headings: list[str], mapping: dict[str, Any], wrong: list[str]
) -> None:
    _, problems = plan_columns(headings, Options(type="client", mapping=mapping))
    assert [heading for heading, _ in problems] == wrong


def plan(type_: str, *headings: str, rows: Sequence[Sequence[Cell]] = (), **options: Any) -> Plan:
    new_plan = Plan(headings, Options(type=type_, **options))
    for cells in rows:
        new_plan.see(cells)
    return new_plan


@pytest.fixture
def berlin(app: Flask) -> Iterator[None]:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        change_settings("defaults", {"timeZone": "Europe/Berlin"})
        yield


def test_cells_become_values_of_their_properties(berlin: None) -> None:
    leads = plan("lead", "doNotContact", "score", "consentAt", "tags")
    values, problems = leads.row_values(["Ja", "80", "2026-05-01 10:30", "a; b;c,"])
    assert problems == [] and values == {
        "do_not_contact": True, "score": 80, "tags": ["a", "b", "c,"],
        "consent_at": datetime(2026, 5, 1, 8, 30, tzinfo=UTC),
    }  # fmt: skip
    values, problems = leads.row_values(["perhaps", "8.5", "soon", ""])
    assert values == {"do_not_contact": "perhaps"}
    assert [field for field, _ in problems] == ["score", "consentAt"]


NUMBERS = [
    # (cells of the column, what they are in it: None for a question)
    (["12.500", "1.234.567,89"], ["12500", "1234567.89"]),
    (["1.234.567,89", "12.500", "0,5"], ["1234567.89", "12500", "0.5"]),
    (["12.500", "3,5"], ["12500", "3.5"]),
    (["12.500", "3.5"], ["12.500", "3.5"]),
    (["12,500", "1,234,567"], ["12500", "1234567"]),
    (["12,500", "1.234"], [None, None]),
    (["12.500", "1000"], [None, "1000"]),
    (["12.500", "1 000"], [None, "1000"]),
    (["12.500", "3,5", "3.5"], [None, "3.5", "3.5"]),
    (["12.500", Decimal("12.5")], [None, "12.5"]),
    (["12,34,567", "1,000"], ["1234567", "1000"]),
    (["1'234.50", "1.000"], ["1234.50", "1.000"]),
]


@pytest.mark.parametrize(("cells", "numbers"), NUMBERS)
def test_a_column_decides_how_its_numbers_are_written(
    app: Flask, cells: list[Cell], numbers: list[str | None]
) -> None:
    with app.app_context():
        clients = plan("client", "name", "revenue", rows=[("Acme", cell) for cell in cells])
        for cell, number in zip(cells, numbers, strict=True):
            values, problems = clients.row_values(["Acme", cell])
            if number is None:
                assert "could be two numbers" in problems[0][1]
                assert "choose the decimal sign" in problems[0][1]
            else:
                assert values["revenue"] == Decimal(number) and problems == []


def test_the_decimal_sign_that_is_said_decides(app: Flask) -> None:
    with app.app_context():
        for sign, number in (("comma", Decimal(12500)), ("point", Decimal("12.5"))):
            said = plan("client", "revenue", rows=[["12.500"]], decimal_sign=sign)
            assert said.row_values(["12.500"]) == ({"revenue": number}, [])
        _, problems = plan("client", "revenue", decimal_sign="comma").row_values(["12.50"])
        assert problems == [("revenue", "is no number where a comma begins the decimals")]


DATES = [
    (["03/04/2026", "25/12/2026"], ["2026-04-03", "2026-12-25"]),
    (["03/04/2026", "12/25/2026"], ["2026-03-04", "2026-12-25"]),
    (["03/04/2026", "2026-12-25"], [None, "2026-12-25"]),
    (["03/04/2026", "25/12/2026", "12/25/2026"], [None, "2026-12-25", "2026-12-25"]),
    (["03.04.2026", "5.6.2026"], ["2026-04-03", "2026-06-05"]),
    (["05/05/2026"], ["2026-05-05"]),
    (["3-4-2026", "13-4-2026"], ["2026-04-03", "2026-04-13"]),
    (["2026/4/3"], ["2026-04-03"]),
]


@pytest.mark.parametrize(("cells", "days"), DATES)
def test_a_column_decides_the_order_of_day_and_month(
    berlin: None, cells: list[str], days: list[str | None]
) -> None:
    leads = plan("lead", "nextActivityAt", rows=[[cell] for cell in cells])
    for cell, day in zip(cells, days, strict=True):
        for text, clock in (
            (cell, "00:00"),
            (f"{cell} 2:30 PM", "14:30"),
            (f"{cell} 14:30", "14:30"),
        ):
            values, problems = leads.row_values([text])
            if day is None:
                assert "could be two dates" in problems[0][1]
                assert "choose the order of day and month" in problems[0][1]
            else:
                at = values["next_activity_at"].astimezone(ZoneInfo("Europe/Berlin"))
                assert (problems, f"{at:%Y-%m-%d %H:%M}") == ([], f"{day} {clock}")


def test_the_order_that_is_said_decides(berlin: None) -> None:
    for order, month in (("dayFirst", 4), ("monthFirst", 3)):
        said = plan("lead", "nextActivityAt", date_order=order)
        values, _ = said.row_values(["03/04/2026 12:00"])
        assert values["next_activity_at"].month == month
    _, problems = plan("lead", "nextActivityAt", date_order="monthFirst").row_values(["25/12/2026"])
    assert problems == [("nextActivityAt", "is no date in the order monthFirst")]


def test_times_without_a_zone_are_the_organisations(berlin: None) -> None:
    leads = plan("lead", "nextActivityAt")
    for cell, at in (
        ("2026-07-01", "2026-06-30T22:00"), ("2026-01-01T12:00", "2026-01-01T11:00"),
        ("2026-01-01T12:00:00Z", "2026-01-01T12:00"),
        ("2026-01-01 12:00+05:30", "2026-01-01T06:30"),
        (datetime(2026, 7, 1, 12), "2026-07-01T10:00"), (date(2026, 7, 1), "2026-06-30T22:00"),
    ):  # fmt: skip
        values, problems = leads.row_values([cell])
        assert (problems, f"{values['next_activity_at']:%Y-%m-%dT%H:%M}") == ([], at)
    for cell, problem in (
        ("2026-10-25 02:30", "happens twice in Europe/Berlin"),
        ("2026-03-29 02:30", "does not exist in Europe/Berlin"),
    ):
        assert problem in leads.row_values([cell])[1][0][1]
