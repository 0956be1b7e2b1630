"""Headings become properties, cells become values, and what is not clear stays a text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from app.crm.importing.columns import Column, plan_columns, row_values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1234.5", Decimal("1234.5")), ("1234,5", Decimal("1234.5")),
        ("1,234.50", Decimal("1234.50")), ("1.234,50", Decimal("1234.50")),
        ("1 234,50", Decimal("1234.50")), ("1\u00a0234.5", Decimal("1234.5")),
        ("1'234'567.8", Decimal("1234567.8")), ("-5", Decimal(-5)), ("1.234", Decimal("1.234")),
        ("1,234", "1,234"), ("much", "much"), ("NaN", "NaN"), ("1e999999999", "1e999999999"),
        ("9" * 41, "9" * 41), ("12,34,56", "12,34,56"),
    ],
)  # fmt: skip
def test_numbers_are_read_as_they_are_written(text: str, value: Any) -> None:
    if text == "1e999999999":  # finite, and refused by the property
        value = Decimal(text)
    assert row_values("client", [Column("Revenue", "revenue")], [text]) == {"revenue": value}


@pytest.mark.parametrize(
    ("heading", "target"),
    [
        ("name", "name"), ("Tax ID", "taxId"), ("VAT number", "taxId"), ("E-Mail", "email"),
        ("PAYMENT TERMS DAYS", "paymentTermsDays"), ("Zip", "billingAddress.postalCode"),
        ("billingAddress.city", "billingAddress.city"), ("Shipping address city",
        "shippingAddress.city"), ("customFields.segment", "customFields.segment"),
        ("External id", "externalId"),
    ],
)  # fmt: skip
def test_usual_headings_are_recognised(heading: str, target: str) -> None:
    assert plan_columns("client", [heading], {}) == ([Column(heading, target)], [])


@pytest.mark.parametrize(
    ("headings", "mapping", "wrong"),
    [
        (["colour"], {}, ["colour"]),
        (["name", "Name"], {}, ["Name"]),
        (["a"], {"a": "colour"}, ["a"]),
        (["a"], {"b": "name"}, ["b", "a"]),
        (["name", ""], {}, []),
        (["name", "rank"], {"rank": None}, []),
        (["rank"], {"rank": None}, [""]),
        (["number"], {}, ["number"]),
        (["customFields."], {}, ["customFields."]),
    ],
)
def test_headings_that_are_nothing_are_problems(
    headings: list[str], mapping: dict[str, Any], wrong: list[str]
) -> None:
    _, problems = plan_columns("client", headings, mapping)
    assert [heading for heading, _ in problems] == wrong


def test_cells_become_values_of_their_properties() -> None:
    columns = [Column(name, name) for name in ("doNotContact", "score", "consentAt", "tags")]
    cells = ["Ja", "80", "2026-05-01 10:30", "a; b|c,"]
    assert row_values("lead", columns, cells) == {
        "do_not_contact": True, "score": 80, "consent_at": "2026-05-01T10:30Z",
        "tags": ["a", "b", "c"],
    }  # fmt: skip
    assert row_values("lead", columns, ["perhaps", "8.5", "soon", ""]) == {
        "do_not_contact": "perhaps", "score": "8.5", "consent_at": "soon",
    }  # fmt: skip
