"""Every text that is searched has one index, of its plain form (docs/adr/0027)."""

from __future__ import annotations

from alembic import op

from app.models import searched
from migrations import search_index, trigrams

revision = "0038"
down_revision = "0037"

FIELDS: dict[str, searched.Fields] = {
    "tickets": (("number",), ("subject",)),
    "kb_articles": (("title",),),
    "documents": (("name",),),
    "projects": (("code",), ("name",)),
    "invoices": (("number",), ("reference",)),
    "tasks": (("title",),),
}
BEFORE = {
    "tickets": ("number", "subject"),
    "kb_articles": ("title",),
    "documents": ("name",),
    "projects": ("code", "name"),
    "invoices": ("reference", "number"),
    "tasks": ("title",),
}


def upgrade() -> None:
    trigrams.drop(op.get_bind(), BEFORE)
    search_index.change_fields(op.get_bind(), FIELDS)


def downgrade() -> None:
    search_index.drop(op.get_bind(), FIELDS)
    trigrams.create(op.get_bind(), BEFORE)
