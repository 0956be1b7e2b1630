"""Which rules of EN 16931 an e-invoice of a document would break, told before it is issued."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from stdnum import iban

from app.errors import ValidationError
from app.invoices.document import InvoiceDocument, Party
from app.invoices.einvoice import codes, terms
from app.invoices.einvoice.markup import MOST_DECIMALS
from app.invoices.plain_text import one_line
from app.money import ZERO

_NO_TAX = {
    "Z": "BR-Z", "E": "BR-E", "AE": "BR-AE", "K": "BR-IC", "G": "BR-G", "O": "BR-O",
}  # fmt: skip
_NEEDS_BUYER_ID = ("AE", "K")
_NEEDS_VAT_ID = ("K", "G")


@dataclass(frozen=True)
class Problem:
    """A rule that would be broken: its id, the field in wire spelling, what to do about it."""

    rule: str
    field: str
    message: str


def preflight(document: InvoiceDocument) -> tuple[Problem, ...]:
    """Problems of a draft or an issued document; none means that a valid e-invoice can be made.

    Number and date of issue are not asked for: a draft gets them when it is issued.
    """
    return (
        *_problems_of_seller(document),
        *_problems_of_buyer(document),
        *_problems_of_document(document),
        *_problems_of_lines(document),
        *_problems_of_categories(document),
    )


def refuse_incomplete(document: InvoiceDocument) -> None:
    """Refuse a document that makes no valid e-invoice.

    Raises: ValidationError, each problem with its field and the id of the rule.
    """
    problems = preflight(document)
    if problems:
        raise ValidationError(
            [(problem.field, f"{problem.message} ({problem.rule})") for problem in problems]
        )


def _problems_of_seller(document: InvoiceDocument) -> Iterator[Problem]:
    seller = document.seller
    if not one_line(seller.registered_name):
        yield Problem("BR-06", "seller.name", "the seller needs a name")
    yield from _problems_of_country(seller, "seller", "BR-09")
    yield from _problems_of_endpoint(seller, "seller")
    ids = terms.tax_ids(seller)
    vat = None if terms.is_not_subject(document) else ids.vat
    if not (vat or one_line(seller.registration_number) or one_line(seller.number)):
        yield Problem(
            "BR-CO-26", "seller.registrationNumber",
            "the seller needs a VAT identifier or a registration number",
        )  # fmt: skip
    if document.bank is not None and not iban.is_valid(document.bank.iban):
        yield Problem("BR-50", "seller.iban", "the IBAN is not valid")


def _problems_of_buyer(document: InvoiceDocument) -> Iterator[Problem]:
    buyer = document.buyer
    if not one_line(buyer.registered_name):
        yield Problem("BR-07", "buyer.name", "the buyer needs a name")
    yield from _problems_of_country(buyer, "buyer", "BR-11")
    yield from _problems_of_endpoint(buyer, "buyer")


def _problems_of_country(party: Party, field: str, rule: str) -> Iterator[Problem]:
    country = party.address.country
    if not country:
        yield Problem(rule, f"{field}.address.country", f"the {field} needs a country")
    elif country not in codes.country_codes():
        yield Problem("BR-CL-14", f"{field}.address.country", f"{country!r} is no ISO 3166-1 code")


def _problems_of_endpoint(party: Party, field: str) -> Iterator[Problem]:
    endpoint = terms.endpoint(party)
    if endpoint is not None and endpoint[0] not in codes.endpoint_schemes():
        yield Problem(
            "BR-CL-25", f"{field}.eInvoiceScheme",
            f"{endpoint[0]!r} is no electronic address scheme",
        )  # fmt: skip


def _problems_of_document(document: InvoiceDocument) -> Iterator[Problem]:
    if not document.lines:
        yield Problem("BR-16", "lineItems", "at least one line is required")
    if document.currency not in codes.currency_codes():
        yield Problem("BR-CL-04", "currency", f"{document.currency!r} is no ISO 4217 code")
    own = document.tax_currency
    if own is not None and document.accounted_tax is None:
        yield Problem(
            "BR-53", "currency",
            f"has no exchange rate to {own}, in which the VAT has to be stated besides",
        )  # fmt: skip
    if any(round(amount, MOST_DECIMALS) != amount for amount in _amounts(document)):
        yield Problem(
            "BR-DEC-14", "currency",
            "amounts of an e-invoice have two decimals, and some of these have three",
        )  # fmt: skip
    if document.credited is not None and not one_line(document.credited.number):
        yield Problem("BR-55", "creditedInvoiceId", "the credited invoice has no number")


def _amounts(document: InvoiceDocument) -> Iterator[Decimal]:
    yield from (document.total, document.tax_total, document.discount_total, document.amount_due)
    yield document.accounted_tax or ZERO
    for line in document.lines:
        yield from (line.line_net, terms.line_allowance(document, line))
    for group in document.tax_breakdown:
        yield from (group.tax, group.taxable)


def _problems_of_lines(document: InvoiceDocument) -> Iterator[Problem]:
    for index, line in enumerate(document.lines):
        field = f"lineItems[{index}]"
        if not terms.item_texts(line)[0]:
            yield Problem("BR-25", f"{field}.description", "a line needs a description")
        if line.unit_code not in codes.unit_codes():
            yield Problem(
                "BR-CL-23", f"{field}.unitCode",
                f"{line.unit_code!r} is no code of UN/ECE Recommendation 20 or 21",
            )  # fmt: skip
        if line.unit_price < 0:
            yield Problem("BR-27", f"{field}.unitPrice", "the price must not be negative")
        if line.period_start and line.period_end and line.period_end < line.period_start:
            yield Problem("BR-30", f"{field}.periodEnd", "the period ends before it starts")
        if line.tax_category == "S" and line.tax_rate <= 0:
            yield Problem("BR-S-05", f"{field}.taxRate", "the standard rate must be above 0")
        elif line.tax_category in _NO_TAX and line.tax_rate != 0:
            rule = f"{_NO_TAX[line.tax_category]}-05"
            yield Problem(rule, f"{field}.taxRate", f"must be 0 in category {line.tax_category}")


def _problems_of_categories(document: InvoiceDocument) -> Iterator[Problem]:
    """What each tax category asks of the parties and of the document."""
    categories = dict.fromkeys(line.tax_category for line in document.lines)
    seller, buyer = terms.tax_ids(document.seller), terms.tax_ids(document.buyer)
    for category in categories:
        family = _NO_TAX.get(category, "BR-S")
        if category != terms.NOT_SUBJECT:
            needs_vat = category in _NEEDS_VAT_ID
            if not (seller.vat or (seller.local and not needs_vat)):
                yield Problem(
                    f"{family}-02", "seller.taxId",
                    f"category {category} needs the VAT identifier of the seller",
                )  # fmt: skip
        elif len(categories) > 1:
            yield Problem(
                "BR-O-11", "lineItems",
                "what is not subject to VAT cannot be invoiced together with what is",
            )  # fmt: skip
        has_buyer_id = buyer.vat or (
            category == "AE" and one_line(document.buyer.registration_number)
        )
        if category in _NEEDS_BUYER_ID and not has_buyer_id:
            yield Problem(
                f"{family}-02", "buyer.taxId",
                f"category {category} needs the VAT identifier of the buyer",
            )  # fmt: skip
        if category == "E" and not terms.exemption_reason(document, category, ZERO):
            yield Problem(
                "BR-E-10", "lineItems", "an exemption needs its reason: taxExemptionReason"
            )
        if category == terms.INTRA_COMMUNITY:
            yield from _problems_of_supply(document)


def _problems_of_supply(document: InvoiceDocument) -> Iterator[Problem]:
    if document.service_date is None and terms.invoicing_period(document) is None:
        yield Problem(
            "BR-IC-11", "serviceDate",
            "an intra-Community supply needs its date, or a period on every line",
        )  # fmt: skip
    address = terms.delivery_address(document)
    if address is None or not address.country:
        yield Problem(
            "BR-IC-12", "buyer.address.country",
            "an intra-Community supply needs the country it goes to",
        )  # fmt: skip
