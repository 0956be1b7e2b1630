"""The key of a deleted row is given to no other, on SQLite as on PostgreSQL.

SQLite changes the key of a table by making it anew: a copy of its rows under the keys they have,
then its indexes, triggers and statistics as they were. Time and space go with the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"

TABLES = (
    "ai_actions", "ai_events", "ai_messages", "ai_sessions", "ai_stream_tickets", "ai_usage",
    "api_keys", "bulk_items", "bulk_runs", "document_contents", "document_shares",
    "document_versions", "idempotency_records", "import_jobs", "issue_records", "kb_feedback",
    "kb_revisions", "kb_searches", "line_items", "named_columns", "orphan_blobs", "outgoing_mail",
    "payments", "question_sessions", "refresh_tokens", "report_exports", "roles", "saved_views",
    "search_entries", "sessions", "share_accesses", "stage_changes", "ticket_articles",
    "ticket_comments", "webhook_attempts", "webhook_deliveries", "webhook_endpoints",
)  # fmt: skip
# What the audit log calls the rows of which it knows deleted ones.
AUDITED = {"roles": "Role", "webhook_endpoints": "Webhook"}
_COLUMN = "\n\tid INTEGER NOT NULL"
_ONCE = "PRIMARY KEY AUTOINCREMENT"
_TABLE = sa.text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :table")
_BELONGINGS = sa.text(
    "SELECT sql FROM sqlite_master"
    " WHERE tbl_name = :table AND type IN ('index', 'trigger') AND sql IS NOT NULL"
)
_LAST = sa.text(
    "SELECT max(coalesce((SELECT max(entity_id) FROM audit_records WHERE entity = :entity), 0),"
    " coalesce((SELECT seq FROM sqlite_sequence WHERE name = :table), 0))"
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for table in TABLES:
            make_anew(connection, table, given_once)
        for table, entity in AUDITED.items():
            last = connection.execute(_LAST, {"entity": entity, "table": table}).scalar_one()
            go_on_behind(connection, table, last)


def downgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for table in TABLES:
            make_anew(connection, table, given_again)


def given_once(table: str, columns: str) -> str:
    """``columns``, what stands in the brackets of CREATE TABLE, with a key used once."""
    with_key = replace_once(columns, _COLUMN, f"{_COLUMN} {_ONCE}")
    return replace_once(with_key, _constraint(table), "")


def given_again(table: str, columns: str) -> str:
    """The reverse of ``given_once``."""
    return replace_once(columns, f"{_COLUMN} {_ONCE}", _COLUMN).rstrip() + _constraint(table)


def _constraint(table: str) -> str:
    return f", \n\tCONSTRAINT pk_{table} PRIMARY KEY (id)"


def replace_once(text: str, old: str, new: str) -> str:
    """Raises: RuntimeError, ``text`` does not have ``old`` exactly once."""
    if text.count(old) != 1:
        raise RuntimeError(f"{old!r} is not once in {text}")
    return text.replace(old, new)


def make_anew(connection: sa.Connection, table: str, change: Callable[[str, str], str]) -> None:
    """As SQLite's page on ALTER TABLE has it (section 7); foreign keys are off (env.py)."""
    named = {"table": table}
    sql = connection.execute(_TABLE, named).scalar_one()
    columns = sql[sql.index("(") + 1 : sql.rindex(")")]
    belongings = connection.execute(_BELONGINGS, named).scalars().all()
    has_statistics = connection.execute(_TABLE, {"table": "sqlite_stat1"}).scalar() is not None
    move = "UPDATE sqlite_stat1 SET tbl = '{}' WHERE tbl = '{}'"
    for statement in (
        f"CREATE TABLE {table}_anew ({change(table, columns)})",
        f"INSERT INTO {table}_anew SELECT * FROM {table}",
        # They would go with the table, and lists be read by other indexes.
        *[move.format(f"{table}_anew", table)] * has_statistics,
        f"DROP TABLE {table}",
        f"ALTER TABLE {table}_anew RENAME TO {table}",
        *[move.format(table, f"{table}_anew")] * has_statistics,
        *belongings,
    ):
        connection.exec_driver_sql(statement)


def go_on_behind(connection: sa.Connection, table: str, last: int) -> None:
    """Let the keys of ``table`` go on behind ``last``."""
    for statement in (
        "DELETE FROM sqlite_sequence WHERE name = :table",
        "INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)",
    ):
        connection.execute(sa.text(statement), {"table": table, "last": last})
