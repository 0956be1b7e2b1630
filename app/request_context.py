"""What a request carries besides its caller: its id and the address it came from."""

from __future__ import annotations

import re
import secrets

from flask import g, has_request_context, request

# What a client may send as X-Request-ID; anything else is replaced, so that no line of a log can
# be forged.
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")


def begin_request() -> None:
    """Give the request its id: the client's X-Request-ID when it is harmless, else a new one."""
    given: str | None = request.environ.get("HTTP_X_REQUEST_ID")
    g.request_id = given if given and _ACCEPTED.fullmatch(given) else secrets.token_hex(16)


def current_request_id() -> str | None:
    """The id of this request; None in jobs and commands."""
    return g.get("request_id") if has_request_context() else None


def client_address() -> str | None:
    """The address the request came from, after the trusted proxies; None in jobs."""
    return request.remote_addr if has_request_context() else None
