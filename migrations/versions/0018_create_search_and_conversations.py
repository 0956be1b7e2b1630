"""What the search knows of texts, how the knowledge base is used, conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string, text

revision = "0018"
down_revision = "0017"

UNINDEXED = sa.text("status = 'Published' AND indexed_at IS NULL")


def upgrade() -> None:
    op.create_index(
        "ix_kb_articles_unindexed",
        "kb_articles",
        ["id"],
        sqlite_where=UNINDEXED,
        postgresql_where=UNINDEXED,
    )
    create_search_entries()
    create_kb_searches()
    create_kb_feedback()
    create_ai_sessions()
    create_ai_messages()
    create_ai_events()
    create_ai_actions()
    create_ai_stream_tickets()


def downgrade() -> None:
    op.drop_table("ai_stream_tickets")
    op.drop_table("ai_actions")
    op.drop_table("ai_events")
    op.drop_table("ai_messages")
    op.drop_table("ai_sessions")
    op.drop_table("kb_feedback")
    op.drop_table("kb_searches")
    op.drop_table("search_entries")
    op.drop_index("ix_kb_articles_unindexed", "kb_articles")


def create_search_entries() -> None:
    op.create_table(
        "search_entries",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("entity", string(20), nullable=False),
        sa.Column("entity_id", Identifier, nullable=False),
        sa.Column("revision", Identifier, nullable=False),
        sa.Column("change", Identifier, nullable=False),
        sa.Column("language", string(10), nullable=False),
        sa.Column("category", string(100)),
        sa.Column("terms", JsonText(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("passages", JsonText(), nullable=False),
        sa.Column("model", string(60)),
        sa.Column("dimension", sa.Integer()),
        sa.Column("vectors", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("id", name="pk_search_entries"),
        sa.UniqueConstraint("entity", "entity_id", name="uq_search_entries_entity_entity_id"),
    )
    op.create_index("ix_search_entries_entity_change", "search_entries", ["entity", "change"])


def create_kb_searches() -> None:
    op.create_table(
        "kb_searches",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("question", string(300), nullable=False),
        sa.Column("topic", string(300), nullable=False),
        sa.Column("language", string(10)),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("shown", JsonText(), nullable=False),
        sa.Column("opened_id", Identifier),
        sa.Column("opened_at", UtcDateTime()),
        sa.ForeignKeyConstraint(
            ["opened_id"],
            ["kb_articles.id"],
            name="fk_kb_searches_opened_id_kb_articles",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_kb_searches"),
    )
    op.create_index("ix_kb_searches_created_at", "kb_searches", ["created_at"])
    op.create_index("ix_kb_searches_opened_id", "kb_searches", ["opened_id"])
    op.create_index(
        "ix_kb_searches_principal_created_at", "kb_searches", ["principal", "created_at"]
    )


def create_kb_feedback() -> None:
    op.create_table(
        "kb_feedback",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("article_id", Identifier, nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("is_helpful", sa.Boolean(), nullable=False),
        sa.Column("comment", string(1000)),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["kb_articles.id"],
            name="fk_kb_feedback_article_id_kb_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_kb_feedback"),
        sa.UniqueConstraint("article_id", "principal", name="uq_kb_feedback_article_id_principal"),
    )


def create_ai_sessions() -> None:
    op.create_table(
        "ai_sessions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("title", string(200), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("last_sequence", Identifier, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ai_sessions"),
        sa.UniqueConstraint("key", name="uq_ai_sessions_key"),
    )
    op.create_index(
        "ix_ai_sessions_principal_updated_at", "ai_sessions", ["principal", "updated_at"]
    )


def create_ai_messages() -> None:
    op.create_table(
        "ai_messages",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("role", string(20), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("body", text(), nullable=False),
        sa.Column("context", JsonText()),
        sa.Column("citations", JsonText(), nullable=False),
        sa.Column("tool_calls", JsonText(), nullable=False),
        sa.Column("usage", JsonText()),
        sa.Column("model", string(100)),
        sa.Column("leased_until", UtcDateTime()),
        sa.CheckConstraint(
            "role IN ('user', 'assistant')", name=op.f("ck_ai_messages_role_allowed")
        ),
        sa.CheckConstraint(
            "status IN ('in_progress', 'completed', 'failed', 'canceled')",
            name=op.f("ck_ai_messages_status_allowed"),
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["ai_sessions.id"],
            name="fk_ai_messages_session_id_ai_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ai_messages"),
        sa.UniqueConstraint("key", name="uq_ai_messages_key"),
    )
    op.create_index("ix_ai_messages_session_id", "ai_messages", ["session_id"])


def create_ai_events() -> None:
    op.create_table(
        "ai_events",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("message_id", Identifier, nullable=False),
        sa.Column("sequence", Identifier, nullable=False),
        sa.Column("type", string(40), nullable=False),
        sa.Column("data", JsonText(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["ai_messages.id"],
            name="fk_ai_events_message_id_ai_messages",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["ai_sessions.id"],
            name="fk_ai_events_session_id_ai_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ai_events"),
        sa.UniqueConstraint("session_id", "sequence", name="uq_ai_events_session_id_sequence"),
    )
    op.create_index("ix_ai_events_message_id", "ai_events", ["message_id"])


def create_ai_actions() -> None:
    op.create_table(
        "ai_actions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("message_id", Identifier, nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("tool", string(40), nullable=False),
        sa.Column("arguments", JsonText(), nullable=False),
        sa.Column("summary", string(500), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("decided_at", UtcDateTime()),
        sa.Column("result", JsonText()),
        sa.CheckConstraint(
            "status IN ('pending', 'executed', 'rejected', 'expired', 'failed')",
            name=op.f("ck_ai_actions_status_allowed"),
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["ai_messages.id"],
            name="fk_ai_actions_message_id_ai_messages",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["ai_sessions.id"],
            name="fk_ai_actions_session_id_ai_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ai_actions"),
        sa.UniqueConstraint("key", name="uq_ai_actions_key"),
    )
    op.create_index("ix_ai_actions_message_id", "ai_actions", ["message_id"])
    op.create_index("ix_ai_actions_session_id", "ai_actions", ["session_id"])


def create_ai_stream_tickets() -> None:
    op.create_table(
        "ai_stream_tickets",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("digest", string(64), nullable=False),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["ai_sessions.id"],
            name="fk_ai_stream_tickets_session_id_ai_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ai_stream_tickets"),
        sa.UniqueConstraint("digest", name="uq_ai_stream_tickets_digest"),
    )
    op.create_index("ix_ai_stream_tickets_expires_at", "ai_stream_tickets", ["expires_at"])
    op.create_index("ix_ai_stream_tickets_session_id", "ai_stream_tickets", ["session_id"])
