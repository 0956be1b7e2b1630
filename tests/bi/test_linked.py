"""Two restrictions with a link between them; what clients had at one time and not at another."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest

from app.bi.nlq.histories import histories
from app.bi.nlq.language import read_file
from tests.bi.conftest import Ask

OPEN = "Tickets/$count($filter=status in ('New','Open','Pending','OnHold')) gt 0"
DEALS = "Opportunities/$count($filter=status eq 'Open') gt 0"
OVERDUE = "Invoices/$count($filter=type eq 'Invoice' and isOverdue) gt 0"
ISSUED = "type eq 'Invoice' and status in ('Sent','PartiallyPaid','Paid','Uncollectible')"
THIS_YEAR = "issueDate ge 2026-01-01 and issueDate lt 2027-01-01"


def _where(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    where = unquote(answer["query"]["odata"]).partition("?")[2].partition("filter")[2]
    return where.lstrip("=(").partition("&$")[0]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("active clients with open tickets or an open deal",
         ("status eq 'Active'", f"({OPEN} or {DEALS})")),
        ("clients that have an open deal or open tickets", (f"{DEALS} or {OPEN}",)),
        ("clients with a credit balance or an overdue invoice",
         (f"creditBalance gt 0 or {OVERDUE}",)),
        ("projects that are over budget or have overdue tasks",
         ("hoursSpent gt budgetHours or Tasks/$count($filter=isOverdue) gt 0",)),
        ("invoices that are overdue or over 5000", ("(isOverdue or total gt 5000)",)),
        ("deals with a competitor or a next step", ("competitor ne null or nextStep ne null",)),
        ("projects with a budget over 10000 and overdue tasks",
         ("budgetAmount gt 10000 and Tasks/$count($filter=isOverdue) gt 0",)),
        ("clients with payment terms over 30 days and overdue invoices",
         (f"paymentTermsDays gt 30 and {OVERDUE}",)),
        ("clients with a breached sla and overdue invoices",
         ("Tickets/$count($filter=slaStatus eq 'Breached') gt 0", OVERDUE)),
        ("clients with incidents and overdue invoices on top",
         ("Tickets/$count($filter=type eq 'Incident') gt 0", OVERDUE)),
        ("clients without tickets or projects",
         ("Tickets/$count eq 0 and Projects/$count eq 0",)),
        ("projects without tasks or invoices",
         ("Tasks/$count eq 0 and Invoices/$count($filter=type eq 'Invoice') eq 0",)),
    ],
)  # fmt: skip
def test_restrictions_of_several_kinds_are_linked(
    ask: Ask, question: str, parts: tuple[str, ...]
) -> None:
    where = _where(ask(question))
    assert all(part in where for part in parts), where


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("customers we billed in 2025 but not once in 2026",
         f"{ISSUED} and issueDate ge 2025-01-01 and issueDate lt 2026-01-01) gt 0",
         f"{ISSUED} and {THIS_YEAR}) eq 0"),
        ("customers that bought in 2025 but not in 2026",
         "issueDate ge 2025-01-01 and issueDate lt 2026-01-01) gt 0", f"{THIS_YEAR}) eq 0"),
        ("clients who got their very first invoice in 2026",
         f"{THIS_YEAR}) gt 0", "issueDate lt 2026-01-01) eq 0"),
        ("who bought from us for the first time in 2026",
         f"{THIS_YEAR}) gt 0", "issueDate lt 2026-01-01) eq 0"),
        ("dormant customers - bought before but nothing in 2026",
         f"{ISSUED}) gt 0", f"{THIS_YEAR}) eq 0"),
        ("customers we've invoiced but who never paid anything",
         f"{ISSUED}) gt 0", "Payments/any(payment:payment/status eq 'Completed')) eq 0"),
        ("clients with tickets in 2025 but none in 2026",
         "createdAt lt 2026-01-01T00:00:00Z) gt 0", "createdAt lt 2027-01-01T00:00:00Z) eq 0"),
        ("customers who bought in 2025 and again in 2026",
         "issueDate lt 2026-01-01) gt 0", f"{THIS_YEAR}) gt 0"),
        ("clients that never paid late", f"{ISSUED}) gt 0",
         "status eq 'Paid' and date(paidAt) gt dueDate) eq 0"),
        ("customers who bought just once", f"{ISSUED}) eq 1", ""),
    ],
)  # fmt: skip
def test_what_was_once_and_is_not_at_another_time(
    ask: Ask, question: str, first: str, second: str
) -> None:
    where = _where(ask(question))
    assert first in where and second in where, where


def test_who_bought_nothing_may_never_have_bought(ask: Ask) -> None:
    where = _where(ask("clients that bought nothing in 2026"))
    assert "eq 0" in where and "gt 0" not in where


def test_a_later_question_restricts_by_other_records(ask: Ask) -> None:
    session = ask("active clients")["sessionId"]
    where = _where(ask("without any ticket", sessionId=session))
    assert "status eq 'Active'" in where and "Tickets/$count eq 0" in where


def test_lost_customers_may_be_several_things(ask: Ask) -> None:
    assert ask("lapsed customers")["status"] == "needsClarification"
    assert all(ask(one)["status"] == "answered" for one in ask("lapsed customers")["alternatives"])


def test_no_wording_is_read_for_long() -> None:
    """A group that is repeated as often as it likes takes ages over words that nearly fit."""
    made = histories(read_file("en"))
    assert [one.pattern for one, _ in made if re.search(r"\)[*+]", one.pattern)] == []
