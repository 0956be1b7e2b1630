"""The pre-flight names the rules that the official artefacts then find broken."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from app.invoices.document import Address, BankAccount, InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.preflight import preflight
from app.invoices.einvoice.ubl import build_ubl
from tests.invoices.documents import BUYER, SELLER, make_document, make_line
from tests.invoices.einvoice.validation import broken_rules

ZERO = Decimal(0)


def of_category(category: str, **values: object) -> InvoiceDocument:
    line = make_line(tax_category=category, tax_rate=ZERO, tax_exemption_reason="reason")
    return make_document([line], **values)


def without(party: object, **values: object) -> object:
    return dataclasses.replace(party, **values)  # type: ignore[type-var]


CASES: dict[str, Callable[[], InvoiceDocument]] = {
    "BR-06": lambda: make_document(seller=without(SELLER, name=" ", legal_name=None)),
    "BR-07": lambda: make_document(buyer=without(BUYER, name="\x00")),
    "BR-09": lambda: make_document(seller=without(SELLER, address=Address(city="Hamburg"))),
    "BR-11": lambda: make_document(buyer=without(BUYER, address=Address(city="Wien"))),
    "BR-CO-26": lambda: of_category(
        "O", seller=without(SELLER, registration_number=None)
    ),
    "BR-25": lambda: make_document([make_line(description="\u202e")]),
    "BR-S-05": lambda: make_document([make_line(tax_rate=ZERO)]),
    "BR-E-05": lambda: make_document([make_line(tax_category="E", tax_exemption_reason="x")]),
    "BR-Z-05": lambda: make_document([make_line(tax_category="Z")]),
    "BR-S-02": lambda: make_document(seller=without(SELLER, tax_id=None)),
    "BR-IC-02": lambda: of_category(
        "K", buyer=without(BUYER, tax_id=None), service_date=date(2026, 1, 1)
    ),
    "BR-AE-02": lambda: of_category(
        "AE", buyer=without(BUYER, tax_id=None, registration_number=None)
    ),
    "BR-G-02": lambda: of_category("G", seller=without(SELLER, tax_id="12 345 678")),
    "BR-E-10": lambda: make_document([make_line(tax_category="E", tax_rate=ZERO)]),
    "BR-IC-11": lambda: of_category("K"),
    "BR-O-11": lambda: make_document(
        [make_line(), make_line(tax_category="O", tax_rate=ZERO, tax_exemption_reason="x")]
    ),
    "BR-CL-23": lambda: make_document([make_line(unit_code="QQQ")]),
    "BR-CL-25": lambda: make_document(
        buyer=without(BUYER, e_invoice_scheme="XX", e_invoice_id="1")
    ),
    "BR-CL-14": lambda: make_document(buyer=without(BUYER, address=Address(country="ZZ"))),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_the_official_rules_agree(rule: str) -> None:
    document = CASES[rule]()
    assert rule in {problem.rule for problem in preflight(document)}
    assert any(found.startswith(f"{rule} ") for found in broken_rules(build_ubl(document), "ubl"))


@pytest.mark.parametrize(
    ("rule", "document"),
    [
        ("BR-16", make_document([])),
        ("BR-CL-04", make_document(currency="XXY")),
        ("BR-50", make_document(bank=BankAccount(iban="DE00370400440532013000"))),
        ("BR-27", make_document([make_line(unit_price=Decimal(-1))])),
        ("BR-IC-12", of_category(
            "K", buyer=without(BUYER, address=Address()), service_date=date(2026, 1, 1)
        )),
        ("BR-30", make_document(
            [make_line(period_start=date(2026, 2, 1), period_end=date(2026, 1, 1))]
        )),
    ],
)  # fmt: skip
def test_what_would_not_even_be_written(rule: str, document: InvoiceDocument) -> None:
    assert rule in {problem.rule for problem in preflight(document)}


def test_problems_name_the_field_in_wire_spelling() -> None:
    document = make_document([make_line(), make_line(unit_code="QQQ")])
    (problem,) = preflight(document)
    assert (problem.rule, problem.field) == ("BR-CL-23", "lineItems[1].unitCode")


def test_a_draft_needs_no_number() -> None:
    draft = make_document(number=None, issue_date=None, state="Draft")
    assert preflight(draft) == ()


@pytest.mark.parametrize("build", [build_cii, build_ubl])
def test_the_seller_without_vat_id_invoices_with_a_tax_number(
    build: Callable[[InvoiceDocument], bytes],
) -> None:
    document = of_category("E", seller=without(SELLER, tax_id="22/815/08155"))
    assert preflight(document) == ()
    assert b"22/815/08155" in build(document)
