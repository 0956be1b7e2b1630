"""What a search costs among 100,000 clients: CPU of the service and of the database together.

    python -m bench.search [--clients 100000] [--postgresql postgresql://postgres@127.0.0.1:5432]

A search is one call of the WSGI application in this process, with a token and everything that a
request passes. SQLite's CPU is in that; the CPU of PostgreSQL's processes is read from ``/proc``
and added, where it runs on this machine. The best round of each search counts. The rows are made
up, the same at every run.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import flask_migrate
import psycopg
from flask import Flask
from sqlalchemy import Connection, make_url, text
from werkzeug.test import EnvironBuilder

from app.auth.users import create_user
from app.clock import utc_now
from app.config import Config, database_url
from app.db.engines import read_engine, transaction
from app.extensions import db
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.models.client import Client

BUDGET_MILLISECONDS = 30
DATABASE = "business_platform_bench_search"
UNLIMITED = "100000000/minute"
PASSWORD = "three-blue-kettles"
CHUNK = 5000
REQUESTS = 20
SYLLABLES = """
    ba be bi bo da de do ka ke ko la le li lo ma me mi mo na ne no ra re ri ro sa se si so ta te
    to va ve vo schm berg man stein feld bach hof er el en ing sen
    """.split()  # noqa: SIM905
BUSINESSES = """
    Technik Logistik Handel Bau Consulting Systems Solutions Werke Metall Holz Energie Medien
    Software Partners Group Trading Foods Textil Pharma Maschinenbau
    """.split()  # noqa: SIM905
FORMS = ("GmbH", "AG", "KG", "Ltd", "Inc", "SARL", "SpA", "Oy")
# What is looked for, and how many clients of 100,000 have it.
SEARCHES = {
    "one client by number": "C-077777",
    "tax number": "DE100543214",
    "rare word": "schmberg",
    "two words": "müller maschinenbau",
    "word of every seventh": "müller",
    "word of every eighth": "gmbh",
    "two letters": "ba",
    "inside words": "stein",
    "typing error, rare": "shcmberg",
    "typing error, common": "mulelr",
    "typing error, long": "mashcinenbau",
    "two with errors": "mulelr machinenbau",
    "nothing": "zzqqxx",
    "all types": "stein&type=all",
}


def main() -> int:
    """Measure, print, and fail when a search costs more than the budget."""
    options = _options()
    logging.disable(logging.CRITICAL)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, url in _databases(options, Path(folder)):
            app = _application(url, Path(folder))
            token = _fill(app, options.clients)
            for title, query in SEARCHES.items():
                milliseconds, total = _measure(app, token, query, options.rounds)
                worst = max(worst, milliseconds)
                print(f"{name:10} {title:24} {total:7,} found {milliseconds:7.2f} ms of CPU")
            with app.app_context():
                for engine in db.engines.values():
                    engine.dispose()
    print(f"worst: {worst:.1f} ms, budget {BUDGET_MILLISECONDS} ms", file=sys.stderr)
    return int(worst > BUDGET_MILLISECONDS)


def _databases(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str]]:
    """Name and address of each database, made for this run and dropped behind it."""
    yield "SQLite", f"sqlite:///{folder / 'bench.db'}"
    server = make_url(database_url(options.postgresql))
    address = server.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=2)
    except psycopg.OperationalError:
        print(f"no PostgreSQL at {server.host}:{server.port}: left out", file=sys.stderr)
        return
    with connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{DATABASE}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{DATABASE}"')
        try:
            yield "PostgreSQL", server.set(database=DATABASE).render_as_string(hide_password=False)
        finally:
            connection.execute(f'DROP DATABASE "{DATABASE}" WITH (FORCE)')


def _application(url: str, folder: Path) -> Flask:
    app = create_app(
        Config(
            SECRET_KEY="only-for-this-measurement-0123456789",
            DATA_DIR=folder,
            SQLALCHEMY_DATABASE_URI=url,
            RATE_LIMIT_USER=UNLIMITED,
            LOG_FORMAT="json",
        )
    )
    with app.app_context():
        flask_migrate.upgrade()
    return app


def _fill(app: Flask, count: int) -> str:
    """Load the clients; returns an access token."""
    table = Client.__table__
    with app.app_context():
        with transaction(), acting_as(system_caller("bench")):
            create_user(
                username="anna", email=None, display_name="Anna", password=PASSWORD,
                roles=["Manager"],
            )  # fmt: skip
        with db.engine.begin() as connection, _without_trigrams(connection):
            rows = list(_clients(count))
            for start in range(0, count, CHUNK):
                connection.execute(table.insert(), rows[start : start + CHUNK])  # type: ignore[attr-defined]
        with db.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                # Sort the waiting entries of the indexes in, as autovacuum does.
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.execute(text("VACUUM ANALYZE clients"))
            else:
                connection.execute(text("ANALYZE"))
                connection.commit()
    answer = app.test_client().post(
        "/api/auth/login", json={"username": "anna", "password": PASSWORD}
    )
    token: str = answer.json["accessToken"]
    return token


@contextmanager
def _without_trigrams(connection: Connection) -> Iterator[None]:
    """Make the GIN indexes of PostgreSQL anew behind a load: that is much less work."""
    made: list[str] = []
    if connection.dialect.name == "postgresql":
        found = text(
            "SELECT indexname, indexdef FROM pg_indexes"
            " WHERE tablename = 'clients' AND indexname LIKE '%trigrams'"
        )
        for name, definition in connection.execute(found).all():
            connection.execute(text(f"DROP INDEX {name}"))
            made.append(definition)
    yield
    for definition in made:
        connection.execute(text(definition))


def _clients(count: int) -> Iterator[dict[str, Any]]:
    """Clients whose names have words as common and as rare as those of a real book."""
    chance = random.Random(1)
    names = [
        "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 4))).capitalize()
        for _ in range(5000)
    ]
    now = utc_now()
    for number in range(1, count + 1):
        common = min(int(chance.paretovariate(0.8)) - 1, len(names) - 1)
        name = names[common] if chance.random() < 0.5 else chance.choice(names)
        title = f"{name} {chance.choice(BUSINESSES)} {chance.choice(FORMS)}"
        if number % 7 == 0:
            title = f"Müller {title}"
        yield {
            "created_at": now, "updated_at": now, "name": title, "number": f"C-{number:06d}",
            "email": f"info{number}@{name.lower()}{number % 977}.test",
            "tax_id": f"DE{100000000 + number * 7}", "owner_id": 1,
        }  # fmt: skip


def _measure(app: Flask, token: str, query: str, rounds: int) -> tuple[float, int]:
    """Milliseconds of CPU of one search, and how many records it finds."""
    words, _, more = query.partition("&")
    environ = EnvironBuilder(
        "/api/v1/crm/search?q=" + quote(words) + ("&" + more if more else ""),
        headers={"Authorization": f"Bearer {token}"},
    ).get_environ()

    def send() -> bytes:
        status: list[str] = []
        parts: Any = app.wsgi_app(dict(environ), lambda line, *rest: status.append(line))
        body = b"".join(parts)
        parts.close()
        assert status == ["200 OK"], (status, body)
        return body

    total = int(app.json.loads(send())["total"])
    send()
    processes = _database_processes(app)
    best = float("inf")
    for _ in range(rounds):
        before = time.process_time(), _seconds_of(processes)
        for _ in range(REQUESTS):
            send()
        spent = time.process_time() - before[0] + _seconds_of(processes) - before[1]
        best = min(best, spent)
    return best / REQUESTS * 1000, total


def _database_processes(app: Flask) -> list[int]:
    """The processes of PostgreSQL that work for the application."""
    with app.app_context(), read_engine().connect() as connection:
        if connection.dialect.name != "postgresql":
            return []
        return list(
            connection.scalars(
                text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
            )
        )


def _seconds_of(processes: list[int]) -> float:
    """CPU seconds that processes of this machine have used."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.search")
    parser.add_argument("--clients", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--postgresql", default="postgresql://postgres@127.0.0.1:5432")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
