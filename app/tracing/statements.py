"""A span for each statement: what it does and to which table; never its text or its values."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from opentelemetry.trace import SpanKind, StatusCode, Tracer
from sqlalchemy import Connection, Engine, ExceptionContext, event

_VERB = re.compile(r"\s*(\w+)")
_BEHIND_WITH = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE)\b.*", re.IGNORECASE | re.DOTALL)
_PARENTHESES = re.compile(r"\([^()]*\)")
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE|JOIN)\s+"?([A-Za-z_]\w*)', re.IGNORECASE)
# Where a connection keeps the span of the statement that it runs.
_SPAN = "span"


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
    verb = _BEHIND_WITH.search(left)
    return verb[0] if verb else sql


def trace(engine: Engine, tracer: Tracer) -> None:
    """Let every statement over ``engine`` have a span."""
    system = "postgresql" if engine.dialect.name == "postgresql" else "sqlite"

    @event.listens_for(engine, "before_cursor_execute")
    def begin(
        connection: Connection, cursor: Any, sql: str, parameters: Any, context: Any, many: bool
    ) -> None:
        verb, table = describe(sql)
        attributes = {"db.system.name": system, "db.operation.name": verb}
        if table:
            attributes["db.collection.name"] = table
        span = tracer.start_span(
            f"{verb} {table}".strip(), kind=SpanKind.CLIENT, attributes=attributes
        )
        connection.info[_SPAN] = span

    @event.listens_for(engine, "after_cursor_execute")
    def end(connection: Connection, *_: Any) -> None:
        connection.info.pop(_SPAN).end()

    @event.listens_for(engine, "handle_error")
    def fail(context: ExceptionContext) -> None:
        running = context.connection
        span = None if running is None else running.info.pop(_SPAN, None)
        if span is not None:
            # As a span that is left by an error: its kind, not what the database says of values.
            span.set_status(StatusCode.ERROR, type(context.original_exception).__name__)
            span.end()
