"""Two restrictions with a link between them; what clients had at one time and not at another."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask

OVERDUE = "Invoices/any(a:a/type eq 'Invoice' and a/isOverdue)"
LAST_YEAR = "a/issueDate ge 2025-01-01 and a/issueDate lt 2026-01-01"
THIS_YEAR = "a/issueDate ge 2026-01-01 and a/issueDate lt 2027-01-01"


def _where(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    where = unquote(answer["query"]["odata"]).partition("?")[2].partition("filter")[2]
    return where.lstrip("=(").partition("&$")[0]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("projects with a budget over 10000 and overdue tasks",
         ("budgetAmount gt 10000 and Tasks/any(a:a/isOverdue)",)),
        ("clients with payment terms over 30 days and overdue invoices",
         (f"paymentTermsDays gt 30 and {OVERDUE}",)),
        ("clients with a breached sla and overdue invoices",
         ("Tickets/any(a:a/slaStatus eq 'Breached')", OVERDUE)),
        ("clients with incidents and overdue invoices on top",
         ("Tickets/any(a:a/type eq 'Incident')", OVERDUE)),
        ],
)  # fmt: skip
def test_restrictions_of_several_kinds_are_linked(
    ask: Ask, question: str, parts: tuple[str, ...]
) -> None:
    where = _where(ask(question))
    assert all(part in where for part in parts), where


@pytest.mark.parametrize(
    "question",
    ["customers we billed in 2025 but not once in 2026",
     "customers that bought in 2025 but not in 2026"],
)  # fmt: skip
def test_what_was_once_and_is_not_at_another_time(ask: Ask, question: str) -> None:
    first, _, second = _where(ask(question)).partition(" and not (Invoices/any(")
    assert first.startswith("Invoices/any(") and LAST_YEAR in first
    assert THIS_YEAR in second


def test_who_bought_nothing_may_never_have_bought(ask: Ask) -> None:
    where = _where(ask("clients that bought nothing in 2026"))
    assert where.startswith("not (Invoices/any(") and where.count("/any(") == 2  # and its lines


def test_a_later_question_restricts_by_other_records(ask: Ask) -> None:
    session = ask("active clients")["sessionId"]
    where = _where(ask("without any ticket", sessionId=session))
    assert "status eq 'Active'" in where and "not (Tickets/any())" in where
