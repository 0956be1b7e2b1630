"""Knowledge base articles, their revisions and the tickets they answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string, text
from app.models.indexes import nulls_first

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    create_kb_articles()
    create_kb_revisions()
    create_ticket_articles()


def downgrade() -> None:
    op.drop_table("ticket_articles")
    op.drop_table("kb_revisions")
    op.drop_table("kb_articles")


def create_kb_articles() -> None:
    op.create_table(
        "kb_articles",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("title", string(255), nullable=False),
        sa.Column("body_format", string(20), nullable=False),
        sa.Column("summary", string(500)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("visibility", string(20), nullable=False),
        sa.Column("category", string(100)),
        sa.Column("language", string(10), nullable=False),
        sa.Column("review_due_at", sa.Date()),
        sa.Column("expires_at", sa.Date()),
        sa.Column("translation_of_id", Identifier),
        sa.Column("source_ticket_id", Identifier),
        sa.Column("slug", string(300), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("published_at", UtcDateTime()),
        sa.Column("published_by_id", Identifier),
        sa.Column("archived_at", UtcDateTime()),
        sa.Column("view_count", sa.Integer(), nullable=False),
        sa.Column("helpful_count", sa.Integer(), nullable=False),
        sa.Column("not_helpful_count", sa.Integer(), nullable=False),
        sa.Column("word_count", sa.Integer(), nullable=False),
        sa.Column("indexed_at", UtcDateTime()),
        sa.Column("body", text(), nullable=False),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_kb_articles"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_kb_articles_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_kb_articles_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["published_by_id"], ["users.id"], name="fk_kb_articles_published_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["source_ticket_id"], ["tickets.id"], name="fk_kb_articles_source_ticket_id_tickets"
        ),
        sa.ForeignKeyConstraint(
            ["translation_of_id"],
            ["kb_articles.id"],
            name="fk_kb_articles_translation_of_id_kb_articles",
        ),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_kb_articles_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_kb_articles_external_id"),
        sa.UniqueConstraint("slug", name="uq_kb_articles_slug"),
        sa.CheckConstraint(
            "status IN ('Draft', 'InReview', 'Published', 'Archived')",
            name=op.f("ck_kb_articles_status_allowed"),
        ),
        sa.CheckConstraint(
            "body_format IN ('Markdown', 'Html')", name=op.f("ck_kb_articles_body_format_allowed")
        ),
        sa.CheckConstraint(
            "visibility IN ('Internal', 'Public')", name=op.f("ck_kb_articles_visibility_allowed")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_kb_articles_category", "kb_articles", ["category"])
    op.create_index("ix_kb_articles_created_at", "kb_articles", ["created_at"])
    op.create_index("ix_kb_articles_created_by_id", "kb_articles", ["created_by_id"])
    op.create_index("ix_kb_articles_expires_at", "kb_articles", [nulls_first("expires_at")])
    op.create_index("ix_kb_articles_owner_id", "kb_articles", ["owner_id"])
    op.create_index("ix_kb_articles_source_ticket_id", "kb_articles", ["source_ticket_id"])
    op.create_index("ix_kb_articles_status_visibility", "kb_articles", ["status", "visibility"])
    op.create_index("ix_kb_articles_title", "kb_articles", ["title"])
    op.create_index("ix_kb_articles_translation_of_id", "kb_articles", ["translation_of_id"])
    op.create_index("ix_kb_articles_updated_at", "kb_articles", ["updated_at"])


def create_kb_revisions() -> None:
    op.create_table(
        "kb_revisions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("article_id", Identifier, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("title", string(255), nullable=False),
        sa.Column("summary", string(500)),
        sa.Column("author_id", Identifier),
        sa.Column("body", text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_kb_revisions"),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["kb_articles.id"],
            name="fk_kb_revisions_article_id_kb_articles",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name="fk_kb_revisions_author_id_users"
        ),
        sa.UniqueConstraint("article_id", "revision", name="uq_kb_revisions_article_id_revision"),
    )


def create_ticket_articles() -> None:
    op.create_table(
        "ticket_articles",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ticket_id", Identifier, nullable=False),
        sa.Column("article_id", Identifier, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ticket_articles"),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["kb_articles.id"],
            name="fk_ticket_articles_article_id_kb_articles",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["ticket_id"],
            ["tickets.id"],
            name="fk_ticket_articles_ticket_id_tickets",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "ticket_id", "article_id", name="uq_ticket_articles_ticket_id_article_id"
        ),
    )
    op.create_index("ix_ticket_articles_article_id", "ticket_articles", ["article_id"])
