"""How an invoice stands against what was paid and credited, and what its client owes by it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.models.invoice import Invoice
from app.money import ZERO, rounded

# Issued, and not written off: the client is expected to pay.
RECEIVABLE = ("Sent", "PartiallyPaid")
# Counts for nothing: not issued, or taken back.
WITHOUT_EFFECT = ("Draft", "Void")


@dataclass(frozen=True)
class Settlement:
    """What is left to pay, what was paid too much, and the status that follows."""

    due: Decimal
    surplus: Decimal
    status: str


def settle(total: Decimal, paid: Decimal, credited: Decimal) -> Settlement:
    """The state of an issued invoice (EN 16931 BR-CO-16; contract section 10)."""
    open_amount = total - paid - credited
    due = max(open_amount, ZERO)
    begun = "PartiallyPaid" if paid + credited else "Sent"
    status = begun if due else "Paid"
    return Settlement(due, max(-open_amount, ZERO), status)


def settled_values(
    invoice: Invoice, *, paid: Decimal, credited: Decimal, now: datetime
) -> dict[str, Any]:
    """The values of ``invoice`` that follow from payments and credits.

    An invoice that was written off stays so unless money comes in.
    """
    standing = settle(invoice.total, paid, credited)
    status = standing.status
    more_came_in = paid + credited > invoice.amount_paid + invoice.amount_credited
    if invoice.status == "Uncollectible" and not more_came_in:
        status = "Uncollectible"
    return {
        "amount_paid": paid,
        "amount_credited": credited,
        "amount_due": standing.due,
        "status": status,
        "paid_at": (invoice.paid_at or now) if status == "Paid" else None,
    }


@dataclass(frozen=True)
class Balances:
    """What one invoice adds to the balances of its client."""

    invoiced_total: Decimal = ZERO
    outstanding_balance: Decimal = ZERO
    credit_balance: Decimal = ZERO


def balances(invoice: Invoice | None, factor: Decimal, currency: str) -> Balances:
    """The part of an invoice in its client's balances.

    A credit note takes from the invoiced total; what it pays shows on the invoice it credits.

    Args:
        factor: units of the client's currency for one of the invoice's. Parts are rounded, not
            their differences: what an invoice added it takes away again to the cent.
        currency: the client's.
    """
    if invoice is None or invoice.status in WITHOUT_EFFECT:
        return Balances()
    if invoice.type == "CreditNote":
        return Balances(invoiced_total=-rounded(invoice.total * factor, currency))
    due = invoice.amount_due if invoice.status in RECEIVABLE else ZERO
    standing = settle(invoice.total, invoice.amount_paid, invoice.amount_credited)
    return Balances(
        invoiced_total=rounded(invoice.total * factor, currency),
        outstanding_balance=rounded(due * factor, currency),
        credit_balance=rounded(standing.surplus * factor, currency),
    )
