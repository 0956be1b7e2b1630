"""How the cost of a statement grows with the table: 10,000, 100,000 and 1,000,000 clients.

    python -m bench.growth [--sizes 10000,100000,1000000] [--postgresql postgresql://postgres@127.0.0.1:5432]

Each query goes through the query engine as a request does, and what is timed is its statements alone:
from handing them to the driver to the last row. The best of several rounds counts, for that is what
the statement costs when nothing else is in the way. PostgreSQL is also asked what it took itself
(``EXPLAIN ANALYZE``), without planning and the way there. The rows are made up, the same at every
run; one database is filled from size to size.
"""  # noqa: E501 - the command in one line

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from flask import Flask
from sqlalchemy import Connection, insert, text

from app.clock import utc_now
from app.db.engines import read_engine
from app.extensions import db
from app.http.security import system_caller
from app.models.client import Client
from app.odata.protocol.preferences import parse_preferences
from app.odata.protocol.request import ReadRequest
from app.odata.reading import statement
from app.odata.reading.query import PageStart, fingerprint
from app.odata.reading.reader import Reader
from app.odata.service import odata_service
from app.odata.syntax.options import read_options
from app.odata.syntax.path import read_path
from bench.services import service

ROOT = "http://127.0.0.1/odata/"
CHUNK = 5000
PAGE = 50
ROUNDS = 15
# A round that takes this long is not repeated as often.
LONG_SECONDS = 0.2
SYLLABLES = [consonant + vowel for consonant in "bdklmnrs" for vowel in "aeiou"]
# In the names of five clients of the first thousand.
RARE = "quokka"
FIELDS = "$select=id,name,status,revenue"
QUERIES = {
    "filter, sort, top 50": (
        "Clients", f"$filter=status eq 'Active' and revenue gt 500000&$orderby=revenue desc,name"
        f"&$top=50&{FIELDS}",
    ),
    "contains, no match": ("Clients", f"$filter=contains(name,'zzqqxx')&$top=50&{FIELDS}"),
    "contains, 5 matches": ("Clients", f"$filter=contains(name,'{RARE}')&$top=50&{FIELDS}"),
    "count of a third": ("Clients/$count", "$filter=status eq 'Active'"),
    "point read": ("Clients(777)", FIELDS),
}  # fmt: skip
PAGES = (1, 100, 10_000)
WAY = "SELECT 1"
ITSELF = "the server itself"
_EXPLAIN = "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON, FORMAT JSON) "


def main() -> int:
    """Measure, and print a table for each database."""
    options = _options()
    logging.disable(logging.CRITICAL)
    sizes = [int(size) for size in options.sizes.split(",")]
    for name, server in (("SQLite", None), ("PostgreSQL", options.postgresql)):
        if server is not None and not _answers(server):
            print(f"no PostgreSQL at {server}: left out", file=sys.stderr)
            continue
        with service(server, DEMO_DATA="0") as place:
            _print(name, sizes, [_measure(place.app, size) for size in sizes])
    return 0


