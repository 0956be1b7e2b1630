"""Flask with the edge around it: what every answer carries is added where it leaves.

Headers are added to the list that goes to the server, not to the response object, which checks
each of them twice; nothing here is asynchronous, so no function is asked whether it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Request
from werkzeug.routing import MapAdapter

from app.edge.answer import Finisher
from app.edge.asked import AskedRequest
from app.edge.gate import Gate
from app.edge.leaving import Leaving
from app.request_context import begin_exchange
from app.shared_commit import forget_share


class Application(Flask):
    """The service as a WSGI application; ``guard`` comes before the first request."""

    request_class = AskedRequest
    gate: Gate
    finisher: Finisher

    def guard(self, gate: Gate, finisher: Finisher) -> None:
        """Put every request between ``gate`` and ``finisher``."""
        self.gate, self.finisher = gate, finisher
        self.before_request(gate.enter)
        self.after_request(finisher.leave)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """``func`` as it is."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """What finds the view of ``request``: by path and method, never by host.

        Flask binds it to the host as well, which no route asks for and nothing here is built from.
        """
        if request is None:
            return None
        environ = request.environ
        path: str = environ["PATH_INFO"]
        if not path.isascii():  # each byte as one character (PEP 3333)
            path = path.encode("latin-1").decode("utf-8", "replace")
        return MapAdapter(
            self.url_map, "", "/", "", environ["wsgi.url_scheme"], path,
            environ["REQUEST_METHOD"], environ.get("QUERY_STRING", ""),
        )  # fmt: skip

    def full_dispatch_request(self) -> Any:
        """The answer to the request of this context, as something that WSGI calls."""
        return Leaving(super().full_dispatch_request())

    def wsgi_app(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        exchange = begin_exchange(environ)
        finish = self.finisher.finish

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            finish(environ, exchange, status, headers)
            return start_response(status, headers, exc_info)

        try:
            return super().wsgi_app(environ, start)
        finally:
            forget_share()
            self.gate.release(environ)
