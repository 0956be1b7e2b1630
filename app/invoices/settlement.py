"""How an invoice stands against what was paid and credited, and what its client owes by it.

The balances of clients are kept right in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.clock import utc_now
from app.crm.clients import BALANCES, CLIENTS
from app.db import records
from app.errors import InvalidStateError, ValidationError
from app.models.client import Client
from app.models.invoice import Invoice
from app.money import ZERO, rounded, written
from app.settings import organisation

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


def rate_of(currency: str, credited_invoice_id: int | None) -> Decimal:
    """Units of the organisation's currency for one of a document's that is issued now.

    The rate of the settings; a credit note has the one of its invoice, so that it gives back what
    that billed (docs/adr/0029). 0 where none is known.
    """
    credited = records.read(Invoice, credited_invoice_id)
    if credited is not None and credited.exchange_rate:
        return credited.exchange_rate
    return organisation().exchange_rate(currency)


def client_rate_of(client_currency: str, credited_invoice_id: int | None) -> Decimal:
    """Units of the organisation's currency for one of the client's, of a document issued now.

    As ``rate_of``; both are kept: a document takes from the balances what it has added to them.
    """
    credited = records.read(Invoice, credited_invoice_id)
    rate = credited and credited.client_rate
    return rate or organisation().exchange_rate(client_currency)


def exchange_factor(
    client_currency: str, currency: str, rate: Decimal, client_rate: Decimal
) -> Decimal:
    """Units of the client's currency for one of a document's.

    Args:
        rate: of the document's currency into the organisation's, frozen at its issue.
        client_rate: of the client's, frozen too.
    Raises: InvalidStateError, no rate is known.
    """
    if client_currency == currency:
        return Decimal(1)
    if not rate or not client_rate:
        raise InvalidStateError(
            f"There is no exchange rate from {currency} to {client_currency} in the settings.",
            [("currency", f"has no exchange rate to {client_currency}")],
        )
    return rate / client_rate


def factor_of(invoice: Invoice, client_currency: str) -> Decimal:
    """Units of the client's currency for one of an issued document's, at the rates that it keeps.

    Raises: InvalidStateError, no rate is known.
    """
    client_rate = invoice.client_rate or organisation().exchange_rate(client_currency)
    return exchange_factor(client_currency, invoice.currency, invoice.exchange_rate, client_rate)


def post(before: Invoice | None, after: Invoice, *, issued_in: str | None = None) -> None:
    """Bring the balances of the client to what the invoice now adds to them.

    Args:
        issued_in: the currency that the client had when the rates of the document were frozen.
    Raises: InvalidStateError, credit that it gave is spent, or the client has another currency.
    """
    client = records.get(Client, after.client_id, lock=True)
    if issued_in not in (None, client.currency):
        raise InvalidStateError("The currency of the client was changed meanwhile: try again.")
    factor = factor_of(after, client.currency)
    old, new = (balances(each, factor, client.currency) for each in (before, after))
    moved = {
        name: getattr(client, name) + getattr(new, name) - getattr(old, name) for name in BALANCES
    }
    lacking = -moved["credit_balance"]
    if lacking > 0 and new.credit_balance < old.credit_balance:
        amount = f"{written(lacking, client.currency)} {client.currency}"
        raise InvalidStateError(
            f"Credit that this gave is spent: reverse payments by credit of {amount} first.",
            [("creditBalance", f"has {amount} too little")],
        )
    CLIENTS.roll_up(client, moved | {"last_activity_at": utc_now()})


def use_credit(invoice: Invoice, amount: Decimal) -> None:
    """Take ``amount`` (of the invoice's currency) from the client's credit; negative returns it.

    Raises: ValidationError, the client has less.
    """
    client = records.get(Client, invoice.client_id, lock=True)
    factor = factor_of(invoice, client.currency)
    left = client.credit_balance - rounded(amount * factor, client.currency)
    if amount > 0 and left < 0:
        most = f"{written(client.credit_balance, client.currency)} {client.currency}"
        raise ValidationError(
            [("amount", f"must be at most {most}, the credit that the client has")]
        )
    CLIENTS.roll_up(client, {"credit_balance": left})
