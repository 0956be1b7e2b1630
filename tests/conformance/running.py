"""The service itself, started for a run: its own database, one administrator, no limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flask_migrate
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from app.auth.api_keys import create_api_key
from app.config import Config
from app.db.engines import transaction
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.logs import request_log
from tests.conformance.service import Service, fill
from tests.databases import close_engines

UNLIMITED = "1000000/minute"


class Quiet(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


@contextmanager
def running_service(folder: Path, database_url: str) -> Iterator[Service]:
    """Serve a new application on a port of loopback, with rows to ask about."""
    config = Config(
        SECRET_KEY="a secret of the conformance run and of nothing else",
        DATA_DIR=folder,
        SQLALCHEMY_DATABASE_URI=database_url,
        STORAGE_URL=f"file://{folder / 'files'}",
        MAIL_URL=f"file://{folder / 'mail'}",
        RATE_LIMIT_USER=UNLIMITED,
        RATE_LIMIT_API_KEY=UNLIMITED,
        RATE_LIMIT_AUTH=UNLIMITED,
    )
    app = create_app(config)
    # What is printed is the result, not a line for each request.
    vars(request_log.of(app))["_write"] = len
    with app.app_context():
        flask_migrate.upgrade()
    key = _api_key(app)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        service = Service("127.0.0.1", server.server_port, {"X-API-Key": key})
        fill(service)
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        close_engines(app)


def _api_key(app: Flask) -> str:
    with app.app_context(), transaction(), acting_as(system_caller("conformance")):
        return create_api_key(name="conformance", role="Admin").key
