"""Amounts of money keep three digits behind the point, as some currencies have (docs/adr/0014).

SQLite keeps them as whole numbers of the smallest unit, which is a thousandth now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

COLUMNS = {
    "clients": (
        "revenue", "credit_limit", "invoiced_total", "outstanding_balance", "credit_balance",
    ),
    "opportunities": ("amount", "weighted_amount", "base_amount"),
    "leads": ("estimated_value",),
    "projects": ("budget_amount", "hourly_rate"),
    "tasks": ("hourly_rate",),
    "invoices": (
        "subtotal", "discount_total", "tax_total", "total", "amount_paid", "amount_credited",
        "amount_due", "base_total",
    ),
    "issue_records": ("total",),
    "payments": ("amount",),
    "line_items": ("line_subtotal", "discount_amount", "line_net", "tax_amount", "line_total"),
}  # fmt: skip


def upgrade() -> None:
    _change(sa.Numeric(16, 3), "{0} * 10")


def downgrade() -> None:
    _change(sa.Numeric(15, 2), "({0} + CASE WHEN {0} < 0 THEN -5 ELSE 5 END) / 10")


def _change(kind: sa.Numeric, scaled: str) -> None:
    """One statement a table: PostgreSQL writes its rows anew, which it does once then."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table, names in COLUMNS.items():
        if is_sqlite:
            changes = ", ".join(f"{name} = {scaled.format(name)}" for name in names)
            op.execute(f"UPDATE {table} SET {changes}")
        else:
            types = f"NUMERIC({kind.precision}, {kind.scale})"
            changes = ", ".join(f"ALTER COLUMN {name} TYPE {types}" for name in names)
            op.execute(f"ALTER TABLE {table} {changes}")
