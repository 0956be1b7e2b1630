"""Invoices of a history: what was paid and credited is computed, never taken on trust."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from app.invoices.lines import LINE_ITEMS
from app.invoices.reading import buyer_snapshot, seller_snapshot
from app.invoices.settlement import RECEIVABLE, WITHOUT_EFFECT, balances, factor_of, settle
from app.models.client import Client, Contact
from app.models.invoice import Invoice
from app.money import ZERO
from app.settings.days import day_of
from app.writing.change import Change, History
from app.writing.numbering import number_all, raise_counter

_SETTLED = (*RECEIVABLE, "Paid")
_PAYMENTS = "payments"


def settle_history(history: History) -> None:
    """Settle the invoices by their payments and credit notes; count what their clients owe."""
    invoices = history.of(Invoice).values()
    credited: dict[int, Decimal] = defaultdict(lambda: ZERO)
    for invoice in invoices:
        if invoice.get("type") == "CreditNote" and invoice.get("status") not in WITHOUT_EFFECT:
            credited[invoice.values["credited_invoice_id"]] += invoice.values["total"]
    seller = seller_snapshot(history.settings)
    for invoice in invoices:
        for line, amounts in zip(
            invoice.values[LINE_ITEMS], invoice.work["totals"].lines, strict=True
        ):
            line.update(vars(amounts))
        _settle(invoice, credited[invoice.key])
        _freeze(invoice, seller)
    _balance(history.of(Client), invoices)


def _settle(invoice: Change[Invoice], credited: Decimal) -> None:
    values, status = invoice.values, invoice.get("status")
    for payment in values[_PAYMENTS]:
        payment.update(client_id=values["client_id"], currency=values["currency"])
    paid = sum(
        (
            payment["amount"]
            for payment in values[_PAYMENTS]
            if payment.get("status", "Completed") == "Completed"
        ),
        ZERO,
    )
    standing = settle(values["total"], paid, credited)
    is_owed = status != "Void" and invoice.get("type") == "Invoice"
    values.update(
        amount_paid=paid, amount_credited=credited, amount_due=standing.due if is_owed else ZERO
    )
    if is_owed and status in _SETTLED and status != standing.status:
        invoice.refuse(
            "status",
            f"is {status}, but with payments of {paid} and credits of {credited}"
            f" {standing.due} of {values['total']} are left to pay: that is {standing.status}",
        )
    if status == "Paid":
        invoice.stamp(paid_at=invoice.now)


def _freeze(invoice: Change[Invoice], seller: Mapping[str, Any]) -> None:
    """Give an issued document the parties that it does not have: as they are now."""
    client = invoice.related(Client, invoice.values["client_id"])
    if client is None or invoice.get("status") == "Draft":
        return
    if invoice.values.get("buyer") is None:
        contact = invoice.related(Contact, invoice.get("contact_id"))
        invoice.stamp(buyer=buyer_snapshot(client, contact))
    invoice.stamp(
        seller=seller,
        client_rate=invoice.settings.exchange_rate(client.currency),
    )
    if invoice.values.get("issue_date") is None:
        invoice.stamp(issue_date=day_of(invoice.values["created_at"]))


def _balance(clients: Mapping[int, Change[Client]], invoices: Collection[Change[Invoice]]) -> None:
    """What every client was billed and still owes; surplus payments are credit of theirs."""
    silent = {key for key, each in clients.items() if each.values.get("credit_balance") is None}
    for client in clients.values():
        client.values.update(invoiced_total=ZERO, outstanding_balance=ZERO)
        client.stamp(credit_balance=ZERO)
    for invoice in invoices:
        standing = invoice.after()
        if standing.status in WITHOUT_EFFECT:
            continue
        key = standing.client_id
        owed = clients[key].values
        currency = owed["currency"]
        part = balances(standing, factor_of(standing, currency), currency)
        owed["invoiced_total"] += part.invoiced_total
        owed["outstanding_balance"] += part.outstanding_balance
        if key in silent:
            owed["credit_balance"] += part.credit_balance


def continue_series(invoices: Sequence[Change[Invoice]]) -> None:
    """Let every series go on after the highest number of the invoices; number their payments."""
    highest: dict[str, int] = {}
    for invoice in invoices:
        series = re.escape(invoice.values["series"])
        number = invoice.values.get("number") or ""
        if match := re.fullmatch(rf"({series})-(\d{{4}})-(\d+)", number):
            counter = f"invoice:{match[1]}:{match[2]}"
            highest[counter] = max(highest.get(counter, 0), int(match[3]))
    for counter, value in highest.items():
        raise_counter(counter, value)
    payments = [payment for invoice in invoices for payment in invoice.values[_PAYMENTS]]
    if payments:
        number_all(payments, "number", "PAY")
