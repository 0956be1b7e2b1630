"""With which dates documents are issued: in the order of their series, in open books, not ahead.

Source: docs/adr/0030. History that is moved in keeps the dates that it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sqlalchemy import select

from app import audit
from app.clock import day_after
from app.db import records
from app.errors import ValidationError
from app.models.invoice import Invoice
from app.settings import organisation
from app.settings.days import today
from app.settings.store import look_again
from app.writing.change import Change


@dataclass(frozen=True)
class IssueDates:
    """The days that a document may be dated, ``first`` and ``last`` among them, and why not before.

    ``latest`` is the date of the last document of its series.
    """

    first: date
    last: date
    reason: str
    latest: date | None

    def problem(self, issue_date: date) -> str | None:
        """What is wrong with a date; None for one that is allowed."""
        if self.first <= issue_date <= self.last:
            return None
        if self.first > self.last:
            return f"cannot be before {self.first}: {self.reason}"
        if self.first == date.min:
            return f"must not be after today, {self.last}"
        return f"must be from {self.first} to {self.last}: {self.reason}"


def issue_dates(change: Change[Invoice]) -> IssueDates:
    """With which dates the document may be issued now.

    From the date of the last document of its series, or with ``backDating`` from the first of the
    month where that is earlier; never in closed books, and a credit note not before its invoice.
    """
    settings, last = organisation().invoicing, today()
    series = change.get("series")
    latest = _latest_of(series)
    first, reason = date.min, ""
    if latest is not None:
        first, reason = latest, f"{latest} is the date of the last document of series {series}"
        month = last.replace(day=1)
        if settings.back_dating and month < first:
            first, reason = month, "documents are back-dated within the month only"
    credited = records.read(Invoice, change.get("credited_invoice_id"))
    if credited is not None and credited.issue_date and credited.issue_date > first:
        first, reason = credited.issue_date, "that is the date of the credited invoice"
    # A document is ahead of today where the time zone was another: today is always allowed,
    first = min(first, last)
    closed = settings.closed_until and date.fromisoformat(settings.closed_until)
    if closed and day_after(closed) > first:  # except in closed books
        first, reason = day_after(closed), f"the books are closed until {closed}"
    return IssueDates(first, last, reason, latest)


def require_issue_date(change: Change[Invoice]) -> date | None:
    """Look again, with the series locked, whether the date is allowed; tell of an earlier one.

    Returns: the date of the last document of the series, where that is after this one's.
    Raises: ValidationError, a later document of the series was issued meanwhile.
    """
    look_again()
    issue_date, allowed = change.get("issue_date"), issue_dates(change)
    if problem := allowed.problem(issue_date):
        raise ValidationError([("issueDate", problem)])
    if allowed.latest is None or issue_date >= allowed.latest:
        return None
    audit.record(
        "invoice.backdated", "Invoice", change.key,
        before={"issueDate": allowed.latest},
        after={"issueDate": issue_date, "number": change.get("number")},
    )  # fmt: skip
    return allowed.latest


def _latest_of(series: str) -> date | None:
    """The date of the last issued document of a series."""
    latest = (
        select(Invoice.issue_date)
        .where(
            Invoice.series == series,
            Invoice.status != "Draft",
            Invoice.issue_date.is_not(None),
        )
        .order_by(Invoice.issue_date.desc())
        .limit(1)
    )
    return records.connection().execute(latest).scalar_one_or_none()
