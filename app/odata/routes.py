"""The OData service under its addresses: every path below the root is one view."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from urllib.parse import quote

from flask import Flask, Response, request
from sqlalchemy import Connection

from app import records
from app.config import Config
from app.database import read_engine
from app.json_body import read_body
from app.links import service_root
from app.odata import edm
from app.odata.cursor import Limits
from app.odata.service import Connections, ODataService, Request

METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE")


def init_app(
    app: Flask, container: edm.EntityContainer, config: Config, *,
    prefixes: tuple[str, ...] = ("/odata/", "/odata/v1/"),
) -> ODataService:  # fmt: skip
    """Serve ``container`` under each of ``prefixes``, which mean the same.

    ``app.extensions["odata"]`` is the service, for whoever reads through it; ``representation``
    and ``entity_url`` are what events take from it (app/events.py).
    """
    service = ODataService(
        container,
        Connections(_reading, records.connection),
        config.SECRET_KEY,
        limits=Limits(config.MAX_FILTER_DEPTH, config.MAX_FILTER_NODES),
        max_depth=config.MAX_EXPAND_DEPTH,
    )
    app.extensions["odata"] = service
    app.extensions["representation"] = service.representation
    app.extensions["entity_url"] = lambda entity, key: prefixes[0] + service.address(entity, key)
    for index, prefix in enumerate(prefixes):
        view = partial(_view, service, config, prefix, prefixes)
        endpoint = f"odata-{index}" if index else "odata"
        for rule in (prefix, f"{prefix}<path:resource>"):
            app.add_url_rule(rule, endpoint, view, methods=METHODS, provide_automatic_options=False)
    return service


def _view(
    service: ODataService, config: Config, prefix: str, prefixes: tuple[str, ...],
    resource: str = "",
) -> Response:  # fmt: skip
    environ = request.environ
    # A decoded path has lost which slashes were part of a key.
    raw: str = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
    at = raw.find(prefix)
    path = raw[at + len(prefix) :].partition("?")[0] if at >= 0 else quote(resource, safe="/")
    host = service_root(environ, config.BASE_URL)
    return service.answer(
        Request(
            environ["REQUEST_METHOD"],
            path,
            environ["QUERY_STRING"],
            request.headers,
            partial(read_body, config.MAX_JSON_BYTES),
            host + prefix,
            tuple(address for other in prefixes for address in (host + other, other)),
        )
    )


def _reading() -> AbstractContextManager[Connection]:
    return read_engine().connect()
