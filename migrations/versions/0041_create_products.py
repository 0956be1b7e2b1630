"""A price list, and lines of invoices that name the product they began with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models import searched
from migrations import search_index

revision = "0041"
down_revision = "0040"

FIELDS: dict[str, searched.Fields] = {"products": (("sku",), ("name",))}
_KEY = "fk_line_items_product_id_products"


def upgrade() -> None:
    create_products()
    search_index.change_fields(op.get_bind(), FIELDS)
    with op.batch_alter_table("line_items") as table:
        table.add_column(sa.Column("product_id", Identifier))
        table.create_foreign_key(_KEY, "products", ["product_id"], ["id"])
    given = sa.text("product_id IS NOT NULL")
    op.create_index(
        "ix_line_items_product_id", "line_items", ["product_id"],
        sqlite_where=given, postgresql_where=given,
    )  # fmt: skip


def downgrade() -> None:
    op.drop_index("ix_line_items_product_id", "line_items")
    with op.batch_alter_table("line_items") as table:
        table.drop_column("product_id")
    search_index.drop(op.get_bind(), FIELDS)
    op.drop_table("products")


def create_products() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    unique = [sa.UniqueConstraint("external_id", name="uq_products_external_id")] * is_sqlite
    percent = "tax_rate >= 0 AND tax_rate <= " + ("10000" if is_sqlite else "100")
    op.create_table(
        "products",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("sku", string(64)),
        sa.Column("name", string(200), nullable=False),
        sa.Column("description", string(1000)),
        sa.Column("unit_code", string(3), nullable=False),
        sa.Column("unit_price", ExactDecimal(15, 4), nullable=False),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("prices_include_tax", sa.Boolean(), nullable=False),
        sa.Column("tax_rate", ExactDecimal(5, 2)),
        sa.Column("tax_category", string(2), nullable=False),
        sa.Column("tax_exemption_reason", string(255)),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_products"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_products_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_products_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_products_updated_by_id_users"
        ),
        sa.UniqueConstraint("sku", name="uq_products_sku"),
        *unique,
        sa.CheckConstraint("unit_price >= 0", name=op.f("ck_products_unit_price_range")),
        sa.CheckConstraint(percent, name=op.f("ck_products_tax_rate_range")),
        sa.CheckConstraint(
            "tax_category IN ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')",
            name=op.f("ck_products_tax_category_allowed"),
        ),
        sqlite_autoincrement=True,
    )
    if not is_sqlite:
        op.create_index(
            "uq_products_external_id", "products", ["external_id"], unique=True,
            postgresql_where=sa.text("external_id IS NOT NULL"),
        )  # fmt: skip
    for column in ("created_at", "created_by_id", "name", "owner_id", "unit_price", "updated_at"):
        op.create_index(f"ix_products_{column}", "products", [column])
