"""What the worker finds in files, blobs without a row, and brakes on links and on files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, UtcDateTime, string, text
from migrations import trigrams

revision = "0016"
down_revision = "0015"

SEARCHABLE = {"document_contents": ("folded",)}


def upgrade() -> None:
    op.add_column("document_versions", sa.Column("quarantine_reason", string(200)))
    op.add_column("document_shares", sa.Column("locked_until", UtcDateTime()))
    create_document_contents()
    create_orphan_blobs()
    trigrams.create(op.get_bind(), SEARCHABLE)


def downgrade() -> None:
    trigrams.drop(op.get_bind(), SEARCHABLE)
    op.drop_table("orphan_blobs")
    op.drop_table("document_contents")
    op.drop_column("document_shares", "locked_until")
    op.drop_column("document_versions", "quarantine_reason")


def create_document_contents() -> None:
    op.create_table(
        "document_contents",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("document_id", Identifier, nullable=False),
        sa.Column("version_id", Identifier, nullable=False),
        sa.Column("state", string(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("leased_until", UtcDateTime()),
        sa.Column("preview_key", string(100)),
        sa.Column("body", text()),
        sa.Column("folded", text()),
        sa.PrimaryKeyConstraint("id", name="pk_document_contents"),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_document_contents_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["document_versions.id"],
            name="fk_document_contents_version_id_document_versions",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("version_id", name="uq_document_contents_version_id"),
        sa.UniqueConstraint("preview_key", name="uq_document_contents_preview_key"),
        sa.CheckConstraint(
            "state IN ('Waiting', 'Done', 'Failed')",
            name=op.f("ck_document_contents_state_allowed"),
        ),
    )
    op.create_index("ix_document_contents_document_id", "document_contents", ["document_id"])
    op.create_index(
        "ix_document_contents_waiting",
        "document_contents",
        ["id"],
        sqlite_where=sa.text("state = 'Waiting'"),
        postgresql_where=sa.text("state = 'Waiting'"),
    )


def create_orphan_blobs() -> None:
    op.create_table(
        "orphan_blobs",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("blob_key", string(100), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_orphan_blobs"),
        sa.UniqueConstraint("blob_key", name="uq_orphan_blobs_blob_key"),
    )
