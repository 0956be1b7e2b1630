"""Amounts of imported invoices: computed by the rules of invoicing, never taken on trust."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from app.clock import utc_now
from app.importing.problems import Problems
from app.importing.reading import Entry
from app.invoices.lines import LINE_ITEM, check_lines, complete, totals_of
from app.invoices.settlement import RECEIVABLE, WITHOUT_EFFECT, balances, settle
from app.invoices.snapshots import buyer_snapshot, seller_snapshot
from app.invoices.totals import Totals
from app.money import ZERO, rounded
from app.security import current_caller
from app.settings import Organisation
from app.settings.days import day_of
from app.writing.change import Change

SETTLED = (*RECEIVABLE, "Paid")


def derive_invoice(entry: Entry, organisation: Organisation, problems: Problems) -> None:
    """Lines completed and checked; totals of the lines and of the document."""
    row = entry.row
    items = entry.children["line_items"]
    change = Change(
        rules=entry.place.rules, caller=current_caller(), now=utc_now(), values=dict(row)
    )
    lines = complete([_given(item) for item in items], organisation)
    check_lines(change, lines, any_unit=True)  # the pre-flight of an e-invoice names them
    for problem in change.problems:
        problems.add(entry.place.name, entry.index, problem.field, problem.message)
    totals = totals_of(lines, change)
    for item, line, amounts in zip(items, lines, totals.lines, strict=True):
        item.row.update(line, **vars(amounts))
    row.update(
        subtotal=totals.subtotal,
        discount_total=totals.discount_total,
        tax_total=totals.tax_total,
        total=totals.total,
        tax_breakdown=_breakdown(totals),
        base_total=rounded(totals.total * row["exchange_rate"], organisation.defaults.currency),
    )


def _given(item: Entry) -> dict[str, Any]:
    """What the file says of a line, of that which a line may say."""
    return {name: item.row[name] for name in LINE_ITEM.writable if name in item.row}


def _breakdown(totals: Totals) -> list[dict[str, Any]]:
    return [
        {
            "taxCategory": group.tax_category, "taxRate": group.tax_rate,
            "taxable": group.taxable, "tax": group.tax,
        }
        for group in totals.groups
    ]  # fmt: skip


def derive_settlements(invoices: Sequence[Entry], problems: Problems) -> None:
    """What was paid, credited and is left; payments take client and currency of their invoice."""
    credited: dict[int | None, Decimal] = {}
    for entry in invoices:
        row = entry.row
        if row.get("type") == "CreditNote" and row.get("status", "Draft") not in WITHOUT_EFFECT:
            target = row.get("credited_invoice_id")
            credited[target] = credited.get(target, ZERO) + row["total"]
    for entry in invoices:
        _settle(entry, credited.get(entry.id, ZERO), problems)


def _settle(entry: Entry, credited: Decimal, problems: Problems) -> None:
    row = entry.row
    paid = ZERO
    for payment in entry.children["payments"]:
        payment.row["client_id"] = row["client_id"]
        payment.row["currency"] = row["currency"]
        if payment.row.get("status", "Completed") == "Completed":
            paid += payment.row["amount"]
    status = row.get("status", "Draft")
    standing = settle(row["total"], paid, credited)
    is_owed = status != "Void" and row.get("type", "Invoice") == "Invoice"
    row.update(
        amount_paid=paid, amount_credited=credited, amount_due=standing.due if is_owed else ZERO
    )
    if is_owed and status in SETTLED and status != standing.status:
        message = (
            f"is {status}, but with payments of {paid} and credits of {credited}"
            f" {standing.due} of {row['total']} are left to pay: that is {standing.status}"
        )
        problems.add(entry.place.name, entry.index, "status", message)
    if status == "Paid":
        row["paid_at"] = row.get("paid_at") or row["updated_at"]


def freeze(
    invoices: Sequence[Entry],
    clients: Sequence[Entry],
    contacts: Sequence[Entry],
    organisation: Organisation,
) -> None:
    """Give issued documents the parties that the file does not give: as they are now."""
    seller = seller_snapshot(organisation)
    by_client = {entry.id: defaultdict(lambda: None, entry.row) for entry in clients}
    by_contact = {entry.id: defaultdict(lambda: None, entry.row) for entry in contacts}
    for entry in invoices:
        row = entry.row
        client = by_client.get(row["client_id"])
        if client is None or row.get("status", "Draft") == "Draft":
            continue
        contact = by_contact.get(row.get("contact_id") or 0)
        row["seller"] = row.get("seller") or seller
        row["buyer"] = row.get("buyer") or buyer_snapshot(client, contact)
        row["issue_date"] = row.get("issue_date") or day_of(row["created_at"])


def derive_balances(clients: Sequence[Entry], invoices: Sequence[Entry]) -> None:
    """What every client was billed and still owes; surplus payments are credit of theirs."""
    by_id = {entry.id: entry.row for entry in clients}
    silent = {key for key, row in by_id.items() if row.get("credit_balance") is None}
    for key, row in by_id.items():
        row.update(invoiced_total=ZERO, outstanding_balance=ZERO)
        if key in silent:
            row["credit_balance"] = ZERO
    for entry in invoices:
        client = by_id.get(entry.row["client_id"])
        if client is None:
            continue
        defaults = {"type": "Invoice", "status": "Draft"}
        factor = _factor(entry.row, client)
        part = balances({**defaults, **entry.row}, factor, client["currency"])
        client["invoiced_total"] += part.invoiced_total
        client["outstanding_balance"] += part.outstanding_balance
        if entry.row["client_id"] in silent:
            client["credit_balance"] += part.credit_balance


def _factor(invoice: dict[str, Any], client: dict[str, Any]) -> Decimal:
    """Units of the client's currency for one of the invoice's."""
    return Decimal(1) if invoice["currency"] == client["currency"] else invoice["exchange_rate"]
