"""A line takes from its product what it leaves out, and keeps it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from app.errors import DuplicateError, InUseError, ValidationError
from app.http.security import Caller, acting_as, make_caller
from app.invoices.steps import create_credit_note, issue_invoice
from app.models.invoice import LineItem
from app.permissions import ROLES
from app.settings import save_settings
from app.writing.services import SERVICES
from tests.factories import (
    event_names,
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_product,
    rows,
    stored,
    update,
)

TAKEN = ("description", "unit_code", "unit_price", "product_code", "tax_rate", "tax_category")


def taken(key: int) -> tuple[Any, ...]:
    (row,) = rows(LineItem, invoice_id=key)
    return tuple(row[name] for name in TAKEN)


def problems(**values: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        make_invoice(**values)
    return {detail.field: detail.message for detail in refused.value.details}


def test_a_product_is_in_the_currency_of_the_organisation(admin: Caller) -> None:
    save_settings("defaults", {"currency": "CHF"})
    key = make_product(name="Advice")
    row = stored("Product", key)
    assert (row["currency"], row["unit_code"], row["tax_category"]) == ("CHF", "C62", "S")
    assert (row["tax_rate"], row["is_active"], row["version"]) == (None, True, 1)
    assert event_names("Product", key) == ["product.created"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"unit_code": "hours"}, "unitCode"),
        ({"unit_price": Decimal(-1)}, "unitPrice"),
        ({"currency": "euro"}, "currency"),
        ({"tax_rate": Decimal(0)}, "taxRate"),
        ({"tax_category": "Z", "tax_rate": Decimal(7)}, "taxRate"),
        ({"tax_category": "AE"}, "taxExemptionReason"),
    ],
)
def test_a_product_has_what_a_line_may_have(
    admin: Caller, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        make_product(**values)
    assert [detail.field for detail in refused.value.details] == [field]


def test_an_article_number_is_that_of_one_product(admin: Caller) -> None:
    make_product(sku="A-1")
    with pytest.raises(DuplicateError) as refused:
        make_product(sku="A-1")
    assert [detail.field for detail in refused.value.details] == ["sku"]


def test_a_line_takes_what_it_leaves_out(admin: Caller) -> None:
    product = make_product(
        sku="SRV-1", name="Advice", description="Advice, an hour", unit_code="HUR",
        unit_price=Decimal("128.5"), tax_rate=Decimal(7),
    )  # fmt: skip
    key = make_invoice(line_items=[{"product_id": product, "quantity": Decimal(2)}])
    assert taken(key) == ("Advice, an hour", "HUR", Decimal("128.5"), "SRV-1", 7, "S")
    assert stored("Invoice", key)["total"] == Decimal("274.99")


def test_what_a_line_says_stands(admin: Caller) -> None:
    product = make_product(
        name="Advice", unit_code="HUR", tax_category="E", tax_exemption_reason="A school"
    )
    own = line("80", product_id=product, unit_code="DAY")
    key = make_invoice(line_items=[own])
    assert taken(key) == ("Work", "DAY", 80, None, 19, "S")
    (row,) = rows(LineItem, invoice_id=key)
    assert row["tax_exemption_reason"] is None  # whoever says the rate says how it is taxed


def test_tax_without_a_rate_is_what_the_organisation_charges(admin: Caller) -> None:
    product = make_product(name="Advice")
    exempt = make_product(tax_category="E", tax_exemption_reason="A school")
    save_settings("defaults", {"taxRate": Decimal("8.1")})
    assert taken(make_invoice(line_items=[{"product_id": product}]))[4:] == (Decimal("8.1"), "S")
    assert taken(make_invoice(line_items=[{"product_id": exempt}]))[4:] == (0, "E")
    save_settings("defaults", {"taxRate": Decimal("0")})
    assert taken(make_invoice(line_items=[{"product_id": product}]))[4:] == (0, "Z")


def test_a_line_keeps_its_values(admin: Caller) -> None:
    product = make_product(name="Advice", unit_price=Decimal(100))
    draft = make_invoice(line_items=[{"product_id": product}])
    issued = make_issued_invoice(line_items=[{"product_id": product}])
    update("Product", product, unit_price=Decimal(200), name="Dear advice")
    update("Invoice", draft, notes="changed")
    for key in (draft, issued):
        assert taken(key)[:3] == ("Advice", "C62", 100)


def test_an_added_line_takes_the_values_of_now(admin: Caller) -> None:
    product = make_product(name="Advice", unit_price=Decimal(100))
    key = make_invoice(line_items=[line("50")])
    update("Product", product, unit_price=Decimal(120))
    update("Invoice", key, line_items=[line("50"), {"product_id": product}])
    assert [row["unit_price"] for row in rows(LineItem, invoice_id=key)] == [50, 120]


def test_a_price_in_another_currency_is_asked_for(admin: Caller) -> None:
    product = make_product(name="Advice", currency="EUR")
    client_id = make_client(currency="USD")
    assert problems(client_id=client_id, line_items=[{"product_id": product}]) == {
        "lineItems[0].unitPrice": "must be given: the price of the product is in EUR,"
        " the invoice in USD"
    }
    given = {"product_id": product, "unit_price": Decimal(140)}
    key = make_invoice(client_id=client_id, line_items=[given])
    assert taken(key)[:3] == ("Advice", "C62", 140)


def test_a_price_with_tax_is_none_without(admin: Caller) -> None:
    product = make_product(prices_include_tax=True)
    found = problems(line_items=[{"product_id": product}])
    assert found == {
        "lineItems[0].unitPrice": "must be given: the price of the product contains tax,"
        " that of the invoice does not contain tax"
    }
    key = make_invoice(prices_include_tax=True, line_items=[{"product_id": product}])
    assert stored("Invoice", key)["total"] == 100


def test_what_is_not_active_gives_nothing(admin: Caller) -> None:
    product = make_product(is_active=False)
    assert problems(line_items=[{"product_id": product}]) == {
        "lineItems[0].productId": "is not active any more"
    }
    assert make_invoice(line_items=[line(product_id=product)])


def test_a_line_without_product_needs_text_and_price(admin: Caller) -> None:
    assert problems(line_items=[{"quantity": Decimal(1)}]) == {
        "lineItems[0].description": "is required", "lineItems[0].unitPrice": "is required",
    }  # fmt: skip


def test_a_product_that_nobody_may_see_is_none(admin: Caller) -> None:
    product = make_product()
    rights = {name: scope for name, scope in ROLES["Admin"].items() if name != "products:read"}
    with acting_as(make_caller(admin.user_id, "key", "apiKey", rights)):
        assert problems(line_items=[{"product_id": product}]) == {
            "lineItems[0].productId": f"there is no product {product}",
            "lineItems[0].description": "is required",
            "lineItems[0].unitPrice": "is required",
        }


def test_a_credit_note_takes_over_lines_of_a_product_that_is_gone_from_the_list(
    admin: Caller,
) -> None:
    product = make_product(name="Advice")
    issued = make_issued_invoice(line_items=[{"product_id": product}])
    update("Product", product, is_active=False)
    note = create_credit_note(issued)
    (row,) = rows(LineItem, invoice_id=note)
    assert (row["product_id"], row["description"]) == (product, "Advice")


def test_what_was_billed_keeps_its_product_and_drafts_let_it_go(admin: Caller) -> None:
    product = make_product(name="Advice")
    key = make_invoice(line_items=[{"product_id": product}])
    SERVICES["Product"].delete(product)
    (row,) = rows(LineItem, invoice_id=key)
    assert (row["product_id"], row["description"], row["unit_price"]) == (None, "Advice", 100)
    product = make_product(name="Advice")
    issued = make_invoice(line_items=[{"product_id": product}])
    issue_invoice(issued)
    with pytest.raises(InUseError, match="line"):
        SERVICES["Product"].delete(product)
