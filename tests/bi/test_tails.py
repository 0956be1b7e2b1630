"""Records named first, and what is asked of them behind."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = unquote(answer["query"]["odata"])
    return text


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("largest invoice ever, who was it for", ("top=1", "Client($select=name)")),
        ("biggest open deal - who got it", ("top=1", "Client($select=name)")),
        ("newest ticket: whos it from and whos working on it", ("top=1", "Assignee($select=")),
        ("unpaid invoices, when are they due", ("dueDate",)),
        ("active projects and who runs them", ("Manager($select=displayName)",)),
        ("clients in Germany, phone and email", (",phone,email",)),
        ("INV-2026-00001 whos it for and when was it due",
         ("Invoices?", "number eq 'INV-2026-00001'", "dueDate")),
        ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_asked_of_records_is_a_column_of_their_list(
    ask: Ask, question: str, parts: tuple[str, ...]
) -> None:
    address = _address(ask(question))
    assert all(part in address for part in parts) and "apply" not in address


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("open leads created this year, how many", ("$count as count", "status in")),
        ("deals expected to close by end of june, value per stage",
         ("groupby((stage,currency)", "amount with sum", "closeDate lt")),
        ("how many credit notes did we issue in may and what are they worth",
         ("$count as count", "total with sum")),
        ("total billed this month, net and gross", ("total with sum", "total sub taxTotal")),
        ("total billed this month, gross and net", ("total with sum", "total sub taxTotal")),
        ("revenue in 2025 in Germany, net and gross", ("':total,true:0)", "total sub taxTotal")),
        ("budgeted vs actual hours for all active projects",
         ("budgetHours with sum", "hoursSpent with sum")),
        ("open deals per rep, number of deals and value",
         ("$count as count", "amount with sum", "ownerId")),
        ("number of overdue invoices + total", ("$count as count", "amountDue with sum")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_every_figure_that_is_asked_for_is_in_the_answer(
    ask: Ask, question: str, parts: tuple[str, ...]
) -> None:
    address = _address(ask(question))
    assert all(part in address for part in parts)


@pytest.mark.parametrize(
    "question",
    ["how many projects are over budget, and by how many hours in total?",
     "open pipeline per rep, number of deals and discount"],
)  # fmt: skip
def test_a_figure_that_cannot_be_given_is_not_left_out(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"


def test_groups_that_one_kind_of_record_has_say_of_what_they_are(ask: Ask) -> None:
    answer = ask("2 most common categories per channel")
    assert "Tickets?" in _address(answer) and "tickets" in answer["interpretation"]
    assert answer["confidence"] < 0.8
