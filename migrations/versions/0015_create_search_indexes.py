"""The indexes behind the search of customer relations."""

from __future__ import annotations

from alembic import op

from app.models import searched
from migrations import search_index

revision = "0015"
down_revision = "0014"

FIELDS: dict[str, searched.Fields] = {
    "clients": (("name",), ("legal_name",), ("email",), ("tax_id",), ("number",)),
    "contacts": (("first_name", "last_name"), ("email",)),
    "leads": (("company",), ("first_name", "last_name"), ("email",), ("tax_id",)),
    "opportunities": (("name",),),
}


def upgrade() -> None:
    search_index.create(op.get_bind(), FIELDS)


def downgrade() -> None:
    search_index.drop(op.get_bind(), FIELDS)
