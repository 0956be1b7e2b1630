"""Operations on an invoice besides writing it: issue, void, write off, credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.clock import utc_now
from app.crm.clients import contact_of
from app.db import records
from app.errors import Detail, NotFoundError, ValidationError, refuse_any
from app.http.security import current_caller
from app.invoices.document import InvoiceDocument
from app.invoices.lines import FROM_PRODUCT, LINE_ITEM, LINE_ITEMS, stored_lines
from app.invoices.service import INVOICES
from app.models.invoice import Invoice
from app.money import ZERO
from app.permissions import require
from app.settings import organisation
from app.writing.operations import require_operation
from app.writing.references import is_readable
from app.writing.rules import RowRules
from app.writing.states import require_right, require_step
from app.writing.transitions import INVOICE as INVOICE_STATES
from app.writing.validation import below, body_problems, read_properties, validate

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
    refuse_any(problems)
    if checked["void_reason"] is None:
        raise ValidationError([("reason", "is required")])
    require_operation("Invoice", "invoice", "void", invoice)
    values = {**checked, "status": "Void", "voided_at": utc_now(), "amount_due": ZERO}
    INVOICES.apply(invoice_id, values, "invoice.voided", by="void")


def mark_uncollectible(invoice_id: int) -> None:
    """Write an invoice off: it leaves the receivables, and can still be paid.

    Raises: NotFoundError; ForbiddenError; InvalidStateError, also where today lies in closed books.
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


# What a credit note takes over, so that both can be laid side by side.
_TAKEN_OVER = (
    "client_id", "currency", "prices_include_tax", "discount_percent",
    "purchase_order", "buyer_reference", "project_id", "opportunity_id",
)  # fmt: skip


def create_credit_note(
    invoice_id: int,
    lines: Sequence[Mapping[str, Any]] | None = None,
    *,
    notes: Any = None,
    issue: bool = True,
) -> int:
    """Credit an issued invoice; returns the key of the credit note.

    Args:
        lines: what to credit, in wire spelling; all lines of the invoice when not given.
        issue: give it its number and set it against the invoice at once; else it is a draft.
    Raises: NotFoundError; ForbiddenError; ValidationError, also for more than the invoice leaves
        to credit; InvalidStateError, the document cannot be credited.
    """
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    require(caller, "invoices:credit", invoice)
    require_operation("Invoice", "invoice", "credit", invoice)
    values = {name: getattr(invoice, name) for name in _TAKEN_OVER}
    values = {name: value for name, value in values.items() if value is not None} | {
        "type": "CreditNote",
        "contact_id": contact_of(invoice),
        "series": organisation().invoicing.credit_note_series or invoice.series,
        "credited_invoice_id": invoice_id,
        "notes": notes,
        LINE_ITEMS: _copied(invoice_id) if lines is None else _line_values(lines),
    }
    credit_note_id = INVOICES.create(values)
    if issue:
        issue_invoice(credit_note_id)
    return credit_note_id


def _copied(invoice_id: int) -> list[dict[str, Any]]:
    # The invoice goes on billing its tasks; the credit note only names the same work.
    return [{**line, "task_id": None} for line in stored_lines(invoice_id)]


def _line_values(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    read = []
    for index, line in enumerate(lines):
        with below(f"lineItems[{index}]"):
            read.append(read_properties(LINE_ITEM, line))
    return read


def check_credit(body: Mapping[str, Any]) -> None:
    """Look at what is given of a credit note: its ``notes`` and ``lines``.

    Raises: ValidationError.
    """
    problems = INVOICES.problems({"notes": body.get("notes")}, partial=True)
    for index, line in enumerate(body.get("lines") or ()):
        problems += [
            detail._replace(field=f"lineItems[{index}].{detail.field}")
            for detail in [*body_problems(LINE_ITEM, line, partial=False), *_lacking(line)]
        ]
    refuse_any(problems)


def _lacking(line: Mapping[str, Any]) -> list[Detail]:
    """What a line without a product leaves out, and has to have."""
    if line.get(LINE_ITEM.wire("product_id")) is not None:
        return []
    names = map(LINE_ITEM.wire, FROM_PRODUCT)
    return [Detail(name, "is required") for name in names if name not in line]
