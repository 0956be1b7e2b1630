"""Operations on an invoice besides writing it: issue, void, write off."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

from app.clock import utc_now
from app.db import records
from app.errors import InvalidStateError, NotFoundError, ValidationError
from app.http.security import current_caller
from app.invoices.document import InvoiceDocument
from app.invoices.service import INVOICES
from app.models.invoice import Invoice
from app.money import ZERO
from app.permissions import require
from app.settings import hold_settings, organisation
from app.writing.operations import require_operation
from app.writing.references import is_readable
from app.writing.rules import RowRules
from app.writing.states import require_right, require_step
from app.writing.transitions import INVOICE as INVOICE_STATES
from app.writing.validation import validate

REASON = RowRules(
    model=Invoice,
    writable=("void_reason",),
    wire_names={"void_reason": "reason"},
)


class Issued(NamedTuple):
    """A document as it was issued, and its row."""

    document: InvoiceDocument
    invoice: Invoice


def issue_invoice(invoice_id: int, *, by: str = "send") -> Issued:
    """Issue a draft: it gets its number and is frozen.

    Args:
        by: ``send``, after which the document counts as sent, or ``payment``.
    Raises: NotFoundError; ForbiddenError; InvalidStateError; ValidationError, what is missing.
    """
    _allowed(invoice_id, "Sent", by)
    events = ("invoice.sent",) if by == "send" else ()
    change = INVOICES.apply(invoice_id, {"status": "Sent"}, *events, by=by)
    return Issued(change.work["document"], change.after())


def readable(invoice_id: int) -> Invoice:
    """A document that the caller may read.

    Raises: NotFoundError.
    """
    invoice = records.read(Invoice, invoice_id)
    if invoice is None or not is_readable(current_caller(), "invoices", invoice_id):
        raise NotFoundError(f"There is no invoice {invoice_id}.")
    return invoice


def sendable(invoice_id: int) -> Invoice:
    """A document that the caller may send, locked.

    Raises: NotFoundError; ForbiddenError.
    """
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    require(caller, "invoices:send", invoice)
    return invoice


def void_invoice(invoice_id: int, reason: Any) -> None:
    """Take an issued document back as if it had never been; its number stays.

    A void credit note gives back what it credited.

    Raises: NotFoundError; ForbiddenError; ValidationError; InvalidStateError, also where a
        payment or a credit note stands against the invoice, or its date lies in closed books.
    """
    invoice = _allowed(invoice_id, "Void", "void")
    checked, problems = validate(REASON, {"void_reason": reason}, partial=True)
    if problems:
        raise ValidationError(problems)
    if checked["void_reason"] is None:
        raise ValidationError([("reason", "is required")])
    require_operation("Invoice", "invoice", "void", invoice)
    hold_settings("invoicing")
    if closed := organisation().invoicing.closing_day(invoice.issue_date or date.max):
        raise InvalidStateError(
            f"The books are closed until {closed}: what is issued until then is not voided.",
            [("issueDate", f"is {invoice.issue_date}, in closed books")],
        )
    values = {**checked, "status": "Void", "voided_at": utc_now(), "amount_due": ZERO}
    INVOICES.apply(invoice_id, values, "invoice.voided", by="void")


def mark_uncollectible(invoice_id: int) -> None:
    """Write an invoice off: it leaves the receivables, and can still be paid.

    Raises: NotFoundError; ForbiddenError; InvalidStateError.
    """
    _allowed(invoice_id, "Uncollectible", "uncollectible")
    INVOICES.apply(invoice_id, {"status": "Uncollectible"}, by="uncollectible")


def _allowed(invoice_id: int, target: str, by: str) -> Invoice:
    """The invoice, when this step by this operation is there for the caller."""
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    step = next(
        known for known in INVOICE_STATES.transitions if known.target == target and by in known.by
    )
    require_right(step, caller, invoice)
    require_step(INVOICE_STATES, "invoice", invoice.status, target, by)
    return invoice
