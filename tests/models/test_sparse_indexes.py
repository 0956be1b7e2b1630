"""Indexes of what few rows have serve every lookup: of a key, a relation, a deletion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Column, Connection, Index, UniqueConstraint, event
from werkzeug.datastructures import Headers

from app.container.model import container
from app.errors import NotFoundError
from app.extensions import Model, db
from app.http.security import system_caller
from app.odata.protocol.preferences import parse_preferences
from app.odata.protocol.request import ReadRequest
from app.odata.reading.reader import Reader

COLUMNS = [col for table in Model.metadata.sorted_tables for col in table.columns]
SPARSE = [col for col in COLUMNS if col.info.get("sparse")]
EXTERNAL = [col for col in COLUMNS if col.name == "external_id"]
# Users are never deleted, and what one of them has changed is not listed by that.
KEYS = [
    col for col in COLUMNS for key in col.foreign_keys
    if key.column.table.name != "users" and not col.primary_key
]  # fmt: skip


@pytest.fixture
def connection(app: Flask) -> Iterator[Connection]:
    with app.app_context(), db.engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            # The tables are empty: an index is used where it can be, whatever it costs.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            # Nor is any known to be empty, where every index would cost the same.
            connection.exec_driver_sql(
                "UPDATE pg_class SET reltuples = -1, relpages = 0"
                " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            )
        else:
            # As above: what another test has counted is not known in this transaction.
            known = connection.exec_driver_sql(
                "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"
            ).all()
            connection.exec_driver_sql("DELETE FROM sqlite_stat1" if known else "SELECT 1")
            connection.exec_driver_sql("ANALYZE sqlite_schema")
        yield connection
        connection.rollback()
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("ANALYZE sqlite_schema")


def plan(connection: Connection, statement: str, values: Any = ()) -> str:
    """How the database goes about ``statement``, on one line."""
    explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    rows = connection.exec_driver_sql(f"{explain} {statement}", values)
    return " ".join(str(row[-1]) for row in rows)


def index_of(connection: Connection, col: Column[Any]) -> str:
    """Name of the index of a sparse column or an external id."""
    unique = col.name == "external_id"
    if unique and connection.dialect.name == "sqlite":
        return f"sqlite_autoindex_{col.table.name}_"
    return f" {'uq' if unique else 'ix'}_{col.table.name}_{col.name} "


def leads(col: Column[Any], index: Index | UniqueConstraint) -> bool:
    """Whether what ``index`` holds begins with ``col``."""
    return [column.name for column in index.columns][:1] == [col.name]


def condition(index: Index) -> str:
    """What the rows of an index have in common, empty for all rows."""
    conditions = {
        str(index.dialect_options[name]["where"])
        for name in ("sqlite", "postgresql")
        if index.dialect_options[name]["where"] is not None
    }
    return " ".join(sorted(conditions))


@pytest.mark.parametrize("col", KEYS, ids=str)
def test_a_foreign_key_has_an_index_of_each_row_that_refers(col: Column[Any]) -> None:
    conditions = [condition(each) for each in col.table.indexes if leads(col, each)]
    unique = [
        constraint for constraint in col.table.constraints
        if isinstance(constraint, UniqueConstraint) and leads(col, constraint)
    ]  # fmt: skip
    assert unique or {"", f"{col.name} IS NOT NULL"}.intersection(conditions)


@pytest.mark.parametrize("col", SPARSE + EXTERNAL, ids=str)
def test_a_lookup_finds_the_index(connection: Connection, col: Column[Any]) -> None:
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    text = f"SELECT * FROM {col.table.name} WHERE {col.name}"
    index = index_of(connection, col)
    for asked, values in ((f"= {mark}", ("1",)), (f"IN ({mark}, {mark})", ("1", "2"))):
        assert index in plan(connection, f"{text} {asked}", values)
    if col in SPARSE:
        assert index not in plan(connection, f"{text} IS NULL")


@pytest.mark.parametrize("col", SPARSE, ids=str)
def test_the_check_of_a_deletion_finds_the_index(connection: Connection, col: Column[Any]) -> None:
    (key,) = col.foreign_keys
    if connection.dialect.name == "sqlite":
        # Its plan tells of the checks.
        steps = plan(connection, f"DELETE FROM {key.column.table.name} WHERE id = 1")
    else:
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
        # The statement of the trigger (ri_triggers.c), which it prepares.
        connection.exec_driver_sql(
            f"PREPARE sparse(bigint) AS SELECT 1 FROM ONLY {col.table.name} x"
            f" WHERE $1 OPERATOR(pg_catalog.=) {col.name} FOR KEY SHARE OF x"
        )
        steps = plan(connection, "EXECUTE sparse(1)")
        connection.exec_driver_sql("DEALLOCATE sparse")
    assert index_of(connection, col) in steps


@pytest.mark.parametrize(
    ("path", "query", "table", "column"),
    [
        ("Clients", "$filter=externalId eq 'x'", "clients", "external_id"),
        ("Clients(externalId='x')", "", "clients", "external_id"),
        ("Invoices(externalId='x')", "$expand=LineItems", "invoices", "external_id"),
        ("Leads", "$filter=externalId in ('x','y')&$orderby=id desc", "leads", "external_id"),
        ("Leads", "$filter=convertedClientId eq 1&$count=true", "leads", "converted_client_id"),
        ("Tasks", "$filter=parentTaskId eq 1&$orderby=title", "tasks", "parent_task_id"),
        ("Invoices", "$filter=creditedInvoiceId in (1,2)", "invoices", "credited_invoice_id"),
    ],
)
def test_queries_of_the_engine_find_the_index(
    connection: Connection, path: str, query: str, table: str, column: str
) -> None:
    asked: list[tuple[str, Any]] = []

    def note(connection: Connection, cursor: Any, sql: str, values: Any, *_: Any) -> None:
        asked.append((sql, values))

    event.listen(connection, "before_cursor_execute", note)
    reader = Reader(container(), "a key for the tokens of these tests only")
    request = ReadRequest(path, query, "http://x/odata/", Headers(), parse_preferences([""]))
    with suppress(NotFoundError):
        reader.read(request, system_caller(), connection)
    event.remove(connection, "before_cursor_execute", note)
    index = index_of(connection, Model.metadata.tables[table].c[column])
    assert index in " ".join(plan(connection, sql, values) for sql, values in asked)


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("SELECT min(position) FROM events WHERE position IS NOT NULL", "ix_events_position"),
        (
            "SELECT id FROM events WHERE position > 5 AND type IN ('a', 'b') ORDER BY position",
            "ix_events_position",
        ),
        (
            "SELECT min(position), count(*) FROM events"
            " WHERE created_at >= '2024-01-01' AND dispatched_at IS NOT NULL",
            "ix_events_created_at",
        ),
        (
            "SELECT id FROM events WHERE created_at < '2024-01-01' AND dispatched_at IS NOT NULL",
            "ix_events_created_at",
        ),
        ("SELECT id FROM events WHERE dispatched_at IS NULL ORDER BY id", "ix_events_undispatched"),
    ],
)
def test_the_journal_is_read_by_its_indexes(
    connection: Connection, statement: str, index: str
) -> None:
    assert index in plan(connection, statement)
