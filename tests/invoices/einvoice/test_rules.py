"""Random documents that pass the pre-flight give XML that the official artefacts accept."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from app.invoices.document import Address, BankAccount, InvoiceDocument, Party
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.preflight import preflight
from app.invoices.einvoice.ubl import build_ubl
from app.money import digits
from tests.invoices.documents import documents
from tests.invoices.einvoice.validation import broken_rules, check_schema

BUILDERS = {"cii": build_cii, "ubl": build_ubl}
# Of the French extension: a tax is within cents of its rate, which no tax in whole yen can be. The
# rule of EN 16931 (BR-S-09) leaves room for one unit.
_IN_CENTS = "BR-FXEXT-S-09 "


def broken(xml: bytes, syntax: str, document: InvoiceDocument) -> list[str]:
    """The rules that the XML breaks."""
    found = broken_rules(xml, syntax)
    is_whole = digits(document.currency) == 0
    return [rule for rule in found if not (is_whole and rule.startswith(_IN_CENTS))]


@pytest.mark.costly(2)
@pytest.mark.parametrize("syntax", BUILDERS)
@settings(
    max_examples=settings().max_examples // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(document=documents())
def test_random_documents_are_valid(syntax: str, document: InvoiceDocument) -> None:
    assert preflight(document) == ()
    xml = BUILDERS[syntax](document)
    check_schema(xml, syntax)
    assert broken(xml, syntax, document) == []


_ANY = st.none() | st.text(max_size=12)
# Mostly right, so that many pass.
_CODE = st.sampled_from(["DE", "AT", "GR", "US", "FR", "XI", "ES", "XX", "de", None])
_TAX_ID = _ANY | st.sampled_from(["DE136695976", "136695976", "EL094259216", "22/815/08155", "AT1"])
_PARTIES = st.builds(
    Party,
    name=st.text(max_size=12) | st.just("Name"),
    legal_name=_ANY,
    address=st.builds(
        Address, street=_ANY, city=_ANY, state=_ANY, postal_code=_ANY, country=_CODE
    ),
    tax_id=_TAX_ID,
    registration_number=_ANY,
    email=_ANY,
    phone=_ANY,
    contact_name=_ANY,
    e_invoice_scheme=st.sampled_from([None, "0088", "EM", "9930", "EMail"]),
    e_invoice_id=_ANY,
    number=_ANY,
)  # fmt: skip
_BANKS = st.none() | st.builds(
    BankAccount,
    iban=st.sampled_from(["DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "DE00", ""]),
    bic=_ANY,
    account_holder=_ANY,
)


_UNITS = st.sampled_from(["C62", "HUR", "XPK", "", "QQQ", "h"])


@pytest.mark.costly(2)
@pytest.mark.parametrize("syntax", BUILDERS)
@settings(
    max_examples=settings().max_examples // 2, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
@given(document=documents(), seller=_PARTIES, buyer=_PARTIES, bank=_BANKS, unit=_UNITS)
def test_what_passes_the_preflight_is_valid(
    syntax: str,
    document: InvoiceDocument,
    seller: Party,
    buyer: Party,
    bank: BankAccount | None,
    unit: str,
) -> None:
    """Whatever people write into the fields: either a problem is told, or the XML is valid."""
    lines = (*document.lines[1:], dataclasses.replace(document.lines[0], unit_code=unit))
    document = dataclasses.replace(
        document, seller=seller, buyer=buyer, bank=bank, lines=lines, service_date=None
    )
    if not preflight(document):
        xml = BUILDERS[syntax](document)
        check_schema(xml, syntax)
        assert broken(xml, syntax, document) == []
