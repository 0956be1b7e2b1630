"""The price list, and what a line of an invoice takes from it.

A line that names a product takes what it leaves out from it when it is written, and keeps it: a
later change of the product changes no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from app.db import records
from app.invoices.einvoice import codes
from app.invoices.lines import FROM_PRODUCT, UNKNOWN_UNIT, line_field, tax_problems
from app.models.invoice import Invoice
from app.models.product import Product
from app.permissions import allowed
from app.writing.change import Change
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules

PRODUCT = EntityRules(
    model=Product,
    filled=frozenset(("currency",)),
)
# Given together: a line that says one of them says what it is taxed by.
_TAX = ("tax_rate", "tax_category")
_WHOLE_TAX = (*_TAX, "tax_exemption_reason")


class ProductService(EntityService[Product]):
    """Writes of the price list."""

    rules = PRODUCT

    def defaults(self, change: Change[Product]) -> None:
        """In the organisation's currency."""
        if "currency" not in change.values:
            change.values["currency"] = change.settings.defaults.currency

    def check(self, change: Change[Product]) -> None:
        """The unit has a code, and the tax is one that a line may have."""
        unit_code = change.get("unit_code")
        if change.concerns("unit_code") and unit_code not in codes.unit_codes():
            change.refuse("unit_code", UNKNOWN_UNIT)
        if change.concerns(*_WHOLE_TAX):
            taxed = {name: change.get(name) for name in _WHOLE_TAX}
            for attributes, message in tax_problems(taxed):
                change.refuse(attributes[0], message)


PRODUCTS = ProductService()


def values_of(product: Product) -> dict[str, Any]:
    """What a line takes over, by attribute of the line.

    Without a rate in the usual category the line is taxed by what the organisation charges.
    """
    values: dict[str, Any] = {
        "description": product.description or product.name,
        "unit_code": product.unit_code,
        "unit_price": product.unit_price,
        "product_code": product.sku,
    }
    if product.tax_rate is not None:
        values["tax_rate"] = product.tax_rate
    if product.tax_rate is not None or product.tax_category != "S":
        values["tax_category"] = product.tax_category
        values["tax_exemption_reason"] = product.tax_exemption_reason
    return values


def other_price(product: Product, currency: str, *, prices_include_tax: bool) -> str | None:
    """Why the price of a product is not that of a line; None where it is.

    Amounts are never converted here: whoever writes the line says what it costs.
    """
    if product.currency != currency:
        return (
            f"must be given: the price of the product is in {product.currency},"
            f" the invoice in {currency}"
        )
    if product.prices_include_tax != prices_include_tax:
        with_tax, without = "contains tax", "does not contain tax"
        own, others = (with_tax, without) if product.prices_include_tax else (without, with_tax)
        return f"must be given: the price of the product {own}, that of the invoice {others}"
    return None


def take_over(change: Change[Invoice], lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a body, with what they leave out taken from the products that they name.

    Notes a problem where a product has no price for the invoice, or is not active any more.
    """
    copies = [dict(line) for line in lines]
    if change.history is not None:  # what was written elsewhere is whole
        return copies
    products = _products(change, {line.get("product_id") for line in copies})
    for index, line in enumerate(copies):
        product = products.get(line.get("product_id"))
        if product is not None:
            _fill(change, index, line, product)
    return copies


def _products(change: Change[Invoice], keys: set[int | None]) -> Mapping[int | None, Product]:
    """Those that the caller may read; the references to others are refused."""
    named = keys - {None}
    if not named:
        return {}
    products = records.read_all(select(Product).where(Product.id.in_(named)))
    return {
        product.id: product
        for product in products
        if allowed(change.caller, PRODUCT.permissions["read"], product)
    }


def _fill(change: Change[Invoice], index: int, line: dict[str, Any], product: Product) -> None:
    needs = [name for name in FROM_PRODUCT if line.get(name) is None]
    if needs and not product.is_active:
        change.refuse_field(line_field(change, index, "product_id"), "is not active any more")
    values = values_of(product)
    if not line.keys().isdisjoint(_TAX):
        for name in _WHOLE_TAX:
            values.pop(name, None)
    if "unit_price" in needs:
        other = other_price(
            product, change.get("currency"), prices_include_tax=change.get("prices_include_tax")
        )
        if other is not None:
            change.refuse_field(line_field(change, index, "unit_price"), other)
    for name, value in values.items():
        if line.get(name) is None:
            line[name] = value
