"""Products: what is sold again and again, with its price; lines of invoices begin with it."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, string
from app.models.columns import Entity, Percent, column, entity_args
from app.models.invoice import TAX_CATEGORIES


class Product(Entity):
    """An entry of the price list: what a line of an invoice takes over, and then keeps."""

    __tablename__ = "products"

    sku: Mapped[str | None] = column("Article number.", string(64), unique=True, searchable=True)
    name: Mapped[str] = column("Name.", string(200), searchable=True)
    description: Mapped[str | None] = column(
        "Text of its lines on invoices; the name by default.", string(1000)
    )
    unit_code: Mapped[str] = column(
        "Unit: a code of UN/ECE Recommendation 20 or 21 such as C62, HUR or XBX.", string(3),
        default="C62",
    )  # fmt: skip
    unit_price: Mapped[Decimal] = column("Price of one unit.", ExactDecimal(15, 4), minimum=0)
    currency: Mapped[str] = column(
        "Currency of the price; the organisation's by default.", string(3), format="currency"
    )
    prices_include_tax: Mapped[bool] = column("The price contains the tax.", default=False)
    tax_rate: Mapped[Decimal | None] = column(
        "Tax in percent; without one, what the organisation charges when a line is written.",
        Percent,
        minimum=0,
        maximum=100,
    )
    tax_category: Mapped[str] = column(
        "Tax category (EN 16931).", string(2), default="S", allowed=TAX_CATEGORIES
    )
    tax_exemption_reason: Mapped[str | None] = column(
        "Why no tax is charged; required for E, AE, K, G, O.", string(255)
    )
    is_active: Mapped[bool] = column("New lines may take it.", default=True)

    __table_args__ = entity_args(
        Index("ix_products_name", "name"),
        Index("ix_products_unit_price", "unit_price"),
    )
