"""Payments: money that comes in for an invoice, and money that goes back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from app import audit
from app.clock import utc_now
from app.db import records
from app.errors import (
    Detail,
    InvalidStateError,
    NotFoundError,
    OverpaymentError,
    refuse_any,
)
from app.events import emit
from app.http.security import current_caller
from app.invoices.files import start_drawing
from app.invoices.service import INVOICES
from app.invoices.settlement import use_credit
from app.invoices.steps import issue_invoice
from app.models.invoice import Invoice, Payment
from app.money import is_whole, too_fine, written
from app.permissions import require
from app.settings import hold_settings, organisation
from app.settings.days import today
from app.writing.added_only import AddedOnly
from app.writing.numbering import running_number
from app.writing.operations import require_operation
from app.writing.rules import RowRules
from app.writing.validation import Problems, validate

PAYMENT = RowRules(
    model=Payment,
    writable=("amount", "paid_on", "method", "reference", "notes"),
    wire_names={"paid_on": "date"},
)
REASON = RowRules(
    model=Payment,
    writable=("reversal_reason",),
    wire_names={"reversal_reason": "reason"},
)
# Paid from what the client has paid too much before.
CREDIT = "credit"


def register_payment(invoice_id: int, *, allow_overpayment: bool = False, **payment: Any) -> int:
    """Record a payment of an invoice; a draft is issued first. Returns the payment's key.

    The invoice becomes ``Paid`` when nothing is left to pay. What is paid too much is refused,
    or becomes credit of the client.

    Args:
        payment: ``amount`` (more than 0, in the invoice's currency), ``paid_on`` (at most
            tomorrow, for banks that are ahead), ``method`` (any case), ``reference``, ``notes``.
    Raises: NotFoundError; ForbiddenError; ValidationError; OverpaymentError; InvalidStateError,
        the document cannot be paid.
    Source: API specification 2.3, 4.3; contract section 2, decision 8.
    """
    caller = current_caller()
    invoice = INVOICES.locked(invoice_id, caller)
    require(caller, "payments:create", invoice)
    hold_settings("invoicing")
    payment = _validated(payment, invoice)
    require_operation("Invoice", "invoice", "payment", invoice)
    is_draft = invoice.status == "Draft"
    if is_draft:
        start_drawing()
    # Before what issue waits for: counters first, then the client, in one order for everybody.
    number = running_number("PAY")
    if is_draft:
        issue_invoice(invoice_id, by="payment")
        invoice = INVOICES.stored(invoice_id)
    amount: Decimal = payment["amount"]
    if amount > invoice.amount_due and (not allow_overpayment or payment["method"] == CREDIT):
        left = written(invoice.amount_due, invoice.currency)
        raise OverpaymentError(
            f"Only {left} {invoice.currency} are left to pay.",
            [("amount", f"must be at most {left}")],
        )
    payment |= {
        "number": number,
        "invoice_id": invoice_id,
        "client_id": invoice.client_id,
        "currency": invoice.currency,
        "created_at": utc_now(),
        "created_by_id": caller.user_id or None,
    }
    if payment["method"] == CREDIT:
        use_credit(invoice, amount)
    payment_id = records.insert(Payment, payment)
    paid = invoice.amount_paid + amount
    INVOICES.settle(invoice, paid, invoice.amount_credited, by="payment")
    audit.record("payment.created", "Payment", payment_id, after=PAYMENT.reported(payment))
    emit("payment.created", "Payment", payment_id, sequence=1)
    return payment_id


def reverse_payment(payment_id: int, reason: Any = None) -> None:
    """Take a payment back, because it bounced or was entered by mistake; the invoice is open again.

    Raises: NotFoundError; ForbiddenError; ValidationError; InvalidStateError, it was reversed
        before, or credit that it gave is spent.
    """
    caller = current_caller()
    require(caller, "invoices:read")
    missing = f"There is no payment {payment_id}."
    payment_before = records.get(Payment, payment_id, missing)
    try:
        invoice = INVOICES.locked(payment_before.invoice_id, caller)
    except NotFoundError as error:  # whose invoice the caller may not read
        raise NotFoundError(missing) from error
    require(caller, "payments:reverse", invoice)
    checked, problems = validate(REASON, {"reversal_reason": reason}, partial=True)
    refuse_any(problems)
    payment = records.get(Payment, payment_id, lock=True)
    require_operation("Payment", "payment", "reverse", payment)
    changes = {
        **checked,
        "status": "Reversed",
        "reversed_at": utc_now(),
        "version": payment.version + 1,
    }
    records.update(Payment, payment_id, changes)
    if payment.method == CREDIT:  # first: what the invoice gave may be a part of it
        use_credit(invoice, -payment.amount)
    paid = invoice.amount_paid - payment.amount
    INVOICES.settle(invoice, paid, invoice.amount_credited, by="reversal")
    previous = {"status": "Completed"}
    audit.record(
        "payment.reversed", "Payment", payment_id,
        before=previous, after=PAYMENT.reported(changes),
    )  # fmt: skip
    emit(
        "payment.reversed", "Payment", payment_id,
        sequence=changes["version"], previous=previous,
    )  # fmt: skip


def _validated(values: Mapping[str, Any], invoice: Invoice) -> dict[str, Any]:
    payment, problems = PAYMENTS.checked(values, partial=False)
    amount, currency = payment.get("amount"), invoice.currency
    if amount is not None and not is_whole(amount, currency):
        problems.append(Detail("amount", too_fine(currency)))
    refuse_any(problems)
    return payment


def _check(payment: Mapping[str, Any], problems: Problems) -> None:
    amount, paid_on = payment.get("amount"), payment.get("paid_on")
    if amount is not None and amount <= 0:
        problems.append(Detail("amount", "must be more than 0"))
    if paid_on is not None and paid_on > today() + timedelta(days=1):
        problems.append(Detail("date", "must not be later than tomorrow"))
    if paid_on is not None and (closed := organisation().invoicing.closing_day(paid_on)):
        problems.append(Detail("date", f"must be after {closed}: the books are closed until then"))


PAYMENTS = AddedOnly(
    rules=PAYMENT,
    parent="invoice_id",
    right="payments:create",
    add=register_payment,
    no_change=lambda: InvalidStateError(
        "A payment cannot be changed: reverse it and enter another."
    ),
    no_deletion=lambda: InvalidStateError("A payment cannot be deleted: reverse it."),
    check=_check,
)
