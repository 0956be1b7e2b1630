"""Terms that a document states indirectly."""

from __future__ import annotations

import dataclasses
from datetime import date

import pytest

from app.invoices.document import Address, CreditedInvoice, Party
from app.invoices.einvoice import codes, terms
from app.invoices.einvoice.cii import build_cii
from tests.invoices.documents import BUYER, make_document, make_line


@pytest.mark.parametrize(
    ("tax_id", "country", "vat", "local"),
    [
        ("DE 136 695 976", "DE", "DE136695976", None),
        ("136695976", "DE", "DE136695976", None),
        ("B-58378431", "ES", "ESB58378431", None),
        ("094259216", "GR", "EL094259216", None),
        ("12-3456789", "US", None, "12-3456789"),
        (None, "DE", None, None),
    ],
    ids=["written with spaces", "without its country", "Spanish NIF", "Greek", "American", "none"],
)
def test_tax_numbers_are_told_apart(
    tax_id: str | None, country: str, vat: str | None, local: str | None
) -> None:
    party = Party(name="x", tax_id=tax_id, address=Address(country=country))
    assert terms.tax_ids(party) == terms.TaxIds(vat=vat, local=local)


def test_the_email_is_the_endpoint_if_there_is_no_other() -> None:
    assert terms.endpoint(BUYER) == ("EM", "einkauf@mueller.example")
    other = dataclasses.replace(BUYER, e_invoice_scheme="0088", e_invoice_id="4012345000009")
    assert terms.endpoint(other) == ("0088", "4012345000009")


def test_the_period_spans_the_lines_if_each_has_one() -> None:
    march = make_line(period_start=date(2026, 3, 1), period_end=date(2026, 3, 31))
    april = make_line(period_start=date(2026, 4, 1), period_end=date(2026, 4, 30))
    assert terms.invoicing_period(make_document([march, april])) == (
        date(2026, 3, 1), date(2026, 4, 30),
    )  # fmt: skip
    assert terms.invoicing_period(make_document([march, make_line()])) is None


def test_a_note_says_first_what_is_corrected() -> None:
    credited = CreditedInvoice(number="INV-1", issue_date=date(2026, 1, 31))
    note = make_document(type="CreditNote", credited=credited, notes="Thanks", language="de")
    assert terms.note(note) == (
        "Dieser Beleg berichtigt die Rechnung INV-1 vom 31.01.2026.\nThanks"
    )


def test_text_stays_text_in_xml() -> None:
    hostile = '<!ENTITY x SYSTEM "file:///etc/passwd">&x;]]>\x00\x1b[31m'
    xml = build_cii(make_document([make_line(description=hostile)])).decode()
    assert "&lt;!ENTITY x SYSTEM" in xml
    assert "\x00" not in xml and "\x1b" not in xml


def test_the_code_lists_are_the_published_ones() -> None:
    assert {"DE", "FR", "US", "XI"} <= codes.vat_prefixes()
    assert {"C62", "HUR", "KGM", "XPK"} <= codes.unit_codes()
    assert {"0088", "9930", "EM"} <= codes.endpoint_schemes()
    assert {"EUR", "USD", "JPY"} <= codes.currency_codes()
