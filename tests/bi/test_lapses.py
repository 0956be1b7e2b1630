"""How long it took from one date of a record to another, and what was done after another date."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("days from lead to conversion on average, by source",
         "totalseconds(convertedAt sub createdAt) div 86400"),
        ("how long does it take from lead to conversion",
         "totalseconds(convertedAt sub createdAt) div 86400"),
        ("average number of days from invoice date to payment, per customer country",
         "totalseconds(date(paidAt) sub issueDate) div 86400"),
        ("time from ticket creation to first reply by agent",
         "totalseconds(firstRespondedAt sub createdAt) div 3600"),
        ("days from draft to publication of articles",
         "totalseconds(publishedAt sub createdAt) div 86400"),
        ("average payment delay by country",
         "totalseconds(date(paidAt) sub dueDate) div 86400"),
        ("days from creation to close of lost deals by reason",
         "totalseconds(closedAt sub createdAt) div 86400"),
    ],
)  # fmt: skip
def test_every_two_dates_of_a_record_have_a_time_between_them(
    ask: Ask, question: str, value: str
) -> None:
    address = unquote(ask(question)["query"]["odata"])
    assert value in address
    assert "with average" in address


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("invoices paid after the due date", "date(paidAt) gt dueDate"),
        ("projects completed after their end date", "date(completedAt) gt endDate"),
        ("projects finished late", "date(completedAt) gt endDate"),
        ("tickets that missed their first response target",
         "firstRespondedAt gt firstResponseDueAt"),
        ("tickets that missed the resolution target", "slaStatus eq 'Breached'"),
    ],
)  # fmt: skip
def test_what_was_done_is_set_against_another_date(ask: Ask, question: str, text: str) -> None:
    assert text in unquote(ask(question)["query"]["odata"])
