"""The amounts in the XML, read back and added up by the rules BR-CO-10 to 17 and BR-DEC."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from lxml import etree

from app.invoices.document import CreditedInvoice, InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.preflight import preflight
from app.invoices.einvoice.ubl import build_ubl
from app.money import rounded, unit
from tests.invoices.documents import documents, make_document, make_line

_SPACES = {
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}


def values(tree: Any, path: str) -> list[Decimal]:
    return [Decimal(found.text) for found in tree.xpath(path, namespaces=_SPACES)]


def total(tree: Any, path: str) -> Decimal:
    return sum(values(tree, path), Decimal(0))


@settings(deadline=None)
@given(document=documents())
def test_totals_of_cii_add_up(document: InvoiceDocument) -> None:
    tree = etree.fromstring(build_cii(document))
    header = "//ram:SpecifiedTradeSettlementHeaderMonetarySummation"
    lines = total(tree, "//ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount")
    allowances = total(
        tree,
        "//ram:ApplicableHeaderTradeSettlement/ram:SpecifiedTradeAllowanceCharge/ram:ActualAmount",
    )
    groups = "//ram:ApplicableHeaderTradeSettlement/ram:ApplicableTradeTax"
    tax = total(tree, f"{groups}/ram:CalculatedAmount")
    net = total(tree, f"{header}/ram:TaxBasisTotalAmount")
    assert total(tree, f"{header}/ram:LineTotalAmount") == lines  # BR-CO-10
    assert total(tree, f"{header}/ram:AllowanceTotalAmount") == allowances  # BR-CO-11
    assert net == lines - allowances  # BR-CO-13
    assert total(tree, f"{groups}/ram:BasisAmount") == net
    stated = f"{header}/ram:TaxTotalAmount[@currencyID='{document.currency}']"
    assert total(tree, stated) == tax  # BR-CO-14
    gross = total(tree, f"{header}/ram:GrandTotalAmount")
    assert gross == net + tax  # BR-CO-15
    paid = total(tree, f"{header}/ram:TotalPrepaidAmount")
    assert total(tree, f"{header}/ram:DuePayableAmount") == gross - paid  # BR-CO-16
    for group in tree.xpath(groups, namespaces=_SPACES):
        taxable, rate = total(group, "ram:BasisAmount"), total(group, "ram:RateApplicablePercent")
        exact = rounded(taxable * rate / 100, document.currency)
        beside = abs(total(group, "ram:CalculatedAmount") - exact)
        # Prices with tax keep their sum; the tax may be a cent beside (docs/adr/0029).
        assert beside <= (unit(document.currency) if document.prices_include_tax else 0)  # BR-CO-17


@settings(deadline=None)
@given(document=documents())
def test_totals_of_ubl_add_up(document: InvoiceDocument) -> None:
    tree = etree.fromstring(build_ubl(document))
    totals = "/*/cac:LegalMonetaryTotal"
    lines = total(
        tree, "/*/*[self::cac:InvoiceLine or self::cac:CreditNoteLine]/cbc:LineExtensionAmount"
    )
    allowances = total(tree, "/*/cac:AllowanceCharge/cbc:Amount")
    net = total(tree, f"{totals}/cbc:TaxExclusiveAmount")
    tax = total(tree, "/*/cac:TaxTotal/cac:TaxSubtotal/cbc:TaxAmount")
    assert total(tree, f"{totals}/cbc:LineExtensionAmount") == lines
    assert net == lines - allowances
    assert total(tree, "/*/cac:TaxTotal[cac:TaxSubtotal]/cbc:TaxAmount") == tax
    gross = total(tree, f"{totals}/cbc:TaxInclusiveAmount")
    assert gross == net + tax
    paid = total(tree, f"{totals}/cbc:PrepaidAmount")
    assert total(tree, f"{totals}/cbc:PayableAmount") == gross - paid


@settings(deadline=None)
@given(document=documents())
def test_lines_are_price_times_quantity_less_discount(document: InvoiceDocument) -> None:
    """Within the cent that spreading a gross total over its lines may move."""
    tree = etree.fromstring(build_ubl(document))
    step = unit(document.currency)
    for line in tree.xpath("/*/cac:InvoiceLine | /*/cac:CreditNoteLine", namespaces=_SPACES):
        quantity = total(line, "cbc:InvoicedQuantity | cbc:CreditedQuantity")
        price = total(line, "cac:Price/cbc:PriceAmount")
        priced = rounded(quantity * price, document.currency)
        net = total(line, "cbc:LineExtensionAmount")
        less = total(line, "cac:AllowanceCharge/cbc:Amount")
        assert abs(priced - less - net) <= (2 * step if document.prices_include_tax else 0)


def test_gross_prices_become_net_prices() -> None:
    line = make_line(unit_price=Decimal("119.00"), quantity=Decimal(3))
    tree = etree.fromstring(build_cii(make_document([line], prices_include_tax=True)))
    assert values(tree, "//ram:NetPriceProductTradePrice/ram:ChargeAmount") == [Decimal(100)]
    assert values(tree, "//ram:GrandTotalAmount") == [Decimal("357.00")]


def test_a_discount_is_told_by_tax_category() -> None:
    lines = [
        make_line(unit_price=Decimal(100)),
        make_line(unit_price=Decimal(50), tax_rate=Decimal(7)),
    ]
    tree = etree.fromstring(build_ubl(make_document(lines, discount_percent=Decimal(10))))
    allowances = "/*/cac:AllowanceCharge"
    assert values(tree, f"{allowances}/cbc:Amount") == [Decimal(10), Decimal(5)]
    assert values(tree, f"{allowances}/cac:TaxCategory/cbc:Percent") == [Decimal(19), Decimal(7)]
    assert values(tree, f"{allowances}/cbc:MultiplierFactorNumeric") == [Decimal(10)] * 2


def test_a_credit_note_names_the_invoice() -> None:
    note = make_document(type="CreditNote", credited=CreditedInvoice(number="INV-2026-00001"))
    tree = etree.fromstring(build_ubl(note))
    assert etree.QName(tree).localname == "CreditNote"
    path = "/*/cac:BillingReference/cac:InvoiceDocumentReference/cbc:ID/text()"
    assert tree.xpath(path, namespaces=_SPACES) == ["INV-2026-00001"]
    assert tree.xpath("/*/cbc:CreditNoteTypeCode/text()", namespaces=_SPACES) == ["381"]
    cii = etree.fromstring(build_cii(note))
    path = "//ram:InvoiceReferencedDocument/ram:IssuerAssignedID/text()"
    assert cii.xpath(path, namespaces=_SPACES) == ["INV-2026-00001"]


def test_amounts_are_written_in_the_digits_of_their_currency() -> None:
    yen = make_document([make_line(unit_price=Decimal("50000.55"))], currency="JPY")
    assert b'<cbc:PayableAmount currencyID="JPY">59501<' in build_ubl(yen)
    assert b"<ram:GrandTotalAmount>59501<" in build_cii(yen)
    old = dataclasses.replace(yen, amount_due=Decimal("59500.61"))
    assert b"<ram:DuePayableAmount>59500.61<" in build_cii(old)


def test_a_third_decimal_is_told_beforehand_and_not_rounded_away() -> None:
    """EN 16931 has two (BR-DEC-01 to 28), whatever the currency."""
    fils = make_document([make_line(unit_price=Decimal("1.2345"), quantity=Decimal(3))],
                         currency="KWD")  # fmt: skip
    assert [(each.rule, each.field) for each in preflight(fils)] == [("BR-DEC-14", "currency")]
    whole = make_document([make_line(unit_price=Decimal(10))], currency="KWD")
    assert preflight(whole) == ()
    assert b'<cbc:PayableAmount currencyID="KWD">11.90<' in build_ubl(whole)


def test_vat_is_stated_in_the_accounting_currency_besides() -> None:
    """BT-6 and BT-111; Article 230 of Directive 2006/112/EC."""
    rate = Decimal("0.92155")
    dollars = make_document(currency="USD", accounting_currency="EUR", exchange_rate=rate)
    ubl, cii = etree.fromstring(build_ubl(dollars)), etree.fromstring(build_cii(dollars))
    for tree, code, amounts in (
        (ubl, "/*/cbc:TaxCurrencyCode", "/*/cac:TaxTotal/cbc:TaxAmount"),
        (cii, "//ram:TaxCurrencyCode", "//ram:TaxTotalAmount"),
    ):
        assert [found.text for found in tree.xpath(code, namespaces=_SPACES)] == ["EUR"]
        told = {
            found.get("currencyID"): found.text for found in tree.xpath(amounts, namespaces=_SPACES)
        }
        assert told == {"USD": "19.00", "EUR": "17.51"}


@pytest.mark.parametrize(
    ("values", "rules"),
    [({"accounting_currency": "EUR", "currency": "EUR"}, []),
     ({"accounting_currency": "EUR", "currency": "USD"}, ["BR-53"]),
     ({"accounting_currency": "KWD", "currency": "USD", "exchange_rate": Decimal("0.30711")},
      ["BR-DEC-14"])],
)  # fmt: skip
def test_without_a_rate_it_is_told_beforehand(values: dict[str, Any], rules: list[str]) -> None:
    document = make_document(**values)
    assert [problem.rule for problem in preflight(document)] == rules
    for build in (build_cii, build_ubl):
        assert (b"TaxCurrencyCode" in build(document)) is (document.accounted_tax is not None)


def test_where_no_vat_is_owed_none_is_stated_twice() -> None:
    line = make_line(tax_rate=Decimal(0), tax_category="Z")
    document = make_document([line], currency="USD", accounting_currency="EUR")
    assert preflight(document) == ()
    assert b"TaxCurrencyCode" not in build_ubl(document)
