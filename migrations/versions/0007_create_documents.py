"""Documents, their files and their public links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    create_documents()
    create_document_versions()
    create_document_shares()
    create_share_accesses()


def downgrade() -> None:
    op.drop_table("share_accesses")
    op.drop_table("document_shares")
    op.drop_table("document_versions")
    op.drop_table("documents")


def create_documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("name", string(255), nullable=False),
        sa.Column("category", string(20), nullable=False),
        sa.Column("folder", string(255)),
        sa.Column("client_id", Identifier),
        sa.Column("entity_type", string(20)),
        sa.Column("entity_id", Identifier),
        sa.Column("expires_at", sa.Date()),
        sa.Column("retain_until", sa.Date()),
        sa.Column("file_name", string(255)),
        sa.Column("content_type", string(127)),
        sa.Column("size", sa.BigInteger()),
        sa.Column("sha256", string(64)),
        sa.Column("file_version", sa.Integer(), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("download_count", sa.Integer(), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("deleted_at", UtcDateTime()),
        sa.Column("status_before_deletion", string(20)),
        sa.Column("description", string(2000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_documents_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_documents_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_documents_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_documents_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_documents_external_id"),
        sa.CheckConstraint("size >= 0", name=op.f("ck_documents_size_range")),
        sa.CheckConstraint(
            "status IN ('Pending', 'Active', 'Archived', 'Quarantined', 'Deleted')",
            name=op.f("ck_documents_status_allowed"),
        ),
        sa.CheckConstraint(
            "category IN ('Contract', 'Invoice', 'Quote', 'Report', 'Correspondence', "
            "'Identity', 'Other')",
            name=op.f("ck_documents_category_allowed"),
        ),
        sa.CheckConstraint(
            "entity_type IN ('Client', 'Contact', 'Lead', 'Opportunity', 'Ticket', "
            "'Invoice', 'KbArticle', 'Document', 'Task', 'Project')",
            name=op.f("ck_documents_entity_type_allowed"),
        ),
        sa.CheckConstraint(
            "status_before_deletion IN ('Pending', 'Active', 'Archived', 'Quarantined', 'Deleted')",
            name=op.f("ck_documents_status_before_deletion_allowed"),
        ),
        sa.CheckConstraint(
            "(entity_type IS NULL) = (entity_id IS NULL)", name=op.f("ck_documents_entity_whole")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_documents_client_id", "documents", ["client_id"])
    op.create_index("ix_documents_created_at", "documents", ["created_at"])
    op.create_index("ix_documents_created_by_id", "documents", ["created_by_id"])
    op.create_index("ix_documents_deleted_at", "documents", [nulls_first("deleted_at")])
    op.create_index("ix_documents_entity_type_entity_id", "documents", ["entity_type", "entity_id"])
    op.create_index("ix_documents_expires_at", "documents", [nulls_first("expires_at")])
    op.create_index("ix_documents_folder", "documents", ["folder"])
    op.create_index("ix_documents_name", "documents", ["name"])
    op.create_index("ix_documents_owner_id", "documents", ["owner_id"])
    op.create_index("ix_documents_status_created_at", "documents", ["status", "created_at"])
    op.create_index("ix_documents_updated_at", "documents", ["updated_at"])


def create_document_versions() -> None:
    op.create_table(
        "document_versions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("document_id", Identifier, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file_name", string(255), nullable=False),
        sa.Column("content_type", string(127), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", string(64), nullable=False),
        sa.Column("blob_key", string(100), nullable=False),
        sa.Column("created_by_id", Identifier),
        sa.PrimaryKeyConstraint("id", name="pk_document_versions"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_document_versions_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_document_versions_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "document_id", "number", name="uq_document_versions_document_id_number"
        ),
        sa.UniqueConstraint("blob_key", name="uq_document_versions_blob_key"),
        sa.CheckConstraint("size >= 0", name=op.f("ck_document_versions_size_range")),
    )


def create_document_shares() -> None:
    op.create_table(
        "document_shares",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", sa.Integer()),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("document_id", Identifier, nullable=False),
        sa.Column("token_hash", string(64), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("password_hash", string(255)),
        sa.Column("password_failures", sa.Integer(), nullable=False),
        sa.Column("max_downloads", sa.Integer()),
        sa.Column("download_count", sa.Integer(), nullable=False),
        sa.Column("recipient_email", string(254)),
        sa.Column("note", string(500)),
        sa.Column("created_by_id", Identifier),
        sa.Column("revoked_at", UtcDateTime()),
        sa.PrimaryKeyConstraint("id", name="pk_document_shares"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_document_shares_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name="fk_document_shares_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("token_hash", name="uq_document_shares_token_hash"),
        sa.CheckConstraint(
            "max_downloads >= 1", name=op.f("ck_document_shares_max_downloads_range")
        ),
    )
    op.create_index("ix_document_shares_document_id", "document_shares", ["document_id"])
    op.create_index("ix_document_shares_expires_at", "document_shares", ["expires_at"])


def create_share_accesses() -> None:
    op.create_table(
        "share_accesses",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("share_id", Identifier, nullable=False),
        sa.Column("action", string(20), nullable=False),
        sa.Column("ip", string(45)),
        sa.Column("user_agent", string(255)),
        sa.PrimaryKeyConstraint("id", name="pk_share_accesses"),
        sa.ForeignKeyConstraint(
            ["share_id"],
            ["document_shares.id"],
            name="fk_share_accesses_share_id_document_shares",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_share_accesses_share_id", "share_accesses", ["share_id"])
