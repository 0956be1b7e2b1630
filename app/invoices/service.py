"""Invoices and credit notes: drafts are written freely, issued ones are frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from app.clock import utc_now
from app.errors import InvalidStateError
from app.invoices.chain import add_link, lock_chain
from app.invoices.document import TaxSubtotal
from app.invoices.einvoice.preflight import refuse_incomplete
from app.invoices.files import DEMANDED, freeze, start_drawing
from app.invoices.history import continue_series, settle_history
from app.invoices.issuing import check_issuable, frozen_values, require_issue_date
from app.invoices.lines import (
    LINE_ITEM,
    LINE_ITEMS,
    bill_tasks,
    check_lines,
    check_tasks,
    complete,
    stored_lines,
    totals_of,
    write_lines,
)
from app.invoices.products import take_over
from app.invoices.reading import issued_document
from app.invoices.settlement import post, rate_of, settled_values
from app.invoices.totals import Totals
from app.models.client import Client
from app.models.invoice import Invoice
from app.money import rounded
from app.odata.names import camel
from app.permissions import require
from app.settings import Organisation, hold_settings, organisation
from app.settings.days import today
from app.writing.change import Change, History
from app.writing.fields import MONEY_LIMIT
from app.writing.numbering import document_number
from app.writing.operations import DELETE, require_operation
from app.writing.pipeline import EntityService
from app.writing.rules import COMMON_WRITABLE, EntityRules
from app.writing.transitions import INVOICE as INVOICE_STATES

INVOICE = EntityRules(
    model=Invoice,
    filled=frozenset(("currency",)),
    derived=frozenset(("tax_breakdown", "seller", "buyer")),
    children={LINE_ITEMS: LINE_ITEM},
)

# What may still be said of an issued document: nothing that is printed on it.
AFTER_ISSUE = frozenset(
    ("status", "internal_notes", "opportunity_id", "project_id", *COMMON_WRITABLE)
)
# Whatever the amounts follow from.
_PRICED_BY = (LINE_ITEMS, "discount_percent", "prices_include_tax", "currency")


class InvoiceService(EntityService[Invoice]):
    """Writes of invoices; payments are in app/invoices/payments.py."""

    rules = INVOICE
    machine = INVOICE_STATES

    def needed_rights(
        self, action: str, values: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """As of every entity; a credit note needs the right to credit besides."""
        needed = super().needed_rights(action, values)
        is_credit = "credited_invoice_id" in (values or {})
        return (*needed, "invoices:credit") if is_credit else needed

    def defaults(self, change: Change[Invoice]) -> None:
        """In the currency of the credited invoice or of the client; lines are completed."""
        values = change.values
        settings = change.settings
        if "currency" not in values:
            values["currency"] = _currency(change) or settings.defaults.currency
        lines = take_over(change, values.get(LINE_ITEMS) or ())
        values[LINE_ITEMS] = complete(lines, settings)
        change.default("series", _series(change.get("type"), settings))

    def compare_children(self, change: Change[Invoice]) -> None:
        """Lines that are as they were are no change."""
        if LINE_ITEMS not in change.values or change.before is None:
            return
        lines = complete(take_over(change, change.values[LINE_ITEMS]), organisation())
        stored = stored_lines(change.key)
        change.lists_before[LINE_ITEMS] = stored
        if sorted(lines, key=lambda line: line["position"]) == stored:
            del change.values[LINE_ITEMS]
        else:
            change.values[LINE_ITEMS] = lines

    def check(self, change: Change[Invoice]) -> None:
        """Rules of drafts, and the freeze of what was issued."""
        if change.was("status") not in (None, "Draft"):
            _refuse_frozen(change)
        lines = change.values.get(LINE_ITEMS) or ()
        # Units of documents that were issued elsewhere are named by the check of an e-invoice.
        check_lines(change, lines, any_unit=change.history is not None)
        if change.history is None:
            check_tasks(change, lines)
        issue_date, due_date = change.get("issue_date"), change.get("due_date")
        is_reversed = issue_date and due_date and due_date < issue_date
        if is_reversed and change.concerns("issue_date", "due_date"):
            change.refuse("due_date", "must not be before issueDate")
        series = change.values.get("series")
        if series is not None and not (series.isascii() and series.replace("-", "").isalnum()):
            change.refuse("series", "must have letters, digits and hyphens only")
        if change.concerns("type", "credited_invoice_id", "client_id", "currency"):
            _check_credited(change)
        if change.was("status") == "Draft" and change.values.get("status") == "Sent":
            change.events.append("invoice.sent")

    def prepare(self, change: Change[Invoice]) -> None:
        """Compute the amounts of a draft where something changed that they follow from."""
        is_draft = change.was("status") in (None, "Draft")
        if not is_draft or "totals" in change.work or not change.changes(*_PRICED_BY):
            return
        new_lines = change.values.get(LINE_ITEMS)
        lines = stored_lines(change.key) if new_lines is None else new_lines
        totals = totals_of(lines, change)
        change.work.update(lines=lines, totals=totals)
        settings = change.settings
        currency, credited_id = change.get("currency"), change.get("credited_invoice_id")
        rate = rate_of(currency, credited_id) if change.history is None else _past_rate(change)
        base_total = rounded(totals.total * rate, settings.defaults.currency)
        amounts = (totals.total, totals.subtotal, base_total)
        if max(*amounts, *(line.line_total for line in totals.lines)) >= MONEY_LIMIT:
            change.refuse(LINE_ITEMS, "make the total too large")
        change.values.update(
            subtotal=totals.subtotal,
            discount_total=totals.discount_total,
            tax_total=totals.tax_total,
            total=totals.total,
            amount_due=totals.total,
            exchange_rate=rate,
            base_total=base_total,
            tax_breakdown=_breakdown(totals),
        )

    def reconcile(self, history: History) -> None:
        """What was paid and credited, the parties of then, and the balances of the clients."""
        settle_history(history)

    def enter(self, change: Change[Invoice], source: str | None, target: str) -> None:
        """Issue a draft, void or write off; payments and credits do the rest."""
        if change.history is None:
            _require_open_books(change, target)
        if target == "Uncollectible":
            if change.get("type") != "Invoice":
                raise InvalidStateError(
                    "A credit note is not written off: nobody pays it.", [("type", "is CreditNote")]
                )
            change.events.append("invoice.uncollectible")
        if source != "Draft":
            return
        hold_settings("defaults", "invoicing")
        self.prepare(change)
        lines = change.work.get("lines")
        check_issuable(change, stored_lines(change.key) if lines is None else lines)
        if change.problems:
            return
        change.values.update(frozen_values(change))
        change.events.insert(0, "invoice.issued")
        if change.get("type") == "Invoice" and not change.get("total"):
            change.values.update(status="Paid", paid_at=change.now)
            change.events.append("invoice.paid")

    def number(self, change: Change[Invoice]) -> None:
        """``INV-2026-00007``, of the year of issue, and the file that bears it; a draft has none.

        Others wait from here on until the transaction ends.

        Raises: ValidationError, the document breaks rules of the e-invoice that it demands.
        """
        if not _is_issued(change):
            return
        _write_lines(change)
        document = issued_document(change)
        if change.get("e_invoice_format") in DEMANDED:
            refuse_incomplete(document)
        start_drawing()
        number = document_number(change.get("series"), change.get("issue_date").year)
        lock_chain()
        change.values["number"] = number
        change.work["backdated_from"] = require_issue_date(change)
        change.work["document"] = document = replace(document, number=number)
        change.values["pdf_sha256"] = freeze(document, change.get("e_invoice_format"))

    def number_many(self, changes: Sequence[Change[Invoice]]) -> None:
        """Every series goes on after the numbers that were given; payments get theirs."""
        continue_series(changes)

    def written(self, change: Change[Invoice]) -> None:
        """Lines, the credited invoice, and the balances of the client."""
        if _is_issued(change):
            backdated_from = change.work["backdated_from"]
            add_link(change.key, issued_on=today(), backdated_from=backdated_from)
        else:
            _write_lines(change)
        if not change.changes("status", "amount_due", "amount_paid", "amount_credited"):
            return
        if change.get("status") == "Draft":
            return
        is_void = change.get("status") == "Void"
        if is_void:
            bill_tasks(change, ())
        if change.get("type") == "CreditNote" and (is_void or _is_issued(change)):
            total = change.get("total")
            self.credit(change.get("credited_invoice_id"), -total if is_void else total)
        post(change.before, change.after(), issued_in=change.work.get("client_currency"))

    def credit(self, key: int, amount: Decimal) -> None:
        """Set the ``amount`` of a credit note against an invoice; negative takes it back."""
        invoice = self.stored(key)
        credited = invoice.amount_credited + amount
        events, by = (("invoice.credited",), "credit") if amount > 0 else ((), "reversal")
        self.settle(invoice, invoice.amount_paid, credited, *events, by=by)

    def settle(
        self, invoice: Invoice, paid: Decimal, credited: Decimal, *events: str, by: str
    ) -> None:
        """Give an issued invoice the state that follows from payments and credits."""
        values = settled_values(invoice, paid=paid, credited=credited, now=utc_now())
        more = paid + credited > invoice.amount_paid + invoice.amount_credited
        happened = list(events)
        if values["status"] == "Paid" and invoice.status != "Paid":
            happened.append("invoice.paid")
        elif values["status"] == "PartiallyPaid" and more:
            happened.append("invoice.partially_paid")
        self.apply(invoice.id, values, *happened, by=by)

    def deleting(self, invoice: Invoice) -> None:
        """Only drafts can go: an issued number stays (contract section 10)."""
        require_operation("Invoice", "invoice", DELETE, invoice)


def _require_open_books(change: Change[Invoice], target: str) -> None:
    """A document is void as of its date, and written off as of today."""
    days = {"Void": change.get("issue_date"), "Uncollectible": today()}
    if target not in days:
        return
    hold_settings("invoicing")
    if closed := organisation().invoicing.closing_day(days[target]):
        attribute = "issue_date" if target == "Void" else "status"
        raise InvalidStateError(
            f"The books are closed until {closed}: as of then nothing is voided or written off.",
            [(change.rules.wire(attribute), f"would be of {days[target]}, in closed books")],
        )


def _write_lines(change: Change[Invoice]) -> None:
    """The lines of a draft whose amounts were computed, and what they bill."""
    if "totals" in change.work:
        write_lines(change, change.work["lines"], change.work["totals"])
        bill_tasks(change, change.work["lines"])


def _past_rate(change: Change[Invoice]) -> Decimal:
    """The rate of a document of a history: its own, that of what it credits, or the one of now."""
    credited = change.related(Invoice, change.get("credited_invoice_id"))
    of_credited = credited and credited.exchange_rate
    rate = change.values.get("exchange_rate") or of_credited
    return rate or change.settings.exchange_rate(change.get("currency"))


def _is_issued(change: Change[Invoice]) -> bool:
    """Whether the change is what issues the document."""
    return bool(change.was("status") == "Draft" and change.get("status") != "Draft")


def _series(document_type: str, settings: Organisation) -> str:
    invoicing = settings.invoicing
    if document_type == "CreditNote" and invoicing.credit_note_series:
        return invoicing.credit_note_series
    return invoicing.series


def _currency(change: Change[Invoice]) -> str | None:
    source = change.related(Invoice, change.values.get("credited_invoice_id")) or change.related(
        Client, change.values.get("client_id")
    )
    return source.currency if source else None


def _refuse_frozen(change: Change[Invoice]) -> None:
    frozen = [name for name in change.named if name in change.values and name not in AFTER_ISSUE]
    if frozen:
        raise InvalidStateError(
            "The document is issued: what is printed on it cannot change. Credit it instead.",
            [(change.rules.wire(name), "cannot change after issue") for name in sorted(frozen)],
        )


def _check_credited(change: Change[Invoice]) -> None:
    """A credit note names the invoice that it corrects, of the same client and currency."""
    credited_id = change.get("credited_invoice_id")
    if change.get("type") != "CreditNote":
        if credited_id is not None:
            change.refuse("credited_invoice_id", "is only for a credit note")
        return
    require(change.caller, "invoices:credit", change.before)
    if credited_id is None:
        change.refuse("credited_invoice_id", "is required for a credit note")
        return
    credited = change.related(Invoice, credited_id)
    if credited is None or credited.type != "Invoice" or credited.status == "Draft":
        change.refuse("credited_invoice_id", "must be an issued invoice")
        return
    for name in ("client_id", "currency"):
        if change.get(name) != (needed := getattr(credited, name)):
            change.refuse(name, f"must be that of the credited invoice, {needed}")


def _breakdown(totals: Totals) -> list[dict[str, Any]]:
    names = [each.name for each in fields(TaxSubtotal)]
    return [{camel(name): getattr(group, name) for name in names} for group in totals.groups]


INVOICES = InvoiceService()
