"""What reads and writes cost the libraries alone, beside the service: CPU of one process, in turn.

    python -m bench.floor [--postgresql URL of an empty database] [--requests 100] [--rounds 15]

The floor is a Flask application with a view for each: Flask-JWT-Extended checks the token,
Flask-Limiter counts it in a moving window (app/http/limit_windows.py), Flask-SQLAlchemy's session
selects, inserts or updates a client by Core and adds a record of audit and an event, as plain as
they can be. It uses the tables of the service, with their indexes and triggers, and validates,
permits and compares nothing. A request is one call of the WSGI application; the best round counts.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
from flask import Flask, Response, request
from flask_jwt_extended import JWTManager, create_access_token, jwt_required
from flask_limiter import Limiter
from flask_sqlalchemy import SQLAlchemy
from psycopg.types.string import TextLoader
from sqlalchemy import bindparam, event, insert, select, update
from werkzeug.test import EnvironBuilder

from app.auth.users import create_user
from app.clock import utc_now
from app.config import database_url
from app.db.engines import transaction
from app.db.sqlite import PRAGMAS
from app.http.security import acting_as, system_caller
from app.models.client import Client
from app.models.event import AuditRecord, Event
from app.models.searched import search_text
from bench.edge import PASSWORD, UNLIMITED, new_service

CLIENT: Any = Client.__table__
AUDIT: Any = AuditRecord.__table__
EVENT: Any = Event.__table__
JWT_KEY = "only for this measurement, long enough"
SHOWN = ("id", "name", "email", "status", "revenue")

Body = dict[str, Any]


def main() -> int:
    """Measure, and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        url = database_url(options.postgresql) if options.postgresql else None
        service = new_service(Path(folder), database_url=url)
        service.extensions["request_log"]._write = lambda line: None
        apps = {"ours": service, "floor": floor_app(service.config["SQLALCHEMY_DATABASE_URI"])}
        tokens = {"ours": _sign_in(service), "floor": _token(apps["floor"])}
        print(f"CPU us a request   {'ours':>8} {'floor':>8}    ratio")
        for name, (method, body) in WORKLOADS.items():
            best = dict.fromkeys(apps, float("inf"))
            calls = {
                side: _requests(app, tokens[side], method, "/odata/Clients", body)
                for side, app in apps.items()
            }
            for _ in range(options.rounds):
                for side, call in calls.items():
                    best[side] = min(best[side], _cost(call, options.requests))
            ratio = best["ours"] / best["floor"]
            print(f"{name:18} {best['ours']:8.0f} {best['floor']:8.0f} {ratio:8.2f}", flush=True)
    return 0


def floor_app(url: str) -> Flask:
    """The libraries and three views."""
    app = Flask("floor", static_folder=None)
    app.config.update(
        SQLALCHEMY_DATABASE_URI=url, JWT_SECRET_KEY="only for this measurement, long enough"
    )
    if url.startswith("sqlite"):
        # As the service has them; the driver begins transactions by itself.
        app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {"connect_args": {"timeout": 10}}
    db = SQLAlchemy(app)
    JWTManager(app)
    Limiter(
        lambda: request.headers["Authorization"],
        app=app,
        application_limits=[UNLIMITED],
        strategy="moving-window",
        storage_uri="window://",
    )
    _prepare(app, db)
    chosen = select(*(CLIENT.c[name] for name in SHOWN)).where(CLIENT.c.id == bindparam("key"))
    whole = select(CLIENT).where(CLIENT.c.id == bindparam("key"))
    change = update(CLIENT).where(CLIENT.c.id == bindparam("key"))

    def follow(name: str, key: int, shown: Body) -> None:
        now = utc_now()
        audit = {"created_at": now, "via": "jwt", "action": name, "entity": "Client"}
        db.session.execute(insert(AUDIT), {**audit, "entity_id": key, "after": shown})
        told = {"created_at": now, "type": name, "entity": "Client", "entity_id": key}
        payload = {"key": os.urandom(16).hex(), "sequence": 1, "payload": shown}
        db.session.execute(insert(EVENT), {**told, **payload})
        db.session.commit()

    @app.get("/odata/Clients(<int:key>)")
    @jwt_required()
    def read(key: int) -> Response:
        row = db.session.execute(chosen, {"key": key}).mappings().one()
        return Response(orjson.dumps(dict(row), default=str), content_type="application/json")

    @app.post("/odata/Clients")
    @jwt_required()
    def create() -> Response:
        body, now = orjson.loads(request.get_data()), utc_now()
        given = {**body, "number": os.urandom(6).hex(), "created_at": now, "updated_at": now}
        result: Any = db.session.execute(insert(CLIENT), {**given, "currency": "EUR"})
        follow("client.created", result.inserted_primary_key[0], body)
        return Response(orjson.dumps(body), 201, content_type="application/json")

    @app.patch("/odata/Clients(<int:key>)")
    @jwt_required()
    def patch(key: int) -> Response:
        body = orjson.loads(request.get_data())
        row = db.session.execute(whole, {"key": key}).mappings().one()
        stamps = {"version": row["version"] + 1, "updated_at": utc_now()}
        db.session.execute(change, {**body, **stamps, "key": key})
        follow("client.updated", key, body)
        shown = orjson.dumps({**row, **body}, default=str)
        return Response(shown, content_type="application/json")

    return app


