"""The trigram indexes behind ``contains``."""

from __future__ import annotations

from alembic import op

from migrations import trigrams

revision = "0014"
down_revision = "0013"

SEARCHABLE = {
    "clients": (
        "name",
        "email",
        "tax_id",
        "legal_name",
    ),
    "contacts": (
        "first_name",
        "last_name",
        "email",
    ),
    "opportunities": ("name",),
    "leads": (
        "last_name",
        "company",
        "email",
    ),
    "tickets": (
        "number",
        "subject",
    ),
    "kb_articles": ("title",),
    "documents": ("name",),
    "projects": (
        "code",
        "name",
    ),
    "invoices": (
        "reference",
        "number",
    ),
    "tasks": ("title",),
}


def upgrade() -> None:
    trigrams.create(op.get_bind(), SEARCHABLE)


def downgrade() -> None:
    trigrams.drop(op.get_bind(), SEARCHABLE)
