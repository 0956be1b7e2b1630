"""Dates of issue: in the order of their series, in open books, not ahead (docs/adr/0030)."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.db import records
from app.db.engines import transaction
from app.errors import InvalidStateError, ValidationError
from app.http.security import Caller, acting_as, system_caller
from app.invoices.chain import hash_of, verify_chain
from app.invoices.payments import reverse_payment
from app.invoices.steps import create_credit_note, issue_invoice, void_invoice
from app.models.event import AuditRecord
from app.models.invoice import IssueRecord
from app.settings import change_settings, organisation, save_settings
from tests.business import bind_services
from tests.factories import (
    make_client,
    make_invoice,
    make_issued_invoice,
    pay,
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


def test_in_closed_books_nothing_is_paid_and_nothing_is_taken_back(admin: Caller) -> None:
    """What was told to the tax office of a month stays; a payment that bounces later is one."""
    day, after = LAST, LAST + timedelta(days=1)
    old, new = make_issued_invoice(issue_date=day), make_issued_invoice(issue_date=after)
    payment = pay(old, "1", paid_on=day)
    save_settings("invoicing", {"closedUntil": day.isoformat()})
    with pytest.raises(ValidationError) as refused:
        pay(old, "1", paid_on=day)
    assert refused.value.details[0].field == "date"
    pay(old, "1", paid_on=after)
    with pytest.raises(InvalidStateError, match="books are closed") as kept:
        void_invoice(make_issued_in(day), "no")
    assert kept.value.details[0].field == "issueDate"
    void_invoice(new, "no")
    reverse_payment(payment, "bounced")
    assert stored("Invoice", old)["amount_paid"] == 1


def make_issued_in(day: date) -> int:
    """A document with a date of closed books, from when they were open."""
    key = make_issued_invoice()
    put("Invoice", key, issue_date=day)
    return key


@pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "20260228", "2026-2-1", "", 5])
def test_the_day_until_which_books_are_closed_is_a_day(admin: Caller, day: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        save_settings("invoicing", {"closedUntil": day})
    assert caught.value.details[0].field == "closedUntil"


def test_books_are_closed_until_today_at_most(admin: Caller) -> None:
    """By the clocks of the organisation, and whatever they show later."""
    tomorrow = (NOW.date() + timedelta(days=1)).isoformat()
    for day in (tomorrow, "2062-03-10", "9999-12-31"):
        for save in (save_settings, change_settings):
            with pytest.raises(ValidationError) as refused:
                save("invoicing", {"closedUntil": day})
            assert refused.value.details[0].field == "closedUntil"
            assert "must not be after today, 2026-03-10" in refused.value.details[0].message
    save_settings("invoicing", {"closedUntil": NOW.date().isoformat()})
    save_settings("defaults", {"timeZone": "Pacific/Kiritimati"})
    save_settings("invoicing", {"closedUntil": tomorrow})
    save_settings("defaults", {"timeZone": "UTC"})
    change_settings("invoicing", {"series": "RE"})
    assert organisation().invoicing.closed_until == tomorrow


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


@pytest.mark.parametrize("day", ["2026-03-01", "2026-03-04", "2026-03-05", "2026-03-10"])
def test_the_chain_tells_with_which_date_a_document_was_issued_and_when(
    admin: Caller, day: str
) -> None:
    save_settings("invoicing", BACK)
    make_issued_invoice(issue_date=LAST)
    issue_date = date.fromisoformat(day)
    issued = make_issued_invoice(issue_date=issue_date)
    is_behind = issue_date < LAST
    (link,) = rows(IssueRecord, invoice_id=issued)
    assert link["form"] == 2
    assert (link["issue_date"], link["issued_on"]) == (issue_date, NOW.date())
    assert link["backdated_from"] == (LAST if is_behind else None)
    found = verify_chain()
    assert (found.links, found.broken) == (2, None)
    number = stored("Invoice", issued)["number"]
    told = f"{number} was issued on 2026-03-10 with the date {day}, behind 2026-03-05"
    assert found.backdated == (told,) * is_behind


@pytest.mark.parametrize("changes", [
    {"issue_date": date(2026, 3, 6)}, {"issued_on": date(2026, 3, 2)}, {"issued_on": None},
    {"backdated_from": None}, {"form": None},
])  # fmt: skip
def test_a_link_whose_dates_are_changed_is_broken(admin: Caller, changes: dict[str, Any]) -> None:
    save_settings("invoicing", BACK)
    make_issued_invoice(issue_date=LAST)
    issued = make_issued_invoice(issue_date=date(2026, 3, 2))
    (link,) = rows(IssueRecord, invoice_id=issued)
    records.update(IssueRecord.__table__, link["id"], changes)
    found = verify_chain()
    told = f"{link['number']} (link {link['id']}): the link was changed"
    assert (found.links, found.broken) == (1, told)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"backdated_from": None}, "before 2026-03-05 in series INV, and the link hides it"),
        ({"backdated_from": date(2026, 3, 3)}, "and the link hides it"),
        ({"issue_date": date(2026, 3, 9)}, "another issue_date: 2026-03-02 instead of 2026-03-09"),
    ],
)
def test_a_link_that_was_made_anew_without_the_truth_is_broken(
    admin: Caller, changes: dict[str, Any], told: str
) -> None:
    save_settings("invoicing", BACK)
    make_issued_invoice(issue_date=LAST)
    issued = make_issued_invoice(issue_date=date(2026, 3, 2))
    (link,) = rows(IssueRecord, invoice_id=issued)
    changes = {**changes, "hash": hash_of({**link, **changes})}
    records.update(IssueRecord.__table__, link["id"], changes)
    assert told in str(verify_chain().broken)


def test_links_of_the_first_form_stay_valid_before_those_of_the_second(admin: Caller) -> None:
    save_settings("invoicing", BACK)
    first = make_issued_invoice(issue_date=LAST)
    (link,) = rows(IssueRecord, invoice_id=first)
    dates = ("form", "issue_date", "issued_on", "backdated_from")
    old = {**link, **dict.fromkeys(dates)}
    content = {name: old[name] for name in old if name not in (*dates, "id", "hash")}
    text = json.dumps({name: _as_kept(value) for name, value in content.items()}, sort_keys=True)
    old["hash"] = hashlib.sha256(text.replace(", ", ",").replace(": ", ":").encode()).hexdigest()
    records.update(
        IssueRecord.__table__, link["id"], {name: old[name] for name in (*dates, "hash")}
    )
    make_issued_invoice(issue_date=date(2026, 3, 2))
    found = verify_chain()
    assert (found.links, found.broken, len(found.backdated)) == (2, None, 1)


def _as_kept(value: Any) -> Any:
    """As links of the first form had their values under the hash, written down independently."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return f"{value.normalize():f}" if isinstance(value, Decimal) else _text(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