def _prepare(app: Flask, db: SQLAlchemy) -> None:
    """What tables and types need of a connection, and every commit synced, as in the service."""

    def prepare(connection: Any, record: Any) -> None:
        if db.engine.dialect.name == "postgresql":
            connection.adapters.register_loader("json", TextLoader)
            return
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.create_function("search_text", 1, search_text, deterministic=True)

    with app.app_context():
        event.listen(db.engine, "connect", prepare)


def _client(number: int) -> Body:
    return {"name": f"Client {number}", "email": f"c{number}@bench.example", "revenue": 1.25}


# Workload -> the method, and the body of each request.
WORKLOADS: dict[str, tuple[str, Callable[[int], Body] | None]] = {
    "create a client": ("POST", _client),
    "patch one property": ("PATCH", lambda number: {"email": f"p{number}@bench.example"}),
    "read a client": ("GET", None),
}
_numbers = itertools.count(1)


def _requests(
    app: Flask, token: str, method: str, path: str, body: Callable[[int], Body] | None
) -> Callable[[int], Iterator[None]]:
    """A function that makes so many requests ready, and sends one at each step."""

    def environs(count: int) -> list[dict[str, Any]]:
        return [
            EnvironBuilder(
                path if method == "POST" else f"{path}(1)", method=method,
                headers={"Authorization": f"Bearer {token}"},
                query_string=f"$select={','.join(SHOWN)}" if method == "GET" else None,
                data=orjson.dumps(body(next(_numbers))) if body else None,
                content_type="application/json" if body else None,
            ).get_environ()
            for _ in range(count)
        ]  # fmt: skip

    def send(count: int) -> Iterator[None]:
        ready = environs(count)
        yield
        for environ in ready:
            parts: Iterable[bytes] = app.wsgi_app(environ, _expect_success)
            for _ in parts:
                pass
            parts.close()  # type: ignore[attr-defined]
        yield

    return send


def _cost(send: Callable[[int], Iterator[None]], count: int) -> float:
    steps = send(count)
    next(steps)
    begin = time.process_time()
    next(steps)
    return (time.process_time() - begin) / count * 1e6


def _expect_success(status: str, headers: Any, exc_info: Any = None) -> Any:
    if not status.startswith("2"):
        raise RuntimeError(status)


def _sign_in(app: Flask) -> str:
    with app.app_context(), transaction(), acting_as(system_caller("bench")):
        create_user(
            username="mara", email=None, display_name="Mara", password=PASSWORD, roles=["Admin"]
        )
    person = {"username": "mara", "password": PASSWORD}
    return str(app.test_client().post("/api/auth/login", json=person).json["accessToken"])


def _token(app: Flask) -> str:
    with app.app_context():
        return create_access_token("1", expires_delta=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgresql", metavar="URL", help="an empty database")
    parser.add_argument("--requests", type=int, default=100, help="of each kind in a round")
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
