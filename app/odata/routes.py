"""The OData service under its addresses: every path below the root is one view."""

from __future__ import annotations

from functools import lru_cache, partial
from urllib.parse import quote

from flask import Flask, Response, request

from app.config import Config
from app.db import records
from app.db.engines import reading
from app.events import addresses, representations
from app.http.answer import audit_denial
from app.http.body_stream import BodyStream
from app.http.deferred import MONITORS, defer, is_wanted, monitored
from app.http.error_answers import error_response
from app.http.json_body import read_body
from app.http.limits import charge
from app.http.links import service_root
from app.http.page_sizes import ODATA
from app.http.request_context import current_exchange
from app.http.security import streamed
from app.odata.batch.parts import BatchEdge
from app.odata.model import edm
from app.odata.protocol.request import Request
from app.odata.service import Connections, ODataService, odata_service
from app.odata.syntax.lexer import Limits
from app.sealing import derived_keys

PREFIXES = ("/odata/", "/odata/v1/")


def init_app(app: Flask, container: edm.EntityContainer, config: Config) -> ODataService:
    """Serve ``container`` under each of ``PREFIXES``, which mean the same.

    ``odata_service`` is bound to it, for whoever reads through it, and ``representations`` and
    ``addresses`` to what events take from it (app/events.py).
    """
    service = ODataService(
        container,
        Connections(reading, records.connection),
        # The keys of before come first: the last one makes tokens.
        [key.secret for key in reversed(derived_keys(config, "odata-token"))],
        limits=Limits(config.MAX_FILTER_DEPTH, config.MAX_FILTER_NODES),
        max_depth=config.MAX_EXPAND_DEPTH,
        page_sizes=ODATA._replace(default=config.ODATA_PAGE_SIZE),
        edge=BatchEdge(
            _refused, charge, config.MAX_BATCH_REQUESTS, config.MAX_URL_BYTES, _own_hosts
        ),
    )
    odata_service.bind(app, service)
    representations.bind(app, service.representations)
    addresses.bind(app, lambda entity, key: PREFIXES[0] + service.address(entity, key))
    for index, prefix in enumerate(PREFIXES):
        endpoint = f"odata-{index}" if index else "odata"
        app.view_functions[endpoint] = streamed(partial(_view, service, config, prefix))
        for rule in (prefix, f"{prefix}<path:resource>"):
            # Of every method: which ones an address takes depends on what lies there.
            app.url_map.add(app.url_rule_class(rule, endpoint=endpoint))
    return service


def _view(service: ODataService, config: Config, prefix: str, resource: str = "") -> Response:
    received = request
    environ = received.environ
    # A decoded path has lost which slashes were part of a key.
    raw: str = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
    at = raw.find(prefix)
    path = raw[at + len(prefix) :].partition("?")[0] if at >= 0 else quote(resource, safe="/")
    host = service_root(environ, config.BASE_URL)
    if path.startswith(MONITORS):
        return monitored(path.removeprefix(MONITORS))
    response = service.answer(
        Request(
            environ["REQUEST_METHOD"],
            path,
            environ["QUERY_STRING"],
            received.headers,
            partial(read_body, config.MAX_JSON_BYTES),
            host + prefix,
            _addresses(host),
            stream=partial(BodyStream, config.max_upload_bytes),
        )
    )
    return defer(response, host + prefix) if is_wanted(environ) else response


@lru_cache(maxsize=64)
def _addresses(host: str) -> tuple[str, ...]:
    """All that means the root of the service."""
    return tuple(address for prefix in PREFIXES for address in (host + prefix, prefix))


def _refused(error: Exception, method: str, path: str) -> Response:
    """The answer to a request of a batch; a refusal is in the audit log as if it came alone."""
    response = error_response(error, method)
    audit_denial(current_exchange(), method, path)
    return response


def _own_hosts() -> tuple[str, ...]:
    """The name that this request used, which the requests in a batch may use, too."""
    host = request.headers.get("Host")
    return () if host is None else (host,)
