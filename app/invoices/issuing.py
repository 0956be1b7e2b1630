"""Issue: a draft gets its dates and the copies of its parties; its content is frozen then.

What else belongs to a document at issue (its PDF, its electronic form, the pre-flight of EN 16931)
joins ``check_issuable`` and ``frozen_values``: both run once, inside the issuing transaction. The
number comes after them, so that nothing can fail between the number and the row. Dates follow the
order of their series (docs/adr/0030); history that is moved in keeps those that it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any

from sqlalchemy import select
from stdnum.eu import vat

from app import audit
from app.clock import day_after
from app.db import records
from app.errors import InvalidStateError, ValidationError
from app.invoices.reading import (
    breakdown_of,
    buyer_snapshot,
    kept_breakdowns,
    seller_snapshot,
)
from app.invoices.settlement import WITHOUT_EFFECT, client_rate_of, exchange_factor, rate_of
from app.models.client import Client, Contact
from app.models.invoice import Invoice
from app.money import ZERO, rounded, written
from app.permissions import require
from app.settings import Organisation, organisation
from app.settings.days import today
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
    if closed := settings.closing_day(first):  # except in closed books
        first, reason = day_after(closed), f"the books are closed until {closed}"
    return IssueDates(first, last, reason, latest)


def require_issue_date(change: Change[Invoice]) -> date | None:
    """Look again, with the series locked, whether the date is allowed; tell of an earlier one.

    Returns: the date of the last document of the series, where that is after this one's.
    Raises: ValidationError, a later document of the series was issued meanwhile.
    """
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


DUE_TOO_LATE = "would be after the year 9999: see issueDate and the paymentTermsDays of the client"


def check_issuable(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """What a draft needs to be issued; problems are noted in ``change``.

    Raises: InvalidStateError, the client is blocked, the credited invoice takes no credit, or no
        exchange rate joins the currencies of invoice and client; ForbiddenError, a credit note
        needs a right of its own.
    """
    client = records.get(Client, change.get("client_id"))
    if client.status == "Blocked":
        raise InvalidStateError(
            "The client is blocked: nothing can be issued to it.",
            [("clientId", "is a client in status Blocked")],
        )
    if not lines:
        change.refuse("line_items", "must have at least one line before the invoice is issued")
    issue_date, due_date = change.get("issue_date") or today(), change.get("due_date")
    if problem := issue_dates(change).problem(issue_date):
        change.refuse("issue_date", problem)
    if due_date is not None and due_date < issue_date:
        change.refuse("due_date", "must not be before the day of issue")
    settings = organisation()
    credited_id = change.get("credited_invoice_id")
    rate = rate_of(change.get("currency"), credited_id)
    client_rate = client_rate_of(client.currency, credited_id)
    exchange_factor(client.currency, change.get("currency"), rate, client_rate)
    if change.get("tax_total") and not rate and _owes_tax_in_own_currency(settings):
        own = settings.defaults.currency
        change.refuse(
            "currency",
            f"has no exchange rate in the settings: VAT must be stated in {own} besides"
            " (Article 230 of Directive 2006/112/EC)",
        )
    if change.get("type") == "CreditNote":
        _check_credit(change)


def _owes_tax_in_own_currency(settings: Organisation) -> bool:
    """Whether the law of the seller's country is known to ask for the VAT in its currency."""
    return (settings.seller.country or "").lower() in vat.MEMBER_STATES


def _check_credit(change: Change[Invoice]) -> None:
    require(change.caller, "invoices:credit", change.before)
    credited = records.read(Invoice, change.get("credited_invoice_id"), lock=True)
    if credited is None or credited.status in ("Draft", "Void"):
        state = credited.status if credited else "gone"
        raise InvalidStateError(
            "Only an issued invoice can be credited.", [("creditedInvoiceId", f"is {state}")]
        )
    left = credited.total - credited.amount_credited
    currency = change.get("currency")
    if change.get("total") > left:
        most = written(left, currency)
        if not left:
            raise InvalidStateError(
                "Nothing of the invoice is left to credit.", [("creditedInvoiceId", "is credited")]
            )
        change.refuse("line_items", f"must not credit more than {most}, what the invoice leaves")
        return
    left_by_group = _left_by_group(credited.id)
    for group in breakdown_of(change):
        most = max(left_by_group[group.tax_category, group.tax_rate], ZERO)
        if group.taxable + group.tax > most:
            change.refuse(
                "line_items",
                f"must not credit more than {written(most, currency)} in tax category"
                f" {group.tax_category} at {group.tax_rate.normalize():f} %: no more is left there",
            )


def _left_by_group(invoice_id: int) -> Mapping[tuple[str, Decimal], Decimal]:
    """What an invoice leaves to credit, with tax, by category and rate.

    What is billed at one rate is not given back at another: the VAT of that was never owed.
    """
    is_billed = Invoice.id == invoice_id
    is_credit = Invoice.credited_invoice_id == invoice_id
    left: dict[tuple[str, Decimal], Decimal] = defaultdict(lambda: ZERO)
    for sign, where in ((1, is_billed), (-1, is_credit & Invoice.status.not_in(WITHOUT_EFFECT))):
        for group in chain.from_iterable(kept_breakdowns(where)):
            left[group.tax_category, group.tax_rate] += sign * (group.taxable + group.tax)
    return left


def frozen_values(change: Change[Invoice]) -> dict[str, Any]:
    """The values that issue gives to a document, but for its number."""
    client = records.get(Client, change.get("client_id"))
    contact = records.read(Contact, change.get("contact_id"))
    settings = organisation()
    change.work["client_currency"] = client.currency
    issue_date = change.get("issue_date") or today()
    rate = rate_of(change.get("currency"), change.get("credited_invoice_id"))
    total: Decimal = change.get("total")
    return {
        "issue_date": issue_date,
        "due_date": change.get("due_date") or due_after(issue_date, client.payment_terms_days),
        # A credit note is not paid: it lowers what its invoice leaves to pay.
        "amount_due": total if change.get("type") == "Invoice" else Decimal("0.00"),
        "exchange_rate": rate,
        "client_rate": client_rate_of(client.currency, change.get("credited_invoice_id")),
        "base_total": rounded(total * rate, settings.defaults.currency),
        "sent_at": change.now,
        "seller": seller_snapshot(settings),
        "buyer": buyer_snapshot(client, contact),
        "buyer_reference": change.get("buyer_reference") or client.buyer_reference,
    }


def due_after(issue_date: date, payment_terms_days: int) -> date:
    """The day on which an invoice of a day is due.

    Raises: ValidationError, that day is beyond the last of the calendar.
    """
    if payment_terms_days > (date.max - issue_date).days:
        raise ValidationError([("dueDate", DUE_TOO_LATE)])
    return issue_date + timedelta(days=payment_terms_days)


def due_of_draft(issue_date: date | None, client_id: int) -> date:
    """The day on which a draft without a due date would be due, issued on its day or today.

    Raises: ValidationError, that day is beyond the last of the calendar.
    """
    client = records.get(Client, client_id)
    return due_after(issue_date or today(), client.payment_terms_days)
