"""Drafts: lines, defaults, amounts, and what a draft may not be."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from app.errors import Detail, InvalidStateError, ValidationError
from app.http.security import Caller
from app.invoices.lines import LINE_ITEM, keys_kept
from app.models.event import Event
from app.models.invoice import LineItem
from app.settings import save_settings
from app.writing.services import SERVICES
from tests.factories import (
    create,
    day,
    event_names,
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    rows,
    stored,
    update,
)


def amounts(key: int) -> tuple[str, str, str, str]:
    row = stored("Invoice", key)
    return tuple(str(row[name]) for name in ("subtotal", "discount_total", "tax_total", "total"))


def fields(values: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        make_invoice(**values)
    return {detail.field: detail.message for detail in refused.value.details}


def test_lines_come_with_the_invoice_and_are_added_up(admin: Caller) -> None:
    key = make_invoice(
        line_items=[
            line("100", quantity=Decimal("1.5")),
            line("20", discount_percent=Decimal(10)),
            line("50", tax_rate=Decimal(7)),
        ],
        discount_percent=Decimal(10),
    )
    assert amounts(key) == ("218.00", "21.80", "31.88", "228.08")
    assert stored("Invoice", key)["tax_breakdown"] == [
        {"taxCategory": "S", "taxRate": 19, "taxable": 151.2, "tax": 28.73},
        {"taxCategory": "S", "taxRate": 7, "taxable": 45, "tax": 3.15},
    ]
    assert [row["line_net"] for row in rows(LineItem, invoice_id=key)] == [150, 18, 50]
    assert [row["position"] for row in rows(LineItem, invoice_id=key)] == [1, 2, 3]


def test_gross_prices(admin: Caller) -> None:
    key = make_invoice(line_items=[line("119"), line("10")], prices_include_tax=True)
    assert amounts(key) == ("108.40", "0.00", "20.60", "129.00")
    assert [row["line_total"] for row in rows(LineItem, invoice_id=key)] == [119, 10]


def test_a_draft_needs_only_its_client(admin: Caller) -> None:
    key = create("Invoice", {"client_id": make_client(currency="USD")})
    row = stored("Invoice", key)
    assert (row["status"], row["number"], row["currency"]) == ("Draft", None, "USD")
    assert (row["issue_date"], row["due_date"], row["series"]) == (None, None, "INV")
    assert amounts(key) == ("0.00", "0.00", "0.00", "0.00")
    assert event_names("Invoice", key) == ["invoice.created"]


def test_a_line_gets_what_it_leaves_out(admin: Caller) -> None:
    save_settings("defaults", {"taxRate": Decimal("8.1"), "currency": "CHF"})
    short = {"description": "A", "unit_price": Decimal(10)}
    key = make_invoice(
        line_items=[
            short,
            short | {"tax_rate": 0},
            short | {"tax_category": "AE", "tax_exemption_reason": "Reverse charge"},
        ]
    )
    first, second, third = rows(LineItem, invoice_id=key)
    assert (first["quantity"], first["unit_code"], first["tax_rate"], first["tax_category"]) == (
        1, "C62", Decimal("8.10"), "S",
    )  # fmt: skip
    assert (second["tax_category"], third["tax_rate"]) == ("Z", 0)


def test_an_organisation_that_charges_no_tax_has_lines_of_rate_zero(admin: Caller) -> None:
    save_settings("defaults", {"taxRate": 0})
    short = {"description": "A", "unit_price": Decimal(10)}
    reason = {"tax_category": "E", "tax_exemption_reason": "Small business"}
    key = make_invoice(line_items=[short, short | reason, short | {"tax_rate": Decimal(19)}])
    found = [(row["tax_category"], row["tax_rate"]) for row in rows(LineItem, invoice_id=key)]
    assert found == [("Z", 0), ("E", 0), ("S", 19)]
    with pytest.raises(ValidationError) as refused:
        make_invoice(line_items=[short | {"tax_category": "S"}])
    text = "must be more than 0 in category S; 0 has another taxCategory: Z, E, AE, K, G, O"
    assert refused.value.details == (Detail("lineItems[0].taxRate", text),)


@pytest.mark.parametrize(
    ("bad", "field", "part"),
    [
        ({"quantity": 0}, "quantity", "more than 0"),
        ({"quantity": Decimal("-1")}, "quantity", "0 or more"),
        ({"quantity": Decimal("1.00001")}, "quantity", "4 decimals"),
        ({"unit_price": Decimal("-0.01")}, "unitPrice", "0 or more"),
        ({"unit_price": Decimal(10) ** 10, "quantity": Decimal(10) ** 7}, "unitPrice", "too large"),
        ({"tax_rate": 101}, "taxRate", "between 0 and 100"),
        ({"tax_category": "AE", "tax_rate": 0}, "taxExemptionReason", "required"),
        ({"tax_category": "Z"}, "taxRate", "must be 0"),
        ({"tax_category": "S", "tax_rate": 0}, "taxRate", "more than 0"),
        ({"tax_category": "X"}, "taxCategory", "one of"),
        ({"description": None}, "description", "null"),
        ({"description": "x" * 1001}, "description", "1,000"),
        ({"period_start": "2026-02-01", "period_end": "2026-01-01"}, "periodEnd", "before"),
        ({"task_id": 987_654}, "taskId", "no task"),
        ({"position": -1}, "position", "0 or more"),
        ({"colour": "red"}, "colour", "not a property"),
    ],
)
def test_a_bad_line_is_named_by_its_place(
    admin: Caller, bad: dict[str, Any], field: str, part: str
) -> None:
    found = fields({"line_items": [line(), line() | bad]})
    assert list(found) == [f"lineItems[1].{field}"]
    assert part in found[f"lineItems[1].{field}"]


@pytest.mark.parametrize("bad", [5, "lines", {"a": 1}, [5], [None], [line()] * 1001])
def test_lines_are_a_list_of_objects(admin: Caller, bad: Any) -> None:
    assert set(fields({"line_items": bad})) <= {"lineItems", "lineItems[0]"}


def test_too_many_lines_are_told_how_many_there_are_and_what_to_do(admin: Caller) -> None:
    assert fields({"line_items": [line()] * 5000}) == {
        "lineItems": "must have at most 1,000 entries, not 5,000: divide them among several"
    }


def test_a_line_names_what_it_lacks(admin: Caller) -> None:
    assert set(fields({"line_items": [{}, line()]})) == {
        "lineItems[0].description", "lineItems[0].unitPrice",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"issue_date": "2026-02-01", "due_date": "2026-01-31"}, "dueDate"),
        ({"series": "A/B"}, "series"),
        ({"series": "ÄÖ"}, "series"),
        ({"discount_percent": Decimal("100.01")}, "discountPercent"),
        ({"credited_invoice_id": 1}, "creditedInvoiceId"),
        ({"type": "CreditNote"}, "creditedInvoiceId"),
        ({"line_items": [line("9999999999", quantity=Decimal(999))] * 2}, "lineItems"),
    ],
)
def test_a_draft_refuses(admin: Caller, values: dict[str, Any], field: str) -> None:
    assert list(fields(values)) == [field]


def test_lines_are_replaced_as_a_whole(admin: Caller) -> None:
    key = make_invoice(line_items=[line("100"), line("50")])
    update("Invoice", key, line_items=[line("30", description="Other")])
    assert [row["description"] for row in rows(LineItem, invoice_id=key)] == ["Other"]
    assert amounts(key) == ("30.00", "0.00", "5.70", "35.70")
    previous = rows(Event, entity="Invoice", entity_id=key)[-1]["payload"]["previous"]
    assert [entry["unitPrice"] for entry in previous["lineItems"]] == [100, 50]
    assert previous["total"] == 178.5


def test_the_same_lines_are_no_change(admin: Caller) -> None:
    key = make_invoice(line_items=[line("100"), line("50")])
    before = [row["id"] for row in rows(LineItem, invoice_id=key)]
    update("Invoice", key, line_items=[line("100.00"), line("50", quantity=1)])
    assert [row["id"] for row in rows(LineItem, invoice_id=key)] == before
    assert stored("Invoice", key)["version"] == 1


@pytest.mark.parametrize(
    ("after", "keys"),
    [
        ("abc", [1, 2, 3]),
        ("aXc", [1, 2, 3]),
        ("XYZ", [1, 2, 3]),
        ("abcd", [1, 2, 3, None]),
        ("ac", [1, 3]),
        ("bcd", [2, 3, None]),
        ("aXbc", [1, None, None, None]),
        ("", []),
        ("Z", [None]),
    ],
)
def test_lines_that_stay_keep_their_keys(after: str, keys: list[int | None]) -> None:
    def named(names: str) -> list[dict[str, Any]]:
        rest = dict.fromkeys(LINE_ITEM.writable)
        return [rest | {"description": name, "position": 0} for name in names]

    before = [row | {"id": key} for key, row in enumerate(named("abc"), start=1)]
    assert keys_kept(before, named(after)) == keys


def test_a_change_of_the_discount_counts_for_the_lines_that_are_there(admin: Caller) -> None:
    key = make_invoice()
    update("Invoice", key, discount_percent=50)
    assert amounts(key) == ("100.00", "50.00", "9.50", "59.50")
    update("Invoice", key, prices_include_tax=True, discount_percent=0)
    assert amounts(key) == ("84.03", "0.00", "15.97", "100.00")
    assert [row["line_net"] for row in rows(LineItem, invoice_id=key)] == [Decimal("84.03")]


def test_a_draft_can_lose_its_lines_and_be_deleted(admin: Caller) -> None:
    key = make_invoice()
    update("Invoice", key, line_items=[])
    assert amounts(key)[-1] == "0.00"
    SERVICES["Invoice"].delete(key)
    assert event_names("Invoice", key)[-1] == "invoice.deleted"


def test_an_issued_invoice_cannot_be_deleted(admin: Caller) -> None:
    with pytest.raises(InvalidStateError, match="Sent cannot be deleted"):
        SERVICES["Invoice"].delete(make_issued_invoice())


def test_foreign_currency_has_its_rate_and_base_total(admin: Caller) -> None:
    save_settings("exchangeRates", {"USD": Decimal("0.5")})
    row = stored("Invoice", make_invoice(currency="USD"))
    assert (row["exchange_rate"], row["base_total"]) == (Decimal("0.5"), Decimal("59.50"))
    unknown = stored("Invoice", make_invoice(currency="JPY"))
    assert (unknown["exchange_rate"], unknown["base_total"]) == (0, 0)


def test_dates_are_dates(admin: Caller) -> None:
    key = make_invoice(issue_date="2026-01-31", due_date=date(2026, 2, 28))
    row = stored("Invoice", key)
    assert (row["issue_date"], row["due_date"]) == (day("2026-01-31"), day("2026-02-28"))
