"""Users, their roles, keys and sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.clock import utc_now
from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_users()
    create_roles()
    create_user_roles()
    create_api_keys()
    create_sessions()
    create_refresh_tokens()
    create_login_guards()
    create_security_epochs()
    insert_roles()


def downgrade() -> None:
    op.drop_table("security_epochs")
    op.drop_table("login_guards")
    op.drop_table("refresh_tokens")
    op.drop_table("sessions")
    op.drop_table("api_keys")
    op.drop_table("user_roles")
    op.drop_table("roles")
    op.drop_table("users")


def create_users() -> None:
    op.create_table(
        "users",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("username", string(150), nullable=False),
        sa.Column("username_key", string(150), nullable=False),
        sa.Column("email", string(254)),
        sa.Column("display_name", string(200), nullable=False),
        sa.Column("kind", string(20), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("password_hash", string(255)),
        sa.Column("password_changed_at", UtcDateTime()),
        sa.Column("language", string(10), nullable=False),
        sa.Column("timezone", string(50), nullable=False),
        sa.Column("last_login_at", UtcDateTime()),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("username_key", name="uq_users_username_key"),
        sa.CheckConstraint(
            "status IN ('active', 'disabled')", name=op.f("ck_users_status_allowed")
        ),
        sa.CheckConstraint("kind IN ('person', 'service')", name=op.f("ck_users_kind_allowed")),
        sqlite_autoincrement=True,
    )


def create_roles() -> None:
    op.create_table(
        "roles",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("name", string(50), nullable=False),
        sa.Column("description", string(500)),
        sa.Column("is_builtin", sa.Boolean(), nullable=False),
        sa.Column("permissions", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_roles"),
        sa.UniqueConstraint("name", name="uq_roles_name"),
    )


def create_user_roles() -> None:
    op.create_table(
        "user_roles",
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("role_id", Identifier, nullable=False),
        sa.ForeignKeyConstraint(["role_id"], ["roles.id"], name="fk_user_roles_role_id_roles"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_user_roles_user_id_users", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("user_id", "role_id", name="uq_user_roles_user_id_role_id"),
    )
    op.create_index("ix_user_roles_role_id", "user_roles", ["role_id"])


def create_api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("name", string(100), nullable=False),
        sa.Column("prefix", string(32), nullable=False),
        sa.Column("key_hash", string(64), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("role_id", Identifier, nullable=False),
        sa.Column("created_by_id", Identifier),
        sa.Column("expires_at", UtcDateTime()),
        sa.Column("revoked_at", UtcDateTime()),
        sa.Column("last_used_at", UtcDateTime()),
        sa.Column("last_used_ip", string(45)),
        sa.Column("scopes", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_api_keys_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["role_id"], ["roles.id"], name="fk_api_keys_role_id_roles"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_keys_user_id_users"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
        sa.UniqueConstraint("prefix", name="uq_api_keys_prefix"),
    )
    op.create_index("ix_api_keys_created_by_id", "api_keys", ["created_by_id"])
    op.create_index("ix_api_keys_role_id", "api_keys", ["role_id"])
    op.create_index("ix_api_keys_user_id", "api_keys", ["user_id"])


def create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(36), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("ip", string(45)),
        sa.Column("user_agent", string(255)),
        sa.Column("last_seen_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("revoked_at", UtcDateTime()),
        sa.Column("revoked_reason", string(50)),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_sessions_user_id_users", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("key", name="uq_sessions_key"),
    )
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])


def create_refresh_tokens() -> None:
    op.create_table(
        "refresh_tokens",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("token_hash", string(64), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("used_at", UtcDateTime()),
        sa.Column("successor", string(4000)),
        sa.PrimaryKeyConstraint("id", name="pk_refresh_tokens"),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name="fk_refresh_tokens_session_id_sessions",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("token_hash", name="uq_refresh_tokens_token_hash"),
    )
    op.create_index("ix_refresh_tokens_session_id", "refresh_tokens", ["session_id"])


def create_login_guards() -> None:
    op.create_table(
        "login_guards",
        sa.Column("name_key", string(64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("window_started_at", UtcDateTime(), nullable=False),
        sa.Column("locked_until", UtcDateTime()),
        sa.Column("lock_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name_key", name="pk_login_guards"),
    )
    op.create_index("ix_login_guards_locked_until", "login_guards", ["locked_until"])
    op.create_index("ix_login_guards_window", "login_guards", ["window_started_at"])


def create_security_epochs() -> None:
    op.create_table(
        "security_epochs",
        sa.Column("id", Identifier, autoincrement=False, nullable=False),
        sa.Column("value", Identifier, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_security_epochs"),
    )


def insert_roles() -> None:
    """The built-in roles, whose rights are in the code, and the first security epoch."""
    roles = sa.table(
        "roles",
        sa.column("name"),
        sa.column("is_builtin"),
        sa.column("permissions", JsonText()),
        sa.column("created_at", UtcDateTime()),
    )
    op.bulk_insert(
        roles,
        [
            {"name": name, "is_builtin": True, "permissions": {}, "created_at": utc_now()}
            for name in ("Admin", "Manager", "Sales", "Accountant", "Support", "Viewer")
        ],
    )
    op.bulk_insert(
        sa.table("security_epochs", sa.column("id"), sa.column("value")), [{"id": 1, "value": 0}]
    )
