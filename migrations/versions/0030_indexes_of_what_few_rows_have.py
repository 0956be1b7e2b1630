"""Indexes of what few rows have hold those rows only (docs/adr/0027).

On SQLite the external ids keep theirs: it belongs to a constraint, which would take making the
tables anew to lose, and a change of another column does not touch it there.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

KEYS = (
    ("clients", "origin_lead_id"),
    ("leads", "converted_client_id"),
    ("leads", "converted_contact_id"),
    ("leads", "converted_opportunity_id"),
    ("opportunities", "lead_id"),
    ("tickets", "merged_into_id"),
    ("kb_articles", "translation_of_id"),
    ("kb_articles", "source_ticket_id"),
    ("invoices", "credited_invoice_id"),
    ("invoices", "opportunity_id"),
    ("line_items", "task_id"),
    ("tasks", "parent_task_id"),
    ("tasks", "invoice_id"),
)
ENTITIES = (
    "clients", "contacts", "leads", "opportunities", "tickets", "kb_articles", "documents",
    "projects", "invoices", "tasks",
)  # fmt: skip


def upgrade() -> None:
    for table, column in KEYS:
        given = sa.text(f"{column} IS NOT NULL")
        op.drop_index(f"ix_{table}_{column}", table)
        op.create_index(
            f"ix_{table}_{column}", table, [column], sqlite_where=given, postgresql_where=given
        )
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in ENTITIES:
        op.drop_constraint(f"uq_{table}_external_id", table, type_="unique")
        op.create_index(
            f"uq_{table}_external_id", table, ["external_id"], unique=True,
            postgresql_where=sa.text("external_id IS NOT NULL"),
        )  # fmt: skip


def downgrade() -> None:
    for table, column in KEYS:
        op.drop_index(f"ix_{table}_{column}", table)
        op.create_index(f"ix_{table}_{column}", table, [column])
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in ENTITIES:
        op.drop_index(f"uq_{table}_external_id", table)
        op.create_unique_constraint(f"uq_{table}_external_id", table, ["external_id"])
