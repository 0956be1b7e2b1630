"""Figures set against each other: both are shown, and which is larger is said in words."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from flask import Flask

from app.bi.nlq.deciding import direction
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.factories import make_ticket


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("tickets opened vs solved this month", ("createdAt ge", "solvedAt ge")),
        ("leads created versus converted this year", ("createdAt ge", "convertedAt ge")),
        ("deals created compared to won per owner this year", ("closedAt ge", "groupby((ownerId")),
        ("paid on time vs paid late this year",
         ("date(paidAt) le dueDate", "date(paidAt) gt dueDate")),
        ("number of overdue vs not overdue invoices", ("case(isOverdue:1", "not (isOverdue):1")),
    ],
)  # fmt: skip
def test_each_side_is_counted_by_itself(ask: Ask, question: str, parts: tuple[str, ...]) -> None:
    answer = ask(question)
    address = unquote(answer["query"]["odata"])
    assert "as firstOne" in address and "as secondOne" in address
    for part in parts:
        assert part in address


def test_both_sides_are_figures_of_one_row(ask: Ask) -> None:
    answer = ask("tickets created vs solved this month")
    assert answer["rows"] == [{"first": 4, "second": 0}]
    assert "created 4, solved 0" in answer["answer"]
    assert "each is counted by its own date" in answer["interpretation"].lower()


def test_the_period_of_both_sides_is_changed_by_what_follows(ask: Ask) -> None:
    first = ask("tickets created vs solved this month")
    assert first["rows"] == [{"first": 4, "second": 0}]
    later = ask("and last month?", sessionId=first["sessionId"])
    assert later["rows"] in ([{"first": 0, "second": 0}], [{"first": None, "second": None}])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("do we have more clients in Germany than in Switzerland?", "Yes."),
        ("do we have fewer clients in Germany than in Switzerland?", "No."),
        ("do we have more clients in Switzerland than in Germany?", "No."),
        ("did we create more tickets this month than last month?", "Yes."),
        ("is ticket volume up this month over the last", "Yes."),
        ("are new leads down this month on last month", "No."),
    ],
)
def test_which_is_larger_is_said_first(ask: Ask, question: str, said: str) -> None:
    assert ask(question)["answer"].startswith(said)


@pytest.mark.parametrize(
    ("question", "way"),
    [("did we win more than last year", "more"), ("is revenue lower than in May", "less"),
     ("how many more tickets than in May", ""), ("more or fewer leads than in May", "")],
)  # fmt: skip
def test_only_what_asks_so_has_a_direction(question: str, way: str) -> None:
    assert direction(question) == way


def test_a_state_that_no_date_is_kept_of_is_less_sure(ask: Ask) -> None:
    assert ask("paid vs unpaid invoices this month")["confidence"] < 0.8
    assert ask("paid on time vs paid late this month")["answer"]


def test_sides_that_have_a_calendar_each_are_two_questions(ask: Ask) -> None:
    answer = ask("opened vs solved tickets per month this year")
    assert answer["status"] == "needsClarification"
    assert len(answer["alternatives"]) == 2


def test_what_was_so_on_an_earlier_day_is_not_known(ask: Ask) -> None:
    for question in (
        "open tickets compared to a month ago",
        "open invoices compared to last month",
    ):
        answer = ask(question)
        assert answer["status"] == "needsClarification"
        for other in answer["alternatives"]:
            assert ask(other)["status"] == "answered"


def test_an_earlier_month_alone_is_set_against_the_one_that_runs(ask: Ask) -> None:
    answer = ask("number of tickets compared to last month")
    assert answer["rows"][0]["current"] == 4
    assert "this month" in answer["interpretation"]


def test_averages_of_several_kinds_are_of_each_of_them(app: Flask, ask: Ask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_ticket(subject="A call", channel="Phone")
    answer = ask("average satisfaction of email, phone and chat tickets")
    assert "groupby((channel)" in unquote(answer["query"]["odata"])


@pytest.mark.parametrize(
    "question",
    ["revenue this month vs the same days last month",
     "mtd billing against the same days of last month"],
)  # fmt: skip
def test_the_same_days_end_where_the_month_has_come_to(ask: Ask, question: str) -> None:
    assert "to date" in ask(question)["interpretation"]


@pytest.mark.parametrize(
    "question",
    ["how much did billing grow in May over April, in %",
     "by how much percent did billing rise in May over April"],
)  # fmt: skip
def test_over_compares_two_periods(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] == "answered"
    assert "changePercent" in answer["query"]["odata"]
