"""``/metrics``: for the monitoring system that knows METRICS_TOKEN, and for nobody without one."""

from __future__ import annotations

import hmac

from flask import Blueprint, Flask, Response, current_app, request

from app.errors import InvalidCredentialsError, NotFoundError, TokenMissingError
from app.http.limits import network, rate_limits
from app.http.request_context import running_app
from app.http.route_names import route_names
from app.http.security import counted, public
from app.metrics.requests import RequestMetrics, request_metrics
from app.metrics.state import StateCollector

blueprint = Blueprint("metrics", __name__)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def init_app(app: Flask) -> None:
    """Count requests, and show the numbers, where METRICS_TOKEN is set."""
    app.register_blueprint(blueprint)
    if app.config["METRICS_TOKEN"]:
        request_metrics.bind(app, RequestMetrics(route_names.of(app)))


@blueprint.get("/metrics")
@public
@counted("free")
def metrics() -> Response:
    """The numbers; ``Authorization: Bearer`` and METRICS_TOKEN.

    Who knows the token is never limited: in a flood the numbers are needed most.
    """
    token: str | None = current_app.config["METRICS_TOKEN"]
    if not token:
        _count_stranger()
        raise NotFoundError("There is nothing at this address.")
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(sent.encode(), token.encode()):
        _count_stranger()
        if sent:
            raise InvalidCredentialsError("The token is not valid.")
        raise TokenMissingError("Send METRICS_TOKEN as a bearer token.")
    numbers = request_metrics.current
    return Response(numbers.text(StateCollector(running_app())), content_type=CONTENT_TYPE)


def _count_stranger() -> None:
    """Count a request without the token against its address.

    Raises: RateLimitedError.
    """
    rate_limits.current.charge(1, f"address:{network(request.remote_addr)}")
