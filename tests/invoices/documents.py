"""Documents to draw and write: given ones, and random ones for property tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from app.invoices.document import (
    Address,
    BankAccount,
    CreditedInvoice,
    DocumentLine,
    InvoiceDocument,
    Party,
)
from app.invoices.samples import compose
from app.money import rounded

SELLER = Party(
    name="Nordlicht",
    legal_name="Nordlicht Software GmbH",
    address=Address(street="Hafenstraße 12", city="Hamburg", postal_code="20457", country="DE"),
    tax_id="DE136695976",
    registration_number="HRB 12345",
    email="billing@nordlicht.example",
    phone="+49 40 1234567",
)
BUYER = Party(
    name="Müller & Söhne KG",
    address=Address(street="Am Markt 3", city="Wien", postal_code="1010", country="AT"),
    tax_id="ATU13585627",
    registration_number="FN 123456a",
    email="einkauf@mueller.example",
    number="C-000042",
)
BANK = BankAccount(iban="DE89370400440532013000", bic="COBADEFFXXX", bank_name="Commerzbank")


def make_line(**values: Any) -> DocumentLine:
    """A line; its amounts are filled in by ``make_document``."""
    given = {"description": "Consulting", "quantity": Decimal(1), "unit_price": Decimal(100),
             "tax_rate": Decimal(19), "line_net": Decimal(0), "line_total": Decimal(0)}  # fmt: skip
    return DocumentLine(**{**given, **values})


def make_document(lines: Sequence[DocumentLine] | None = None, **values: Any) -> InvoiceDocument:
    """An issued invoice with these lines, its amounts computed as the service computes them."""
    given: dict[str, Any] = {
        "number": "INV-2026-00007", "issue_date": date(2026, 3, 2), "due_date": date(2026, 4, 1),
        "seller": SELLER, "buyer": BUYER, "bank": BANK,
    }  # fmt: skip
    return compose([make_line()] if lines is None else lines, **{**given, **values})


_REASONS = {"E": "Exempt under § 4 Nr. 21 UStG", "AE": "Reverse charge", "K": "Intra-Community",
            "G": "Export", "O": "Not taxable here"}  # fmt: skip
_DAYS = st.dates(date(2025, 1, 1), date(2027, 12, 31))
_TEXT = st.text(max_size=60)
_NAME = _TEXT.map(lambda text: "Name " + text)
_UNITS = st.sampled_from(["C62", "HUR", "KGM", "MON", "MTK", "LTR"])


@st.composite
def document_lines(draw: st.DrawFn, categories: Sequence[str]) -> DocumentLine:
    category = draw(st.sampled_from(categories))
    rate = draw(st.sampled_from([Decimal("19"), Decimal("7"), Decimal("5.5"), Decimal("20.00")]))
    start = draw(st.none() | _DAYS)
    return make_line(
        description=draw(_NAME),
        quantity=draw(st.decimals("0.0001", "99999", places=4)),
        unit_price=draw(st.decimals(0, "99999", places=4)),
        discount_percent=draw(st.just(Decimal(0)) | st.decimals(0, 100, places=2)),
        tax_rate=rate if category == "S" else Decimal(0),
        tax_category=category,
        tax_exemption_reason=_REASONS.get(category),
        unit_code=draw(_UNITS),
        product_code=draw(st.none() | _TEXT),
        period_start=start,
        period_end=start + timedelta(days=draw(st.integers(0, 60))) if start else None,
    )


@st.composite
def documents(draw: st.DrawFn) -> InvoiceDocument:
    """Documents that every rule allows: invoices and credit notes of all tax categories."""
    categories = draw(
        st.sampled_from([["S"], ["S", "Z", "E"], ["O"], ["AE"], ["K"], ["G"], ["S", "AE", "E"]])
    )
    lines = draw(st.lists(document_lines(categories), min_size=1, max_size=6))
    credited = draw(st.none() | st.builds(CreditedInvoice, number=_NAME, issue_date=_DAYS))
    issued = draw(_DAYS)
    supplies = "K" in categories
    document = make_document(
        lines,
        type="CreditNote" if credited else "Invoice",
        number=draw(_NAME),
        issue_date=issued,
        due_date=draw(st.none() | st.just(issued + timedelta(days=30))),
        service_date=issued if supplies else draw(st.none() | _DAYS),
        currency=draw(st.sampled_from(["EUR", "USD", "PLN", "JPY"])),
        accounting_currency=draw(st.sampled_from([None, "EUR", "PLN"])),
        exchange_rate=draw(st.decimals("0.0001", "400", places=4)),
        language=draw(st.sampled_from(["de", "en", "fr", "es", "it", "pl", "ru"])),
        prices_include_tax=draw(st.booleans()),
        discount_percent=draw(st.just(Decimal(0)) | st.decimals(0, 100, places=2)),
        bank=draw(st.sampled_from([None, BANK])),
        credited=credited,
        purchase_order=draw(st.none() | _TEXT),
        buyer_reference=draw(st.none() | _TEXT),
        notes=draw(st.none() | _TEXT),
        terms=draw(st.none() | _TEXT),
    )
    paid = draw(st.sampled_from([Decimal(0), document.total, document.total / 2]))
    return dataclasses.replace(
        document, amount_due=document.total - rounded(paid, document.currency)
    )
