"""Figures set against each other: both are shown, and which is larger is said in words."""

from __future__ import annotations

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("do we have more clients in Germany than in Switzerland?", "Yes."),
        ("do we have more clients in Switzerland than in Germany?", "No."),
        ("did we create more tickets this month than last month?", "Yes."),
    ],
)
def test_which_is_larger_is_said_first(ask: Ask, question: str, said: str) -> None:
    assert ask(question)["answer"].startswith(said)


def test_a_state_that_no_date_is_kept_of_is_less_sure(ask: Ask) -> None:
    assert ask("paid vs unpaid invoices this month")["confidence"] < 0.8
    assert ask("paid on time vs paid late this month")["answer"]


def test_what_was_so_on_an_earlier_day_is_not_known(ask: Ask) -> None:
    answer = ask("open invoices compared to last month")
    assert answer["status"] == "unsupported"
    assert "at an earlier time" in answer["answer"]


def test_an_earlier_month_alone_is_set_against_the_one_that_runs(ask: Ask) -> None:
    answer = ask("number of tickets compared to last month")
    assert answer["rows"][0]["current"] == 4
    assert "this month" in answer["interpretation"]


@pytest.mark.parametrize(
    "question",
    [
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
