"""Shares: of one whole, or sent back; never each of what it is itself."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


def test_without_rates_a_share_stays_in_each_currency_and_says_so(ask: Ask) -> None:
    answer = ask("share of revenue from Switzerland")
    assert [row["currency"] for row in answer["rows"]] == ["CHF", "EUR"]
    assert answer["confidence"] < 0.8
    assert "Each currency stands by itself" in answer["interpretation"]


def test_a_share_within_a_named_currency_stays_in_it(ask: Ask) -> None:
    answer = ask("what share of this year's EUR revenue comes from German customers?")
    assert "currency eq 'EUR'" in unquote(answer["query"]["odata"])
    assert "base" not in unquote(answer["query"]["odata"])


@pytest.mark.parametrize(
    "question",
    ["value of won deals, everything converted to dollars", "open deals converted to EUR"],
)
def test_what_cannot_be_converted_is_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"


@pytest.mark.parametrize(
    "question",
    [
        "In what proportion do our lost deals split by reason?",
        "share of each lost reason among lost deals",
        "lost deals by reason as percentages",
        "percentage of lost deals by reason",
    ],
)
def test_parts_of_a_whole_are_no_rates(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] == "unsupported"
    assert "the numbers by group can be asked for" in answer["answer"]
    assert ask("lost deals by reason")["status"] == "answered"


def test_rates_within_groups_stay(ask: Ask) -> None:
    answer = ask("what percentage of open tickets are urgent by channel")
    assert answer["status"] == "answered"
    assert {"channel", "percent"} <= set(answer["rows"][0])
