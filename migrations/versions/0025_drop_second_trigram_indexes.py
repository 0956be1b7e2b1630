"""No second index of trigrams where the plain form has one (docs/adr/0027)."""

from __future__ import annotations

from alembic import op

from migrations import trigrams

revision = "0025"
down_revision = "0024"

SEARCHABLE = {
    "clients": ("name", "email", "tax_id", "legal_name"),
    "contacts": ("first_name", "last_name", "email"),
    "opportunities": ("name",),
    "leads": ("last_name", "company", "email"),
}


def upgrade() -> None:
    trigrams.drop(op.get_bind(), SEARCHABLE)


def downgrade() -> None:
    trigrams.create(op.get_bind(), SEARCHABLE)
