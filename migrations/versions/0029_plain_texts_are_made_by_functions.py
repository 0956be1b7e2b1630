"""PostgreSQL makes the plain form of texts by functions of their tables (docs/adr/0027)."""

from __future__ import annotations

from alembic import op

from app.models import searched
from migrations import search_index

revision = "0029"
down_revision = "0028"

FIELDS: dict[str, searched.Fields] = {
    "clients": (("name",), ("legal_name",), ("email",), ("tax_id",), ("number",)),
    "contacts": (("first_name", "last_name"), ("email",)),
    "leads": (("company",), ("first_name", "last_name"), ("email",), ("tax_id",)),
    "opportunities": (("name",),),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        search_index.change_fields(op.get_bind(), FIELDS)


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        search_index.drop(op.get_bind(), FIELDS)
        search_index.create(op.get_bind(), FIELDS)
