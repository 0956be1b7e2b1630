"""Dates of issue: in the order of their series, in open books, not ahead (docs/adr/0190)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.database import transaction
from app.errors import ValidationError
from app.invoices.crediting import create_credit_note
from app.invoices.operations import issue_invoice
from app.models.event import AuditRecord
from app.security import Caller, acting_as, system_caller
from app.settings import save_settings
from tests.business import bind_services
from tests.factories import (
    make_client,
    make_invoice,
    make_issued_invoice,
    put,
    rows,
    stored,
    update,
)

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LAST = date(2026, 3, 5)
BACK, CLOSED = {"backDating": True}, {"closedUntil": "2026-02-28"}
LATE = {"closedUntil": "2026-03-07"}

# Settings, the date, and the days that the refusal names; None where it is issued.
CASES: tuple[tuple[dict[str, Any], str, str | None], ...] = (
    ({}, "2026-03-05", None),
    ({}, "2026-03-10", None),
    ({}, "2026-03-04", "from 2026-03-05 to 2026-03-10: 2026-03-05 is the date of the last"),
    ({}, "2026-03-11", "from 2026-03-05 to 2026-03-10"),
    ({}, "2025-12-31", "from 2026-03-05 to 2026-03-10"),
    (BACK, "2026-03-01", None),
    (BACK, "2026-02-28", "from 2026-03-01 to 2026-03-10: documents are back-dated"),
    (BACK, "2026-03-11", "from 2026-03-01 to 2026-03-10"),
    (CLOSED, "2026-03-04", "from 2026-03-05 to 2026-03-10"),
    (BACK | CLOSED, "2026-02-28", "from 2026-03-01 to 2026-03-10"),
    (LATE, "2026-03-08", None),
    (LATE, "2026-03-07", "from 2026-03-08 to 2026-03-10: the books are closed until 2026-03-07"),
    (BACK | LATE, "2026-03-07", "from 2026-03-08 to 2026-03-10: the books are closed"),
    ({"closedUntil": "2026-03-10"}, "2026-03-10", "before 2026-03-11: the books are closed"),
    ({"series": "NEW"}, "2024-02-29", None),
    ({"series": "NEW"}, "2026-03-11", "must not be after today, 2026-03-10"),
    ({"series": "NEW", **CLOSED}, "2026-02-28", "from 2026-03-01 to 2026-03-10: the books"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _now() -> Any:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.mark.parametrize(("settings", "day", "refusal"), CASES)
def test_an_issue_date_is_within_its_range(
    admin: Caller, settings: dict[str, Any], day: str, refusal: str | None
) -> None:
    make_issued_invoice(issue_date=LAST)
    save_settings("invoicing", settings)
    issue_date = date.fromisoformat(day)
    # A draft may be planned for any day.
    draft = make_invoice(issue_date=issue_date)
    expected = nullcontext() if refusal is None else pytest.raises(ValidationError)
    with expected as caught:
        issue_invoice(draft)
    if caught is not None:
        (problem,) = caught.value.details
        assert problem.field == "issueDate"
        assert str(refusal) in problem.message
        assert stored("Invoice", draft)["status"] == "Draft"
        update("Invoice", draft, issue_date=None)
        if "2026-03-11:" not in str(refusal):
            issue_invoice(draft)  # what the clerk does: today's date
        return
    invoice = stored("Invoice", draft)
    assert invoice["issue_date"] == issue_date
    assert invoice["number"].split("-")[1] == str(issue_date.year)
    told = [row for row in rows(AuditRecord) if row["action"] == "invoice.backdated"]
    is_told = issue_date < LAST and "series" not in settings
    assert [(row["entity_id"], row["after"]["issueDate"]) for row in told] == [
        (draft, day)
    ] * is_told


def test_a_credit_note_has_a_date_of_its_own_series_and_not_before_its_invoice(
    admin: Caller,
) -> None:
    save_settings("invoicing", {"creditNoteSeries": "CN"})
    invoice = make_issued_invoice(issue_date=LAST)
    note = create_credit_note(invoice, issue=False)
    update("Invoice", note, issue_date=date(2026, 3, 4))
    with pytest.raises(ValidationError, match="issueDate") as caught:
        issue_invoice(note)
    assert "the date of the credited invoice" in caught.value.details[0].message
    update("Invoice", note, issue_date=date(2026, 3, 6))
    issue_invoice(note)
    later = create_credit_note(make_issued_invoice(issue_date=LAST), issue=False)
    update("Invoice", later, issue_date=LAST)
    with pytest.raises(ValidationError):
        issue_invoice(later)


def test_documents_ahead_of_today_do_not_stop_those_of_today(admin: Caller) -> None:
    """The zone of the organisation was one where it is tomorrow already."""
    put("Invoice", make_issued_invoice(), issue_date=date(2026, 3, 11))
    assert stored("Invoice", make_issued_invoice())["issue_date"] == NOW.date()


@pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "20260228", "2026-2-1", "", 5])
def test_the_day_until_which_books_are_closed_is_a_day(admin: Caller, day: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        save_settings("invoicing", {"closedUntil": day})
    assert caught.value.details[0].field == "closedUntil"


def test_of_two_that_are_issued_at_once_the_second_keeps_the_order(app: Flask) -> None:
    bind_services(app)

    def issue(key: int) -> None:
        with app.app_context(), acting_as(system_caller("test")), transaction():
            issue_invoice(key)

    with app.app_context(), acting_as(system_caller("test")):
        with transaction():
            client = make_client()
            first = make_invoice(client_id=client, issue_date=date(2026, 3, 9))
            second = make_invoice(client_id=client, issue_date=date(2026, 3, 8))
        with ThreadPoolExecutor(1) as pool:
            with transaction():
                issue_invoice(first)
                waiting = pool.submit(issue, second)
            with pytest.raises(ValidationError, match="issueDate"):
                waiting.result()
        with transaction():
            assert stored("Invoice", second)["number"] is None
            assert (
                stored("Invoice", make_issued_invoice(client_id=client))["number"][-5:] == "00002"
            )
