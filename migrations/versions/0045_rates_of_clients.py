"""A document keeps the rate of its client's currency; those issued before get the one of now."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal

revision = "0045"
down_revision = "0044"

RATE = ExactDecimal(18, 8)
_RATES = sa.text("SELECT CAST(value AS TEXT) FROM settings WHERE name = 'exchangeRates'")
_ISSUED = sa.text(
    "UPDATE invoices SET client_rate = :rate WHERE status <> 'Draft'"
    " AND client_id IN (SELECT id FROM clients WHERE currency = :currency)"
).bindparams(sa.bindparam("rate", type_=RATE))


def upgrade() -> None:
    op.add_column("invoices", sa.Column("client_rate", RATE))
    connection = op.get_bind()
    rates = json.loads(connection.execute(_RATES).scalar() or "{}", parse_float=str)
    for currency, rate in rates.items():
        connection.execute(_ISSUED, {"rate": rate, "currency": currency})


def downgrade() -> None:
    op.drop_column("invoices", "client_rate")
