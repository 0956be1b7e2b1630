"""How many steps of the interpreter a request takes: a figure that no busy machine changes.

    python -m bench.steps [--by module|function] [--postgresql URL]

Each request is one call of the WSGI application in this process, on a new SQLite database or an
empty one of PostgreSQL; steps are bytecode instructions, calls are those of Python functions. What
SQLite and other libraries in C do is not in them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import orjson
from flask import Flask
from werkzeug.test import EnvironBuilder

from app.auth.users import create_user
from app.config import database_url
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.logs import request_log
from bench.edge import PASSWORD, new_service

REQUESTS = 20
WARM_UP = 5
MOST_LINES = 40
_ROOT = f"{Path(__file__).parents[1]}/"


def main() -> int:
    """Count, and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        url = database_url(options.postgresql) if options.postgresql else None
        app = new_service(Path(folder), database_url=url)
        request_log.of(app).write_line = lambda line: None
        for name, requests in _workloads(app).items():
            steps, calls = _count(app, requests)
            print(
                f"{name:24} {steps.total() / REQUESTS:8,.0f} steps {calls / REQUESTS:6,.0f} calls"
            )
            for place, count in _grouped(steps, options.by):
                print(f"    {count / REQUESTS:8,.0f}  {place}")
    return 0


def _workloads(app: Flask) -> dict[str, Iterator[dict[str, Any]]]:
    """Name -> the WSGI environments of its requests, without end."""
    with app.app_context(), transaction(), acting_as(system_caller("bench")):
        create_user(
            username="mara", email=None, display_name="Mara", password=PASSWORD, roles=["Admin"]
        )
    person = {"username": "mara", "password": PASSWORD}
    token = app.test_client().post("/api/auth/login", json=person).json["accessToken"]

    def requests(
        method: str, path: str, body: Callable[[int], dict[str, Any]] | None = None
    ) -> Iterator[dict[str, Any]]:
        for number in itertools.count(1):
            yield EnvironBuilder(
                path, method=method, headers={"Authorization": f"Bearer {token}"},
                data=orjson.dumps(body(number)) if body else None,
                content_type="application/json" if body else None,
            ).get_environ()  # fmt: skip

    def client(number: int) -> dict[str, Any]:
        return {"name": f"Client {number}", "email": f"c{number}@bench.example", "revenue": 1.25}

    return {
        "create a client": requests("POST", "/odata/Clients", client),
        "patch one property": requests(
            "PATCH", "/odata/Clients(1)", lambda number: {"email": f"p{number}@bench.example"}
        ),
        "read a client": requests("GET", "/odata/Clients(1)?$select=id,name,email,status,revenue"),
        "count with a filter": requests("GET", "/odata/Clients/$count?$filter=revenue%20gt%201"),
    }


def _count(app: Flask, requests: Iterator[dict[str, Any]]) -> tuple[Counter[CodeType], int]:
    steps: Counter[CodeType] = Counter()
    calls = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal calls
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            calls += 1
        elif event == "opcode":
            steps[frame.f_code] += 1
        return trace

    def send(environ: dict[str, Any]) -> None:
        parts: Iterable[bytes] = app.wsgi_app(environ, _expect_success)
        for _ in parts:
            pass
        parts.close()  # type: ignore[attr-defined]

    for environ in itertools.islice(requests, WARM_UP):
        send(environ)
    for environ in itertools.islice(requests, REQUESTS):
        sys.settrace(trace)
        try:
            send(environ)
        finally:
            sys.settrace(None)
    return steps, calls


def _expect_success(status: str, headers: Any, exc_info: Any = None) -> Any:
    if not status.startswith("2"):
        raise RuntimeError(status)


def _grouped(steps: Counter[CodeType], by: str | None) -> list[tuple[str, int]]:
    """Where the steps are taken, most of them first."""
    if by is None:
        return []
    found: Counter[str] = Counter()
    for code, count in steps.items():
        module = code.co_filename.removeprefix(_ROOT).rpartition("site-packages/")[2]
        found[module if by == "module" else f"{module} {code.co_qualname}"] += count
    return found.most_common(MOST_LINES)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", choices=("module", "function"), help="also show where")
    parser.add_argument("--postgresql", metavar="URL", help="an empty database")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
