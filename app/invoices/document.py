"""What is printed and sent: one invoice or credit note as plain values, all amounts computed.

Amounts are ``Decimal`` in major units of ``currency`` and agree with ``app.invoices.totals``;
rates are percentages (19 means 19 %). Nothing here knows a database or a request, so whatever is
drawn or written from a document depends on the document alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any, Literal, TypeVar

from app.invoices.totals import Line
from app.money import rounded

DocumentType = Literal["Invoice", "CreditNote"]
DocumentState = Literal["Draft", "Issued", "Paid", "Void"]
ZERO = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class Address:
    """A postal address; ``country`` is ISO 3166-1 alpha-2. ``street`` may have several lines."""

    street: str | None = None
    city: str | None = None
    state: str | None = None
    postal_code: str | None = None
    country: str | None = None


@dataclass(frozen=True, kw_only=True)
class Party:
    """The seller or the buyer, as it was at issue.

    ``e_invoice_scheme`` (EAS code) and ``e_invoice_id`` say where e-invoices are received.
    ``number`` is the buyer's customer number.
    """

    name: str
    legal_name: str | None = None
    address: Address = Address()
    tax_id: str | None = None
    registration_number: str | None = None
    email: str | None = None
    phone: str | None = None
    website: str | None = None
    contact_name: str | None = None
    e_invoice_scheme: str | None = None
    e_invoice_id: str | None = None
    number: str | None = None

    @property
    def registered_name(self) -> str:
        """The name in the register (BT-27, BT-44)."""
        return self.legal_name or self.name

    @property
    def trading_name(self) -> str | None:
        """The name that it goes by, where that is another (BT-28, BT-45)."""
        return None if self.name == self.registered_name else self.name


@dataclass(frozen=True, kw_only=True)
class BankAccount:
    """Where to pay."""

    iban: str
    bic: str | None = None
    bank_name: str | None = None
    account_holder: str | None = None


@dataclass(frozen=True, kw_only=True)
class DocumentLine:
    """One line. ``unit_price`` is gross where the document's prices include tax.

    ``line_net`` is without tax and after the line's discount, ``line_total`` is with tax.
    """

    description: str
    quantity: Decimal
    unit_price: Decimal
    line_net: Decimal
    line_total: Decimal
    tax_rate: Decimal
    tax_category: str = "S"
    unit_code: str = "C62"
    discount_percent: Decimal = ZERO
    tax_exemption_reason: str | None = None
    product_code: str | None = None
    period_start: date | None = None
    period_end: date | None = None


@dataclass(frozen=True, kw_only=True)
class TaxSubtotal:
    """The tax of one category and rate: ``taxable`` is net, after the document's discount."""

    tax_category: str
    tax_rate: Decimal
    taxable: Decimal
    tax: Decimal


@dataclass(frozen=True, kw_only=True)
class PaymentEntry:
    """Money received; ``method`` as in the model (``transfer``, ``card``, ...)."""

    paid_on: date
    amount: Decimal
    method: str
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class CreditedInvoice:
    """The invoice that a credit note corrects."""

    number: str
    issue_date: date | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceDocument:
    """An invoice or credit note, ready to be drawn or written.

    A draft has no ``number`` and may have no ``issue_date``. ``amount_due`` is what is left of
    ``total`` after payments and credit notes. ``logo`` is the bytes of a PNG or JPEG picture.
    ``exchange_rate`` is what one unit of ``currency`` was worth in ``accounting_currency``, the
    seller's own (BT-6), on the day of issue; 0 where it is not known.
    """

    type: DocumentType = "Invoice"
    state: DocumentState = "Issued"
    number: str | None = None
    issue_date: date | None = None
    due_date: date | None = None
    service_date: date | None = None
    currency: str = "EUR"
    accounting_currency: str | None = None
    exchange_rate: Decimal = ZERO
    language: str = "en"
    seller: Party
    buyer: Party
    bank: BankAccount | None = None
    logo: bytes | None = None
    delivery_address: Address | None = None
    lines: tuple[DocumentLine, ...]
    tax_breakdown: tuple[TaxSubtotal, ...]
    prices_include_tax: bool = False
    discount_percent: Decimal = ZERO
    subtotal: Decimal
    discount_total: Decimal = ZERO
    tax_total: Decimal
    total: Decimal
    amount_credited: Decimal = ZERO
    amount_due: Decimal
    payments: tuple[PaymentEntry, ...] = ()
    credited: CreditedInvoice | None = None
    reference: str | None = None
    purchase_order: str | None = None
    buyer_reference: str | None = None
    notes: str | None = None
    terms: str | None = None

    @property
    def payee(self) -> str:
        """Who holds the account to pay to."""
        return (self.bank and self.bank.account_holder) or self.seller.registered_name

    @property
    def is_credit_note(self) -> bool:
        return self.type == "CreditNote"

    @property
    def is_receipt(self) -> bool:
        """Whether it says that it is paid: credit notes that settle it are no money received."""
        return self.amount_due <= 0 and bool(self.payments)

    @property
    def tax_currency(self) -> str | None:
        """The accounting currency, where the VAT has to be stated in it besides (BT-6).

        Article 230 of Directive 2006/112/EC: it is owed, and the document has another currency.
        """
        other = self.accounting_currency
        return other if other != self.currency and self.tax_total else None

    @property
    def accounted_tax(self) -> Decimal | None:
        """The VAT in ``tax_currency`` (BT-111); None where there is no such, or no rate."""
        if self.tax_currency is None or not self.exchange_rate:
            return None
        return rounded(self.tax_total * self.exchange_rate, self.tax_currency)

    @property
    def net_total(self) -> Decimal:
        """The total without tax, after the document's discount (BT-109)."""
        return self.subtotal - self.discount_total


Part = TypeVar("Part", DocumentLine, PaymentEntry, TaxSubtotal, Line)


def of_same_names(kind: type[Part], record: Any) -> Part:
    """A part of a document from what has attributes of the same names."""
    return kind(**{each.name: getattr(record, each.name) for each in fields(kind)})
