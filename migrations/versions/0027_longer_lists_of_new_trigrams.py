"""PostgreSQL's indexes of trigrams take new entries in larger parts (docs/adr/0004)."""

from __future__ import annotations

from alembic import op

revision = "0027"
down_revision = "0026"

INDEXES = (
    "ix_clients_text_trigrams", "ix_contacts_text_trigrams", "ix_leads_text_trigrams",
    "ix_opportunities_text_trigrams", "ix_tickets_trigrams", "ix_kb_articles_trigrams",
    "ix_documents_trigrams", "ix_projects_trigrams", "ix_invoices_trigrams", "ix_tasks_trigrams",
    "ix_document_contents_trigrams",
)  # fmt: skip


def upgrade() -> None:
    _set_limit(512)


def downgrade() -> None:
    _set_limit(256)


def _set_limit(kilobytes: int) -> None:
    if op.get_bind().dialect.name == "sqlite":
        return
    for name in INDEXES:  # a server without pg_trgm has none
        op.execute(f"ALTER INDEX IF EXISTS {name} SET (gin_pending_list_limit = {kilobytes})")
