"""A span for each statement: what it does and to which table; never its text or its values."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Tracer
from sqlalchemy import Engine, event

from app.lazy import lazy

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = lazy("psycopg")

_VERB = re.compile(r"\s*(\w+)")
_BEHIND_WITH = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE)\b.*", re.IGNORECASE | re.DOTALL)
_PARENTHESES = re.compile(r"\([^()]*\)")
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE|JOIN)\s+"?([A-Za-z_]\w*)', re.IGNORECASE)

Run = Callable[[], Any]


@lru_cache(maxsize=2048)
def describe(sql: str) -> tuple[str, str]:
    """Verb and first table of a statement: ``("SELECT", "clients")``; the table may be empty."""
    verb = _VERB.match(sql)
    if verb and verb[1].upper() == "WITH":
        sql = _main(sql)
        verb = _VERB.match(sql)
    table = _TABLE.search(sql)
    return (verb[1].upper() if verb else "SQL", table[1] if table else "")


def _main(sql: str) -> str:
    """The statement behind the parts of WITH, whatever stands in parentheses left out."""
    left, count = sql, 1
    while count:
        left, count = _PARENTHESES.subn("", left)
    found = _BEHIND_WITH.search(left)
    return found[0] if found else sql


def trace(engine: Engine, tracer: Tracer) -> None:
    """Let every statement over ``engine`` have a span, however it gets to the driver."""
    system = "postgresql" if engine.dialect.name == "postgresql" else "sqlite"

    def spanned(sql: object, run: Run) -> Any:
        verb, table = describe(sql if isinstance(sql, str) else str(sql))
        attributes = {"db.system.name": system, "db.operation.name": verb}
        if table:
            attributes["db.collection.name"] = table
        name = f"{verb} {table}".strip()
        with tracer.start_as_current_span(name, kind=SpanKind.CLIENT, attributes=attributes):
            return run()

    if system == "postgresql":
        _trace_postgresql(engine, spanned)
    else:
        _trace_sqlite(engine, spanned)


def _trace_postgresql(engine: Engine, spanned: Callable[[object, Run], Any]) -> None:
    class TracedCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return spanned(
                query, lambda: super(TracedCursor, self).execute(query, params, **options)
            )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.cursor_factory = TracedCursor
        connection.direct = None  # the way past the cursor has no spans


def _trace_sqlite(engine: Engine, spanned: Callable[[object, Run], Any]) -> None:
    class TracedCursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = ()) -> Any:
            run = super().execute
            return spanned(sql, lambda: run(sql, parameters))

    @lru_cache
    def traced(base: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        def cursor(self: Any, factory: Any = TracedCursor) -> Any:
            return base.cursor(self, factory)

        return type("TracedConnection", (base,), {"cursor": cursor})

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, options: dict[str, Any]) -> None:
        options["factory"] = traced(options.get("factory", sqlite3.Connection))
