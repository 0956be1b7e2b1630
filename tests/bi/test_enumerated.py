"""Figures named one after the other: all of them are in the answer, none is left out silently."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from bench.nlq import HIGH
from tests.bi.conftest import Ask

COUNT = "$count as count"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("number of deals, total value and average value by owner",
         [COUNT, "amount with sum", "amount with average"]),
        ("estimated hours, actual hours and number of tasks by project",
         [COUNT, "estimatedHours with sum", "actualHours with sum"]),
        ("net and gross invoiced in euro per quarter of 2025",
         ["total sub taxTotal", "total with sum", "currency eq 'EUR'"]),
    ],
    ids=["with their noun", "all measured", "two with a currency"],
)  # fmt: skip
def test_every_figure_of_a_list_is_answered(
    ask: Ask, business: None, question: str, parts: list[str]
) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer["answer"]
    address = unquote(answer["query"]["odata"])
    missing = [one for one in parts if one not in address]
    assert not missing, address


@pytest.mark.parametrize(
    "question",
    ["number, value and colour of deals", "budget, cost and margin by project",
     "number of clients, revenue and open tickets by country"],
)  # fmt: skip
def test_a_figure_that_nobody_knows_sends_the_list_back(
    ask: Ask, business: None, question: str
) -> None:
    answer = ask(question)
    assert answer["status"] != "answered" or answer["confidence"] < HIGH
