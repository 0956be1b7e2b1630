"""Texts that changed wait beside the index of the search, and enter it together (docs/adr/0027)."""

from __future__ import annotations

from alembic import op

from app.models import searched
from migrations import search_index

revision = "0026"
down_revision = "0025"

FIELDS: dict[str, searched.Fields] = {
    "clients": (("name",), ("legal_name",), ("email",), ("tax_id",), ("number",)),
    "contacts": (("first_name", "last_name"), ("email",)),
    "leads": (("company",), ("first_name", "last_name"), ("email",), ("tax_id",)),
    "opportunities": (("name",),),
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        search_index.let_changes_wait(op.get_bind(), FIELDS)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        search_index.index_at_once(op.get_bind(), FIELDS)
