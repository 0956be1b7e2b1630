"""What the edge costs: CPU of a request through authentication and limit, over the bare view.

    python -m bench.edge [--redis redis://127.0.0.1:6379/5] [--requests 5000]

A request is one call of the WSGI application in this process, without a server. They take turns in
every round: the same view in a bare Flask; in the service, but public and not counted (headers,
line of log and transaction are in that already); with a token; and with an API key. The best round
of each counts, as microseconds of CPU of this process; Redis' own CPU is not in it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import flask_migrate
from flask import Flask, Response
from werkzeug.test import EnvironBuilder

from app.auth.api_keys import create_api_key
from app.auth.users import create_user
from app.config import Config
from app.db.engines import transaction
from app.factory import create_app
from app.http.security import acting_as, counted, public, system_caller

UNLIMITED = "100000000/minute"
BUDGET = {"memory": 100, "Redis": 300}
PASSWORD = "three-blue-kettles"
BODY = b'{"value":[]}'


def main() -> int:
    """Measure, print, and fail when the budget is exceeded."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_app()
        store = "Redis" if options.redis else "memory"
        app = service_app(Path(folder), options.redis)
        token, key = credentials(app)
        calls = {
            "bare view": request(bare, {}),
            "public": request(app, {}, "/odata/public"),
            "token": request(app, {"Authorization": f"Bearer {token}"}),
            "API key": request(app, {"X-API-Key": key}),
        }
        best = measure(calls, options.requests, options.rounds)
    for name, microseconds in best.items():
        over = microseconds - best["bare view"]
        print(f"{store:8} {name:10} {microseconds:8.1f} us {over:+8.1f} us", file=sys.stderr)
    cost = max(best["token"], best["API key"]) - best["public"]
    print(f"authenticate + limit: {cost:.1f} us, budget {BUDGET[store]} us", file=sys.stderr)
    return int(cost > BUDGET[store])


def bare_app() -> Flask:
    """Flask and a view, nothing else."""
    app = Flask("bare", static_folder=None)
    app.add_url_rule("/odata/probe", view_func=_answer)
    return app


def service_app(folder: Path, redis_url: str | None) -> Flask:
    """The service with the same view."""
    app = new_service(folder, redis_url)
    app.add_url_rule("/odata/probe", view_func=_answer)
    app.add_url_rule("/odata/public", view_func=counted("free")(public(_answer_public)))
    return app


def new_service(
    folder: Path, redis_url: str | None = None, database_url: str | None = None
) -> Flask:
    """The service over a new database: of SQLite, or the empty one at ``database_url``."""
    config = Config(
        SECRET_KEY="only-for-this-measurement-0123456789",
        DATA_DIR=folder,
        SQLALCHEMY_DATABASE_URI=database_url or f"sqlite:///{folder / 'bench.db'}",
        REDIS_URL=redis_url,
        RATE_LIMIT_USER=UNLIMITED,
        RATE_LIMIT_API_KEY=UNLIMITED,
        LOG_FORMAT="json",
    )
    app = create_app(config)
    with app.app_context():
        flask_migrate.upgrade()
    return app


def credentials(app: Flask) -> tuple[str, str]:
    """An access token and an API key."""
    with app.app_context(), transaction(), acting_as(system_caller("bench")):
        create_user(
            username="anna", email=None, display_name="Anna", password=PASSWORD, roles=["Viewer"]
        )
        key = create_api_key(name="bench", role="Viewer").key
    answer = app.test_client().post(
        "/api/auth/login", json={"username": "anna", "password": PASSWORD}
    )
    return answer.json["accessToken"], key


def request(app: Flask, headers: dict[str, str], path: str = "/odata/probe") -> Callable[[], None]:
    """A function that sends one request to ``app``."""
    environ = EnvironBuilder(f"{path}?$top=1", headers=headers).get_environ()

    def start(status: str, headers: Any, exc_info: Any = None) -> Any:
        assert status == "200 OK", status

    def send() -> None:
        # A server makes a new dictionary for each request.
        parts: Iterable[bytes] = app.wsgi_app(dict(environ), start)
        for _ in parts:
            pass
        parts.close()  # type: ignore[attr-defined]

    return send


def measure(calls: dict[str, Callable[[], None]], requests: int, rounds: int) -> dict[str, float]:
    """The best CPU time of each call in microseconds."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            begin = time.process_time()
            for _ in range(requests):
                call()
            spent = (time.process_time() - begin) / requests * 1e6
            best[name] = min(best[name], spent)
    return best


def _answer() -> Response:
    return Response(BODY, content_type="application/json")


def _answer_public() -> Response:
    return _answer()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--redis", help="address of a Redis; without one limits are in memory")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
