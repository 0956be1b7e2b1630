"""The business terms of EN 16931 that a document states indirectly, for both syntaxes alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from stdnum.eu import vat

from app.invoices.document import Address, DocumentLine, InvoiceDocument, Party
from app.invoices.einvoice import codes
from app.invoices.plain_text import clean, one_line
from app.invoices.texts import texts_for
from app.invoices.wording import correction_of
from app.money import ZERO, rounded
from app.writing.normal_forms import tax_id_form

NOT_SUBJECT = "O"
INTRA_COMMUNITY = "K"
EMAIL_SCHEME = "EM"

# A net price taken out of a gross one: ten decimals keep quantity x price exact to the cent for
# every quantity that a line can hold.
_PRICE_STEP = Decimal("1E-10")


@dataclass(frozen=True)
class Allowance:
    """The share of one tax group in the discount of the document (BG-20)."""

    tax_category: str
    tax_rate: Decimal
    base: Decimal
    amount: Decimal


@dataclass(frozen=True)
class TaxIds:
    """``vat``: BT-31 or BT-48; ``local``: another tax number, BT-32 for the seller."""

    vat: str | None = None
    local: str | None = None


def type_code(document: InvoiceDocument) -> str:
    """BT-3: 380 commercial invoice, 381 credit note."""
    return "381" if document.is_credit_note else "380"


def is_not_subject(document: InvoiceDocument) -> bool:
    """Whether a line is outside the scope of VAT; then no VAT identifier may be given (BR-O-02)."""
    return any(line.tax_category == NOT_SUBJECT for line in document.lines)


def tax_ids(party: Party) -> TaxIds:
    """The tax number of a party, told apart by its form.

    A number without its country, as many write it, gets the prefix if it is valid with it.
    """
    written = one_line(party.tax_id)
    if not written:
        return TaxIds()
    number = tax_id_form(written)
    if number[:2] in codes.vat_prefixes():
        return TaxIds(vat=number)
    country = {"GR": "EL"}.get(party.address.country or "", party.address.country or "")
    if country in codes.vat_prefixes() and vat.is_valid(country + number):
        return TaxIds(vat=country + str(vat.compact(country + number)).removeprefix(country))
    return TaxIds(local=written)


def endpoint(party: Party) -> tuple[str, str] | None:
    """Scheme and identifier of the electronic address (BT-34, BT-49); the e-mail if no other."""
    if party.e_invoice_scheme and party.e_invoice_id:
        return party.e_invoice_scheme, one_line(party.e_invoice_id)
    email = one_line(party.email)
    return (EMAIL_SCHEME, email) if email else None


def net_price(document: InvoiceDocument, line: DocumentLine) -> Decimal:
    """BT-146: the price of one unit without tax, before the discount of the line."""
    if not document.prices_include_tax:
        return line.unit_price
    return (line.unit_price * 100 / (100 + line.tax_rate)).quantize(_PRICE_STEP, ROUND_HALF_UP)


def line_allowance(document: InvoiceDocument, line: DocumentLine) -> Decimal:
    """BT-136: what the discount of the line takes off, net; 0 if it has none."""
    if not line.discount_percent:
        return ZERO
    gross = rounded(net_price(document, line) * line.quantity, document.currency)
    return max(gross - line.line_net, ZERO)


def document_allowances(document: InvoiceDocument) -> tuple[Allowance, ...]:
    """BG-20: the discount of the document by tax group; together they are BT-107."""
    sums: dict[tuple[str, Decimal], Decimal] = {}
    for line in document.lines:
        key = (line.tax_category, line.tax_rate)
        sums[key] = sums.get(key, ZERO) + line.line_net
    return tuple(
        Allowance(group.tax_category, group.tax_rate, base, base - group.taxable)
        for group in document.tax_breakdown
        if (base := sums.get((group.tax_category, group.tax_rate), ZERO)) != group.taxable
    )


def exemption_reason(document: InvoiceDocument, category: str, rate: Decimal) -> str:
    """BT-120: the reasons that the lines of a tax group give, each once."""
    reasons = (
        one_line(line.tax_exemption_reason)
        for line in document.lines
        if line.tax_category == category and line.tax_rate == rate
    )
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def prepaid(document: InvoiceDocument) -> Decimal:
    """BT-113: what has been settled already, by payments or credit notes."""
    return document.total - document.amount_due


def payment_terms(document: InvoiceDocument) -> str:
    """BT-20; what is owed without a due date needs terms (BR-CO-25), so a sentence stands in.

    A credit note has no due date in UBL.
    """
    terms = clean(document.terms)
    if terms or document.amount_due <= 0:
        return terms
    if document.is_credit_note:
        return texts_for(document.language)("payment.credit")
    return "" if document.due_date else texts_for(document.language)("payment.pay_now")


def payment_means_code(document: InvoiceDocument) -> str:
    """BT-81 for a bank account: SEPA credit transfer within the euro, credit transfer else."""
    return "58" if document.currency == "EUR" else "30"


def invoicing_period(document: InvoiceDocument) -> tuple[date, date] | None:
    """BG-14: from the first to the last day of the lines' periods, if every line has one."""
    if document.service_date is not None:
        return None
    starts = [line.period_start for line in document.lines if line.period_start]
    ends = [line.period_end for line in document.lines if line.period_end]
    if not document.lines or not len(starts) == len(ends) == len(document.lines):
        return None
    return min(starts), max(ends)


def delivery_address(document: InvoiceDocument) -> Address | None:
    """BG-15: where goods went; intra-Community supplies must say it (BR-IC-12)."""
    address = document.delivery_address
    if address is not None and address.country:
        return address
    if any(line.tax_category == INTRA_COMMUNITY for line in document.lines):
        return document.buyer.address
    return None


def note(document: InvoiceDocument) -> str:
    """BT-22: the notes; a credit note says first what it corrects."""
    return "\n".join(filter(None, (correction_of(document), clean(document.notes))))


def percent_is_exact(allowance: Allowance, percent: Decimal, currency: str) -> bool:
    """Whether the percentage gives the amount, so that it may be stated beside it (BT-94)."""
    return rounded(allowance.base * percent / 100, currency) == allowance.amount


def street_lines(address: Address) -> tuple[str, str, str]:
    """The street on the three lines there are for it (BT-35, BT-36, BT-162)."""
    first, *more = clean(address.street).split("\n", 2)
    lines = [first, *(one_line(line) for line in more), "", ""]
    return lines[0], lines[1], lines[2]


def item_texts(line: DocumentLine) -> tuple[str, str]:
    """The first line of a description as the item's name (BT-153), the rest as BT-154."""
    name, _, more = clean(line.description).partition("\n")
    return name.strip(), more.strip()


def compact(number: str | None) -> str:
    """An IBAN or BIC without the spaces it is read in."""
    return "".join(clean(number).split())
