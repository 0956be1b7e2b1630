"""An invoice in UBL 2.1, the other syntax of EN 16931: ``Invoice`` or ``CreditNote``.

The order of elements is the schema's; BT and BG numbers are those of EN 16931-1.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element

from app.invoices.document import Address, DocumentLine, InvoiceDocument, Party
from app.invoices.einvoice import codes, terms
from app.invoices.einvoice.markup import add, money_text, nest, number_text, serialise

CUSTOMIZATION = "urn:cen.eu:en16931:2017"
_SCHEMA = "urn:oasis:names:specification:ubl:schema:xsd:"
_DISCOUNT = "95"  # UNTDID 5189


def build_ubl(document: InvoiceDocument) -> bytes:
    """The XML of an issued document; ``preflight`` says beforehand which rules it would break."""
    kind = "CreditNote" if document.is_credit_note else "Invoice"
    root = Element(
        kind,
        {
            "xmlns": f"{_SCHEMA}{kind}-2",
            "xmlns:cac": f"{_SCHEMA}CommonAggregateComponents-2",
            "xmlns:cbc": f"{_SCHEMA}CommonBasicComponents-2",
        },
    )
    _add_header(root, document, kind)
    _add_party(nest(root, "cac:AccountingSupplierParty"), document, document.seller)  # BG-4
    _add_party(nest(root, "cac:AccountingCustomerParty"), document, document.buyer)  # BG-7
    _add_delivery(root, document)
    _add_payment_means(root, document)
    add(nest(root, "cac:PaymentTerms"), "cbc:Note", terms.payment_terms(document))  # BT-20
    _add_allowances(root, document)
    _add_taxes(root, document)
    _add_totals(root, document)
    for number, line in enumerate(document.lines, start=1):
        _add_line(root, document, kind, number, line)
    return serialise(root)


def _add_header(root: Element, document: InvoiceDocument, kind: str) -> None:
    add(root, "cbc:CustomizationID", CUSTOMIZATION)  # BT-24
    add(root, "cbc:ID", document.number)  # BT-1
    _add_date(root, "cbc:IssueDate", document.issue_date)  # BT-2
    if not document.is_credit_note:
        _add_date(root, "cbc:DueDate", document.due_date)  # BT-9
    add(root, f"cbc:{kind}TypeCode", terms.type_code(document))  # BT-3
    add(root, "cbc:Note", terms.note(document))  # BT-22
    add(root, "cbc:DocumentCurrencyCode", document.currency)  # BT-5
    if document.accounted_tax is not None:
        add(root, "cbc:TaxCurrencyCode", document.tax_currency)  # BT-6
    add(root, "cbc:BuyerReference", document.buyer_reference)  # BT-10
    _add_period(root, *(terms.invoicing_period(document) or (None, None)))  # BG-14
    add(nest(root, "cac:OrderReference"), "cbc:ID", document.purchase_order)  # BT-13
    if document.credited is not None:  # BG-3
        billing = nest(nest(root, "cac:BillingReference"), "cac:InvoiceDocumentReference")
        add(billing, "cbc:ID", document.credited.number)
        _add_date(billing, "cbc:IssueDate", document.credited.issue_date)


def _add_party(parent: Element, document: InvoiceDocument, party: Party) -> None:
    element = nest(parent, "cac:Party")
    if endpoint := terms.endpoint(party):  # BT-34, BT-49
        scheme, identifier = endpoint
        add(element, "cbc:EndpointID", identifier, schemeID=scheme)
    add(nest(element, "cac:PartyIdentification"), "cbc:ID", party.number)  # BT-29, BT-46
    add(nest(element, "cac:PartyName"), "cbc:Name", party.trading_name)  # BT-28, BT-45
    _add_address(nest(element, "cac:PostalAddress"), party.address)
    ids = terms.tax_ids(party)
    if ids.vat and not terms.is_not_subject(document):
        _add_tax_scheme(element, ids.vat, "VAT")  # BT-31, BT-48
    if ids.local and party is document.seller:
        _add_tax_scheme(element, ids.local, "TAX")  # BT-32
    legal = nest(element, "cac:PartyLegalEntity")
    add(legal, "cbc:RegistrationName", party.registered_name)  # BT-27, BT-44
    add(legal, "cbc:CompanyID", party.registration_number)  # BT-30, BT-47
    contact = nest(element, "cac:Contact")  # BG-6, BG-9
    add(contact, "cbc:Name", party.contact_name)
    add(contact, "cbc:Telephone", party.phone)
    add(contact, "cbc:ElectronicMail", party.email)


def _add_tax_scheme(parent: Element, number: str, scheme: str) -> None:
    element = nest(parent, "cac:PartyTaxScheme")
    add(element, "cbc:CompanyID", number)
    add(nest(element, "cac:TaxScheme"), "cbc:ID", scheme)


def _add_address(element: Element, address: Address) -> None:
    street, more, rest = terms.street_lines(address)
    add(element, "cbc:StreetName", street)
    add(element, "cbc:AdditionalStreetName", more)
    add(element, "cbc:CityName", address.city)
    add(element, "cbc:PostalZone", address.postal_code)
    add(element, "cbc:CountrySubentity", address.state)
    add(nest(element, "cac:AddressLine"), "cbc:Line", rest)
    add(nest(element, "cac:Country"), "cbc:IdentificationCode", address.country)


def _add_delivery(root: Element, document: InvoiceDocument) -> None:
    delivery = nest(root, "cac:Delivery")
    _add_date(delivery, "cbc:ActualDeliveryDate", document.service_date)  # BT-72
    if address := terms.delivery_address(document):  # BG-15
        _add_address(nest(nest(delivery, "cac:DeliveryLocation"), "cac:Address"), address)


def _add_payment_means(root: Element, document: InvoiceDocument) -> None:
    bank = document.bank
    if bank is None:
        return
    means = nest(root, "cac:PaymentMeans")  # BG-16
    add(means, "cbc:PaymentMeansCode", terms.payment_means_code(document))
    add(means, "cbc:PaymentID", document.number)  # BT-83
    account = nest(means, "cac:PayeeFinancialAccount")  # BG-17
    add(account, "cbc:ID", terms.compact(bank.iban))
    add(account, "cbc:Name", bank.account_holder)
    add(nest(account, "cac:FinancialInstitutionBranch"), "cbc:ID", terms.compact(bank.bic))


def _add_allowances(root: Element, document: InvoiceDocument) -> None:
    for allowance in terms.document_allowances(document):  # BG-20
        exact = terms.percent_is_exact(allowance, document.discount_percent, document.currency)
        element = nest(root, "cac:AllowanceCharge")
        add(element, "cbc:ChargeIndicator", "false")
        add(element, "cbc:AllowanceChargeReasonCode", _DISCOUNT)
        if exact:
            add(element, "cbc:MultiplierFactorNumeric", number_text(document.discount_percent))
        _add_money(element, "cbc:Amount", allowance.amount, document)
        if exact:
            _add_money(element, "cbc:BaseAmount", allowance.base, document)
        _add_tax_category(element, "cac:TaxCategory", allowance.tax_category, allowance.tax_rate)


def _add_taxes(root: Element, document: InvoiceDocument) -> None:
    total = nest(root, "cac:TaxTotal")
    _add_money(total, "cbc:TaxAmount", document.tax_total, document)  # BT-110
    for group in document.tax_breakdown:  # BG-23
        subtotal = nest(total, "cac:TaxSubtotal")
        _add_money(subtotal, "cbc:TaxableAmount", group.taxable, document)
        _add_money(subtotal, "cbc:TaxAmount", group.tax, document)
        reason = terms.exemption_reason(document, group.tax_category, group.tax_rate)
        _add_tax_category(
            subtotal, "cac:TaxCategory", group.tax_category, group.tax_rate,
            reason=reason if group.tax_category not in ("S", "Z") else None,
            reason_code=codes.EXEMPTION_CODES.get(group.tax_category),
        )  # fmt: skip

    if document.tax_currency and document.accounted_tax is not None:
        text = money_text(document.accounted_tax, document.tax_currency)
        other = nest(root, "cac:TaxTotal")
        add(other, "cbc:TaxAmount", text, currencyID=document.tax_currency)  # BT-111


def _add_totals(root: Element, document: InvoiceDocument) -> None:
    totals = nest(root, "cac:LegalMonetaryTotal")
    _add_money(totals, "cbc:LineExtensionAmount", document.subtotal, document)  # BT-106
    _add_money(totals, "cbc:TaxExclusiveAmount", document.net_total, document)  # BT-109
    _add_money(totals, "cbc:TaxInclusiveAmount", document.total, document)  # BT-112
    if document.discount_total:
        _add_money(totals, "cbc:AllowanceTotalAmount", document.discount_total, document)
    if paid := terms.prepaid(document):
        _add_money(totals, "cbc:PrepaidAmount", paid, document)  # BT-113
    _add_money(totals, "cbc:PayableAmount", document.amount_due, document)  # BT-115


def _add_line(
    root: Element, document: InvoiceDocument, kind: str, number: int, line: DocumentLine
) -> None:
    element = nest(root, f"cac:{kind}Line")
    add(element, "cbc:ID", str(number))  # BT-126
    quantity = "cbc:CreditedQuantity" if document.is_credit_note else "cbc:InvoicedQuantity"
    add(element, quantity, number_text(line.quantity), unitCode=line.unit_code)  # BT-129
    _add_money(element, "cbc:LineExtensionAmount", line.line_net, document)  # BT-131
    _add_period(element, line.period_start, line.period_end)  # BG-26
    if allowance := terms.line_allowance(document, line):  # BG-27
        reduction = nest(element, "cac:AllowanceCharge")
        add(reduction, "cbc:ChargeIndicator", "false")
        add(reduction, "cbc:AllowanceChargeReasonCode", _DISCOUNT)
        _add_money(reduction, "cbc:Amount", allowance, document)
    item = nest(element, "cac:Item")
    name, more = terms.item_texts(line)
    add(item, "cbc:Description", more)  # BT-154
    add(item, "cbc:Name", name)  # BT-153
    add(nest(item, "cac:SellersItemIdentification"), "cbc:ID", line.product_code)  # BT-155
    _add_tax_category(item, "cac:ClassifiedTaxCategory", line.tax_category, line.tax_rate)
    price = number_text(terms.net_price(document, line))
    add(
        nest(element, "cac:Price"), "cbc:PriceAmount", price, currencyID=document.currency
    )  # BT-146


def _add_tax_category(
    parent: Element,
    name: str,
    category: str,
    rate: Decimal,
    *,
    reason: str | None = None,
    reason_code: str | None = None,
) -> None:
    """Category and rate; BR-O-05 forbids a rate outside the scope of VAT."""
    element = nest(parent, name)
    add(element, "cbc:ID", category)
    if category != terms.NOT_SUBJECT:
        add(element, "cbc:Percent", number_text(rate))
    add(element, "cbc:TaxExemptionReasonCode", reason_code)
    add(element, "cbc:TaxExemptionReason", reason)
    add(nest(element, "cac:TaxScheme"), "cbc:ID", "VAT")


def _add_money(parent: Element, name: str, amount: Decimal, document: InvoiceDocument) -> None:
    text = money_text(amount, document.currency)
    add(parent, name, text, currencyID=document.currency)


def _add_period(parent: Element, start: date | None, end: date | None) -> None:
    period = nest(parent, "cac:InvoicePeriod")
    _add_date(period, "cbc:StartDate", start)
    _add_date(period, "cbc:EndDate", end)


def _add_date(parent: Element, name: str, day: date | None) -> None:
    if day is not None:
        add(parent, name, day.isoformat())
