"""What the libraries cost alone: the eight requests as plainly as they can be answered with them.

Flask with a view for each shape of request, Flask-Limiter, and one session of Flask-SQLAlchemy that
executes a fixed statement of the peers' ``floor.py``, which makes the JSON; a change adds a row of
audit and an event in its transaction. No token is checked, nothing is parsed, validated or
permitted, and no answer has an ETag. gunicorn serves it with threads, as it does the service.

``PEERS`` is the folder of the peers, ``PLAIN_DB`` SQLAlchemy's address of their rows, and
``PEER_DB`` or ``PEER_PG`` what ``floor.py`` is told of them.
"""

from __future__ import annotations

import itertools
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask, Response, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import TextClause, event, text

from bench.peers.rows import load_module
from bench.peers.servers import UNLIMITED

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "mmap_size=2000000000")
_AUDIT = text("INSERT INTO plain_audit(at, name, body) VALUES (:at, :name, :body)")
_EVENT = text("INSERT INTO plain_events(at, name, body) VALUES (:at, :name, :body)")
_BEGIN = text("BEGIN IMMEDIATE")


def create_app() -> Flask:
    """For ``gunicorn "bench.peers.plain:create_app()"``."""
    floor: Any = load_module(Path(os.environ["PEERS"]) / "floor.py")
    statements = {name: _statement(sql) for name, sql in floor.SQL.items()}
    app = Flask("plain", static_folder=None)
    app.config["SQLALCHEMY_DATABASE_URI"] = os.environ["PLAIN_DB"]
    is_sqlite = not floor.PG
    if is_sqlite:
        app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {"connect_args": {"isolation_level": None}}
    db = SQLAlchemy(app)
    Limiter(
        get_remote_address, app=app, application_limits=[UNLIMITED],
        strategy="moving-window", storage_uri="memory://",
    )  # fmt: skip
    with app.app_context():
        _prepare(db, is_sqlite)

    def run(name: str, *arguments: object) -> str:
        named = {f"p{number}": argument for number, argument in enumerate(arguments)}
        return str(db.session.execute(statements[name], named).scalar_one())

    def change(status: int, name: str, *arguments: object) -> Response:
        if is_sqlite:
            db.session.execute(_BEGIN)
        body = run(name, *arguments)
        record = {"at": datetime.now(UTC).isoformat(), "name": name, "body": body}
        db.session.execute(_AUDIT, record)
        db.session.execute(_EVENT, record)
        db.session.commit()
        return Response(body, status, content_type="application/json")

    @app.get("/odata/Clients(<int:key>)")
    def read(key: int) -> Response:
        return Response(run("W3", key), content_type="application/json")

    @app.get("/odata/Clients/$count")
    def count() -> Response:
        return Response(run("W4", 100_000), content_type="text/plain")

    @app.get("/odata/Clients")
    def read_many() -> Response:
        if "$expand" in request.args:
            body = run("W2", 20)
        elif "$filter" in request.args:
            body = run("W1", "Active", "acme", 50)
        elif "$count" in request.args:
            body = run("W8", 50, 50_000)
        else:
            body = run("W5", 1000)
        return Response(body, content_type="application/json")

    @app.post("/odata/Clients")
    def create() -> Response:
        body = request.get_json()
        values = (body[name] for name in ("name", "email", "taxId", "status", "revenue"))
        return change(201, "W6", *values)

    @app.patch("/odata/Clients(<int:key>)")
    def patch(key: int) -> Response:
        return change(200, "W7", request.get_json()["email"], key)

    @app.delete("/odata/Clients(<int:key>)")
    def delete(key: int) -> Response:
        return change(200, "delete", key)

    return app


def _statement(sql: str) -> TextClause:
    """A statement of the driver's as one of SQLAlchemy's, its parameters ``p0``, ``p1``, ..."""
    numbers = itertools.count()

    def written(match: re.Match[str]) -> str:
        return match[0] if match[0] == "::" else "\\:" if match[0] == ":" else f":p{next(numbers)}"

    return text(re.sub(r"::|:|\?|%s", written, sql))


def _prepare(db: SQLAlchemy, is_sqlite: bool) -> None:
    if is_sqlite:

        @event.listens_for(db.engine, "connect")
        def prepare(connection: Any, record: Any) -> None:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")

    key = "integer" if is_sqlite else "bigserial"
    for table in ("plain_audit", "plain_events"):
        columns = f"id {key} PRIMARY KEY, at text, name text, body text"
        db.session.execute(text(f"CREATE TABLE IF NOT EXISTS {table} ({columns})"))
    db.session.commit()
