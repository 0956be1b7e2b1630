"""An invoice in UN/CEFACT Cross Industry Invoice, the syntax of Factur-X, profile EN 16931.

The order of elements is the schema's; BT and BG numbers are those of EN 16931-1.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element

from app.invoices.document import Address, DocumentLine, InvoiceDocument, Party
from app.invoices.einvoice import codes, terms
from app.invoices.einvoice.markup import add, money_text, nest, number_text, serialise

PROFILE = "urn:cen.eu:en16931:2017"
_NAMESPACES = {
    "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "xmlns:ram": "urn:un:unece:uncefact:data:standard:"
    "ReusableAggregateBusinessInformationEntity:100",
    "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
    "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
}
_DAY = "102"  # UNTDID 2379: CCYYMMDD
_DISCOUNT = "95"  # UNTDID 5189


def build_cii(document: InvoiceDocument) -> bytes:
    """The XML of an issued document; ``preflight`` says beforehand which rules it would break."""
    root = Element("rsm:CrossIndustryInvoice", _NAMESPACES)
    context = nest(root, "rsm:ExchangedDocumentContext")
    add(nest(context, "ram:GuidelineSpecifiedDocumentContextParameter"), "ram:ID", PROFILE)
    header = nest(root, "rsm:ExchangedDocument")
    add(header, "ram:ID", document.number)  # BT-1
    add(header, "ram:TypeCode", terms.type_code(document))  # BT-3
    _add_date(header, "ram:IssueDateTime", document.issue_date)  # BT-2
    add(nest(header, "ram:IncludedNote"), "ram:Content", terms.note(document))  # BT-22
    transaction = nest(root, "rsm:SupplyChainTradeTransaction")
    for number, line in enumerate(document.lines, start=1):
        _add_line(transaction, document, number, line)
    _add_agreement(transaction, document)
    _add_delivery(transaction, document)
    _add_settlement(transaction, document)
    return serialise(root, required=("ram:ApplicableHeaderTradeDelivery",))


def _add_line(parent: Element, document: InvoiceDocument, number: int, line: DocumentLine) -> None:
    item = nest(parent, "ram:IncludedSupplyChainTradeLineItem")
    add(nest(item, "ram:AssociatedDocumentLineDocument"), "ram:LineID", str(number))  # BT-126
    product = nest(item, "ram:SpecifiedTradeProduct")
    add(product, "ram:SellerAssignedID", line.product_code)  # BT-155
    name, more = terms.item_texts(line)
    add(product, "ram:Name", name)  # BT-153
    add(product, "ram:Description", more)  # BT-154
    price = nest(nest(item, "ram:SpecifiedLineTradeAgreement"), "ram:NetPriceProductTradePrice")
    add(price, "ram:ChargeAmount", number_text(terms.net_price(document, line)))  # BT-146
    add(
        nest(item, "ram:SpecifiedLineTradeDelivery"), "ram:BilledQuantity",
        number_text(line.quantity), unitCode=line.unit_code,
    )  # BT-129, BT-130  # fmt: skip
    settlement = nest(item, "ram:SpecifiedLineTradeSettlement")
    _add_tax_of(settlement, "ram:ApplicableTradeTax", line.tax_category, line.tax_rate)
    _add_period(settlement, line.period_start, line.period_end)  # BG-26
    if allowance := terms.line_allowance(document, line):  # BG-27
        reduction = _add_allowance(settlement, allowance, document.currency)
        add(reduction, "ram:ReasonCode", _DISCOUNT)
    summation = nest(settlement, "ram:SpecifiedTradeSettlementLineMonetarySummation")
    add(summation, "ram:LineTotalAmount", money_text(line.line_net, document.currency))  # BT-131


def _add_agreement(parent: Element, document: InvoiceDocument) -> None:
    agreement = nest(parent, "ram:ApplicableHeaderTradeAgreement")
    add(agreement, "ram:BuyerReference", document.buyer_reference)  # BT-10
    not_subject = terms.is_not_subject(document)
    seller = nest(agreement, "ram:SellerTradeParty")  # BG-4
    _add_party(seller, document.seller)
    ids = terms.tax_ids(document.seller)
    _add_registration(seller, ids.local, "FC")  # BT-32
    _add_registration(seller, None if not_subject else ids.vat, "VA")  # BT-31
    buyer = nest(agreement, "ram:BuyerTradeParty")  # BG-7
    _add_party(buyer, document.buyer)
    vat = None if not_subject else terms.tax_ids(document.buyer).vat
    _add_registration(buyer, vat, "VA")  # BT-48
    order = nest(agreement, "ram:BuyerOrderReferencedDocument")
    add(order, "ram:IssuerAssignedID", document.purchase_order)  # BT-13


def _add_party(parent: Element, party: Party) -> None:
    add(parent, "ram:ID", party.number)  # BT-29, BT-46
    add(parent, "ram:Name", party.registered_name)  # BT-27, BT-44
    organisation = nest(parent, "ram:SpecifiedLegalOrganization")
    add(organisation, "ram:ID", party.registration_number)  # BT-30, BT-47
    add(organisation, "ram:TradingBusinessName", party.trading_name)  # BT-28, BT-45
    contact = nest(parent, "ram:DefinedTradeContact")  # BG-6, BG-9
    add(contact, "ram:PersonName", party.contact_name)
    telephone = nest(contact, "ram:TelephoneUniversalCommunication")
    add(telephone, "ram:CompleteNumber", party.phone)
    add(nest(contact, "ram:EmailURIUniversalCommunication"), "ram:URIID", party.email)
    _add_address(parent, party.address)
    if endpoint := terms.endpoint(party):  # BT-34, BT-49
        scheme, identifier = endpoint
        communication = nest(parent, "ram:URIUniversalCommunication")
        add(communication, "ram:URIID", identifier, schemeID=scheme)


def _add_address(parent: Element, address: Address) -> None:
    element = nest(parent, "ram:PostalTradeAddress")
    street, more, rest = terms.street_lines(address)
    add(element, "ram:PostcodeCode", address.postal_code)
    add(element, "ram:LineOne", street)
    add(element, "ram:LineTwo", more)
    add(element, "ram:LineThree", rest)
    add(element, "ram:CityName", address.city)
    add(element, "ram:CountryID", address.country)
    add(element, "ram:CountrySubDivisionName", address.state)


def _add_registration(parent: Element, number: str | None, scheme: str) -> None:
    registration = nest(parent, "ram:SpecifiedTaxRegistration")
    add(registration, "ram:ID", number, schemeID=scheme)


def _add_delivery(parent: Element, document: InvoiceDocument) -> None:
    delivery = nest(parent, "ram:ApplicableHeaderTradeDelivery")
    if address := terms.delivery_address(document):
        _add_address(nest(delivery, "ram:ShipToTradeParty"), address)  # BG-15
    if day := document.service_date:
        event = nest(delivery, "ram:ActualDeliverySupplyChainEvent")
        _add_date(event, "ram:OccurrenceDateTime", day)  # BT-72


def _add_settlement(parent: Element, document: InvoiceDocument) -> None:
    settlement = nest(parent, "ram:ApplicableHeaderTradeSettlement")
    if document.bank is not None:
        add(settlement, "ram:PaymentReference", document.number)  # BT-83
    if document.accounted_tax is not None:
        add(settlement, "ram:TaxCurrencyCode", document.tax_currency)  # BT-6
    add(settlement, "ram:InvoiceCurrencyCode", document.currency)  # BT-5
    _add_payment_means(settlement, document)
    for group in document.tax_breakdown:  # BG-23
        tax = nest(settlement, "ram:ApplicableTradeTax")
        add(tax, "ram:CalculatedAmount", money_text(group.tax, document.currency))
        add(tax, "ram:TypeCode", "VAT")
        reason = terms.exemption_reason(document, group.tax_category, group.tax_rate)
        if group.tax_category not in ("S", "Z"):
            add(tax, "ram:ExemptionReason", reason)
        add(tax, "ram:BasisAmount", money_text(group.taxable, document.currency))
        add(tax, "ram:CategoryCode", group.tax_category)
        add(tax, "ram:ExemptionReasonCode", codes.EXEMPTION_CODES.get(group.tax_category))
        if group.tax_category != terms.NOT_SUBJECT:
            add(tax, "ram:RateApplicablePercent", number_text(group.tax_rate))
    _add_period(settlement, *(terms.invoicing_period(document) or (None, None)))  # BG-14
    for allowance in terms.document_allowances(document):  # BG-20
        percent, currency = document.discount_percent, document.currency
        is_exact = terms.percent_is_exact(allowance, percent, currency)
        element = _add_allowance(
            settlement, allowance.amount, currency,
            percent=percent if is_exact else None,
            base=allowance.base if is_exact else None,
        )  # fmt: skip
        add(element, "ram:ReasonCode", _DISCOUNT)
        _add_tax_of(element, "ram:CategoryTradeTax", allowance.tax_category, allowance.tax_rate)
    _add_terms(settlement, document)
    _add_totals(settlement, document)
    if document.credited is not None:  # BG-3
        preceding = nest(settlement, "ram:InvoiceReferencedDocument")
        add(preceding, "ram:IssuerAssignedID", document.credited.number)
        _add_date(preceding, "ram:FormattedIssueDateTime", document.credited.issue_date, "qdt")


def _add_payment_means(parent: Element, document: InvoiceDocument) -> None:
    bank = document.bank
    if bank is None:
        return
    means = nest(parent, "ram:SpecifiedTradeSettlementPaymentMeans")  # BG-16
    add(means, "ram:TypeCode", terms.payment_means_code(document))
    account = nest(means, "ram:PayeePartyCreditorFinancialAccount")  # BG-17
    add(account, "ram:IBANID", terms.compact(bank.iban))
    add(account, "ram:AccountName", bank.account_holder)
    institution = nest(means, "ram:PayeeSpecifiedCreditorFinancialInstitution")
    add(institution, "ram:BICID", terms.compact(bank.bic))


def _add_terms(parent: Element, document: InvoiceDocument) -> None:
    element = nest(parent, "ram:SpecifiedTradePaymentTerms")
    add(element, "ram:Description", terms.payment_terms(document))  # BT-20
    _add_date(element, "ram:DueDateDateTime", document.due_date)  # BT-9


def _add_totals(parent: Element, document: InvoiceDocument) -> None:
    def text(amount: Decimal) -> str:
        return money_text(amount, document.currency)

    totals = nest(parent, "ram:SpecifiedTradeSettlementHeaderMonetarySummation")
    add(totals, "ram:LineTotalAmount", text(document.subtotal))  # BT-106
    if document.discount_total:
        add(totals, "ram:AllowanceTotalAmount", text(document.discount_total))  # BT-107
    add(totals, "ram:TaxBasisTotalAmount", text(document.net_total))  # BT-109
    tax = text(document.tax_total)
    add(totals, "ram:TaxTotalAmount", tax, currencyID=document.currency)  # BT-110
    if document.tax_currency and document.accounted_tax is not None:
        tax = money_text(document.accounted_tax, document.tax_currency)
        add(totals, "ram:TaxTotalAmount", tax, currencyID=document.tax_currency)  # BT-111
    add(totals, "ram:GrandTotalAmount", text(document.total))  # BT-112
    if paid := terms.prepaid(document):
        add(totals, "ram:TotalPrepaidAmount", text(paid))  # BT-113
    add(totals, "ram:DuePayableAmount", text(document.amount_due))  # BT-115


def _add_tax_of(parent: Element, name: str, category: str, rate: Decimal) -> None:
    """The category and rate of a line or an allowance; BR-O-05 forbids a rate outside VAT."""
    tax = nest(parent, name)
    add(tax, "ram:TypeCode", "VAT")
    add(tax, "ram:CategoryCode", category)
    if category != terms.NOT_SUBJECT:
        add(tax, "ram:RateApplicablePercent", number_text(rate))


def _add_allowance(
    parent: Element,
    amount: Decimal,
    currency: str,
    *,
    percent: Decimal | None = None,
    base: Decimal | None = None,
) -> Element:
    allowance = nest(parent, "ram:SpecifiedTradeAllowanceCharge")
    add(nest(allowance, "ram:ChargeIndicator"), "udt:Indicator", "false")
    if percent is not None and base is not None:
        add(allowance, "ram:CalculationPercent", number_text(percent))
        add(allowance, "ram:BasisAmount", money_text(base, currency))
    add(allowance, "ram:ActualAmount", money_text(amount, currency))
    return allowance


def _add_period(parent: Element, start: date | None, end: date | None) -> None:
    period = nest(parent, "ram:BillingSpecifiedPeriod")
    _add_date(period, "ram:StartDateTime", start)
    _add_date(period, "ram:EndDateTime", end)


def _add_date(parent: Element, name: str, day: date | None, prefix: str = "udt") -> None:
    if day is not None:
        element = nest(parent, name)
        add(element, f"{prefix}:DateTimeString", f"{day:%Y%m%d}", format=_DAY)
