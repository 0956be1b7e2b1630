"""Rates, ratios and thresholds: what chooses groups, what restricts records, and what is best."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("reps below a 45% win rate this year", "filter(percent lt 45)"),
        ("agents with a breach rate over 20%", "filter(percent gt 20)"),
        ("sources with less than 20% conversion", "filter(percent lt 20)"),
        ("deals at 50% or more", "probability ge 50"),
        ("open deals at 75 percent or higher", "probability ge 75"),
        ("deals between 20% and 50%", "probability ge 20 and probability le 50"),
        ("articles with more than 10 thumbs down", "notHelpfulCount gt 10"),
        ("articles with at least 20 thumbs up", "helpfulCount ge 20"),
        ("hot leads under 30 points", "score lt 30"),
        ("invoices over 5k gross", "total gt 5000"),
        ("invoices under 1000 net", "(total sub taxTotal) lt 1000"),
        ("partly paid invoices where more than half is still open", "amountDue gt total mul 0.5"),
        ("customers owing more than 5k euros", "outstandingBalance gt 5000"),
        ("swiss debtors with more than 2000 francs open", "currency eq 'CHF'"),
    ],
)
def test_what_a_number_is_compared_with(ask: Ask, question: str, part: str) -> None:
    answer = ask(question)
    assert answer["status"] == "answered"
    assert part in unquote(answer["query"]["odata"])


@pytest.mark.parametrize(
    ("question", "part", "whole"),
    [
        ("helpful vote ratio per category", "helpfulCount as hit",
         "helpfulCount add notHelpfulCount as value"),
        ("effective vat rate (tax divided by net) by country", "taxTotal mul exchangeRate as hit",
         "(total sub taxTotal) mul exchangeRate as value"),
        ("budget usage by project", "hoursSpent as hit", "budgetHours with sum as total"),
    ],
)  # fmt: skip
def test_a_ratio_is_of_two_sums(ask: Ask, question: str, part: str, whole: str) -> None:
    answer = ask(question)
    address = unquote(answer["query"]["odata"])
    assert part in address and whole in address
    assert "percent" in address


def test_the_part_that_credit_notes_make_of_revenue(ask: Ask) -> None:
    answer = ask("credit note ratio")
    assert [row["hits"] for row in answer["rows"]] == ["0.00"] or answer["rows"][0]["percent"] == 0


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("SLA breach rate by channel, worst first", "percent desc"),
        ("reopen rate by agent, best first", "orderby=percent"),
        ("late payment rate by country, worst first", "percent desc"),
        ("win rate by owner, best first", "percent desc"),
        ("conversion rate by source, worst first", "orderby=percent"),
    ],
)
def test_the_worst_of_a_rate_is_the_highest_where_low_is_good(
    ask: Ask, question: str, order: str
) -> None:
    address = unquote(ask(question)["query"]["odata"])
    assert address.endswith(order)


@pytest.mark.parametrize(
    "question",
    ["most common reason why we lose deals, not counting Other", "most common disqualify reason",
     "the most used payment method"],
)  # fmt: skip
def test_a_singular_superlative_asks_for_one(ask: Ask, question: str) -> None:
    assert "$top=1" in unquote(ask(question)["query"]["odata"])


def test_the_number_of_records_is_shown_once(ask: Ask) -> None:
    answer = ask("what's in the pipeline per rep, number of deals and value")
    names = [one["name"] for one in answer["columns"]]
    assert answer["status"] == "answered"
    assert len(names) == len(set(names))


def test_tickets_about_to_miss_a_target_have_not_missed_it(ask: Ask) -> None:
    address = unquote(ask("which tickets are about to miss their SLA?")["query"]["odata"])
    assert "slaStatus eq 'AtRisk'" in address


def test_a_weighted_forecast_is_that_of_open_deals(ask: Ask) -> None:
    address = unquote(ask("weighted forecast for this quarter")["query"]["odata"])
    for part in ("status eq 'Open'", "closeDate ge", "weightedAmount with sum"):
        assert part in address
    assert "Weighted pipeline" in ask("forecast for next month")["interpretation"]