def _answers(server: str) -> bool:
    try:
        psycopg.connect(server, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _print(name: str, sizes: Sequence[int], columns: Sequence[dict[str, float | None]]) -> None:
    print(f"{name}\n    {'ms in the database':42}" + "".join(f"{size:>12,}" for size in sizes))
    for title in columns[0]:
        values = [column[title] for column in columns]
        shown = "".join(f"{'-':>12}" if one is None else f"{one:12.3f}" for one in values)
        print(f"    {title:42}{shown}")
    print(flush=True)


# --- rows


def _fill(app: Flask, size: int) -> None:
    """Load clients until there are ``size``."""
    with app.app_context():
        with db.engine.begin() as connection:
            there = connection.scalar(text("SELECT count(*) FROM clients")) or 0
            dropped = _without_trigrams(connection)
            rows: list[dict[str, Any]] = []
            for row in _clients(there + 1, size):
                rows.append(row)
                if len(rows) == CHUNK:
                    connection.execute(insert(Client.__table__), rows)
                    rows.clear()
            if rows:
                connection.execute(insert(Client.__table__), rows)
            for definition in dropped:
                connection.execute(text(definition))
        with db.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.execute(text("VACUUM ANALYZE clients"))
            else:
                connection.execute(text("ANALYZE"))
                connection.commit()


def _without_trigrams(connection: Connection) -> list[str]:
    """Drop the GIN indexes of PostgreSQL, which are quicker made than kept; how to make them."""
    if connection.dialect.name != "postgresql":
        return []
    found = connection.execute(
        text(
            "SELECT indexname, indexdef FROM pg_indexes"
            " WHERE tablename = 'clients' AND indexdef LIKE '%USING gin%'"
        )
    ).all()
    for name, _ in found:
        connection.execute(text(f"DROP INDEX {name}"))
    return [definition for _, definition in found]


def _clients(first: int, last: int) -> Iterator[dict[str, Any]]:
    now = utc_now()
    for number in range(first, last + 1):
        chance = random.Random(number)
        name = "".join(chance.choice(SYLLABLES) for _ in range(4)).capitalize()
        if number % 200 == 0 and number <= 1000:
            name += f" {RARE}"
        yield {
            "created_at": now, "updated_at": now, "name": f"{name} {number}",
            "number": f"C-{number:06d}", "revenue": chance.randrange(1_000_000),
            "status": ("Active", "Prospect", "Inactive")[number % 3],
        }  # fmt: skip


# --- measuring


def _measure(app: Flask, size: int) -> dict[str, float | None]:
    """Milliseconds of each query among ``size`` clients; None where there is no such page."""
    started = time.monotonic()
    _fill(app, size)
    print(f"{size:,} clients after {time.monotonic() - started:.0f} s", file=sys.stderr)
    reader: Reader = odata_service.of(app).reader
    found: dict[str, float | None] = {}
    with app.app_context(), read_engine().connect() as connection:
        found[WAY] = _way_there(connection)
        for title, (path, query) in QUERIES.items():
            found |= _measured(title, reader, connection, path, query)
        for page in PAGES:
            query = _page_query(reader, connection, page)
            found |= _measured(f"nextLink, page {page:,}", reader, connection, "Clients", query)
    return found


def _way_there(connection: Connection) -> float:
    """The least milliseconds of a statement that does nothing, which every other time has in it."""
    best = float("inf")
    for _ in range(20 * ROUNDS):
        before = time.perf_counter()
        statement.fetch_all(connection, "SELECT 1")
        best = min(best, time.perf_counter() - before)
    return best * 1000


def _page_query(reader: Reader, connection: Connection, page: int) -> str | None:
    """The query of a page of all clients by name, as a ``nextLink`` has it."""
    query = f"$orderby=name&{FIELDS}"
    if page == 1:
        return query
    row = connection.execute(
        text("SELECT name, id FROM clients ORDER BY name, id LIMIT 1 OFFSET :before"),
        {"before": (page - 1) * PAGE - 1},
    ).one_or_none()
    if row is None:
        return None
    mark = fingerprint(read_path("Clients").text, read_options(query))
    return f"{query}&$skiptoken={reader.tokens.make(PageStart(list(row), None), mark)}"


def _measured(
    title: str, reader: Reader, connection: Connection, path: str, query: str | None
) -> dict[str, float | None]:
    """The lines of a query; None where there is no such page."""
    titles = [title]
    if connection.dialect.name == "postgresql":
        titles.append(f"  {ITSELF}, {title}")
    if query is None:
        return dict.fromkeys(titles)
    return dict(zip(titles, _milliseconds(reader, connection, path, query), strict=False))


def _milliseconds(
    reader: Reader, connection: Connection, path: str, query: str
) -> tuple[float, float]:
    """The least time that the statements of a read took; what of it PostgreSQL needed itself."""
    spent = 0.0
    fetch = statement.fetch_all
    asked: dict[str, Any] = {}

    def timed(conn: Connection, sql: str, parameters: Any = (), **more: Any) -> Any:
        nonlocal spent
        asked[sql] = parameters
        before = time.perf_counter()
        rows = fetch(conn, sql, parameters, **more)
        spent += time.perf_counter() - before
        return rows

    request = ReadRequest(path, query, ROOT, {}, parse_preferences([f"maxpagesize={PAGE}"]))
    caller = system_caller("bench")
    best = float("inf")
    rounds = ROUNDS
    statement.fetch_all = timed
    try:
        while rounds > 0:
            spent = 0.0
            answer = reader.read(request, caller, connection)
            assert answer.status == 200, answer.body
            connection.rollback()
            best = min(best, spent)
            rounds -= 5 if spent > LONG_SECONDS else 1
    finally:
        statement.fetch_all = fetch
    itself = 0.0
    if connection.dialect.name == "postgresql":
        itself = sum(_by_itself(connection, sql, given) for sql, given in asked.items())
    return best * 1000, itself


def _by_itself(connection: Connection, sql: str, parameters: Any) -> float:
    """The least milliseconds in which PostgreSQL says it has executed a statement."""
    best = float("inf")
    for _ in range(ROUNDS):
        ((shown,),) = statement.fetch_all(connection, _EXPLAIN + sql, parameters)
        (plan,) = json.loads(shown) if isinstance(shown, str) else shown
        best = min(best, plan["Execution Time"])
    return best


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.growth")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--postgresql", default="postgresql://postgres@127.0.0.1:5432")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
