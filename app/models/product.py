"""Products: what is sold again and again, with its price; lines of invoices begin with it."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import Boolean, Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, string
from app.models.columns import Entity, Percent, column, entity_args
from app.models.invoice import TAX_CATEGORIES


class Product(Entity):
    """An entry of the price list: what a line of an invoice takes over, and then keeps."""

    __tablename__ = "products"

    sku: Mapped[str | None] = column(string(64), "Article number.", unique=True, searchable=True)
    name: Mapped[str] = column(string(200), "Name.", searchable=True)
    description: Mapped[str | None] = column(
        string(1000), "Text of its lines on invoices; the name by default."
    )
    unit_code: Mapped[str] = column(
        string(3), "Unit: a code of UN/ECE Recommendation 20 or 21 such as C62, HUR or XBX.",
        default="C62",
    )  # fmt: skip
    unit_price: Mapped[Decimal] = column(ExactDecimal(15, 4), "Price of one unit.", minimum=0)
    currency: Mapped[str] = column(
        string(3), "Currency of the price; the organisation's by default.", format="currency"
    )
    prices_include_tax: Mapped[bool] = column(Boolean, "The price contains the tax.", default=False)
    tax_rate: Mapped[Decimal | None] = column(
        Percent,
        "Tax in percent; without one, what the organisation charges when a line is written.",
        minimum=0,
        maximum=100,
    )
    tax_category: Mapped[str] = column(
        string(2), "Tax category (EN 16931).", default="S", allowed=TAX_CATEGORIES
    )
    tax_exemption_reason: Mapped[str | None] = column(
        string(255), "Why no tax is charged; required for E, AE, K, G, O."
    )
    is_active: Mapped[bool] = column(Boolean, "New lines may take it.", default=True)

    __table_args__ = entity_args(
        Index("ix_products_name", "name"),
        Index("ix_products_unit_price", "unit_price"),
    )
