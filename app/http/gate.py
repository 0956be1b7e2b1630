"""The gate that every request goes through: who calls, how often, and whether that is allowed.

``identify`` finds the caller and names the bucket that the request counts against, Flask-Limiter
counts it (app/http/limits.py), ``enter`` lets it in; each is a ``before_request`` (docs/adr/0003).
Addresses are text: no database takes NUL, and nobody bad UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

from flask import Flask, Request, Response, request
from flask_jwt_extended.exceptions import JWTExtendedException, WrongTokenError
from jwt import ExpiredSignatureError, PyJWTError
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import Rule

from app import permissions
from app.auth.api_keys import key_use
from app.auth.authentication import authenticator
from app.config import Config
from app.errors import (
    ApiError,
    ApiKeyInvalidError,
    InvalidCredentialsError,
    InvalidQueryError,
    TooLargeError,
    ValidationError,
)
from app.http.idempotency import VARIABLE, idempotency
from app.http.limits import network, rate_limits
from app.http.request_context import Exchange, exchange_of
from app.http.security import CLOSED, PUBLIC, RouteRules, current_caller, rules_of, set_caller

# Room for the names and boundaries of a form around its file.
FORM_OVERHEAD_BYTES = 1_000_000


class Gate:
    """Lets a request in, or raises the error that keeps it out."""

    def __init__(self, app: Flask, config: Config) -> None:
        self._app = app
        self._authenticator = authenticator.of(app)
        self._idempotency = idempotency.of(app)
        self._maximum_json = config.MAX_JSON_BYTES
        self._maximum_upload = config.max_upload_bytes + FORM_OVERHEAD_BYTES
        self._rules: dict[str, RouteRules] = {}

    def identify(self) -> None:
        """Find the caller; a refusal waits until the request was counted.

        Raises: an ApiError for a host that is not ours, or an address that cannot be read.
        """
        http_request = request
        environ = http_request.environ
        exchange = exchange_of(environ)
        set_caller(None)
        check_host(environ)
        rule = http_request.url_rule
        if rule is not None and "token" in rule.arguments:
            exchange.route = rule.rule  # the address itself is the secret
        elif rule is None and environ["PATH_INFO"].startswith("/s/"):
            exchange.route = "/s/<token>"  # a link with a slash behind it, or sent by PUT
        rules = exchange.rules = self._find_rules(http_request, rule)
        if not rules.public:
            self._find_caller(http_request, environ, exchange)
        elif rules.counting != "free":
            exchange.bucket = f"{rules.counting}:{network(http_request.remote_addr)}"

    def enter(self) -> Response | None:
        """Before the view: returns an answer only where a stored one is repeated.

        Raises: what ``identify`` found wrong with the credentials; an ApiError: 413, 400 and 403,
            all of them before 404.
        """
        http_request = request
        environ = http_request.environ
        exchange = exchange_of(environ)
        # As it stands when it was counted, before others are.
        rate_limits.current.note_standing(exchange)
        if exchange.refused is not None:
            raise exchange.refused
        rules = exchange.rules
        self._check_sizes(http_request, environ, rules)
        check_path(environ)
        if not rules.mailed:
            check_query(environ)
        if rules.public:
            return None
        caller = current_caller()
        if caller.api_key_id is not None:
            key_use.current.note(caller, http_request.remote_addr)
        for permission in rules.permissions:
            permissions.require(caller, permission)
        if VARIABLE in environ:
            return self._idempotency.begin(http_request, caller, streamed=rules.streamed)
        return None

    def _find_rules(self, http_request: Request, rule: Rule | None) -> RouteRules:
        if not self._rules:
            self._rules = rules_of(self._app)
        if rule is not None:
            return self._rules.get(rule.endpoint, CLOSED)
        if isinstance(http_request.routing_exception, MethodNotAllowed):
            return self._rules_of_other_methods(http_request.routing_exception.valid_methods or ())
        return CLOSED

    def _rules_of_other_methods(self, methods: Iterable[str]) -> RouteRules:
        """Of an address that takes only these: whoever may use them all may be told of it."""
        adapter: Any = self._app.create_url_adapter(request)
        endpoints = [
            adapter.match(method=method, return_rule=True)[0].endpoint for method in methods
        ]
        is_public = all(self._rules.get(endpoint, CLOSED).public for endpoint in endpoints)
        return PUBLIC if endpoints and is_public else CLOSED

    def release(self, error: BaseException | None) -> None:
        """After the request, whatever came of it."""
        self._idempotency.release(request.environ)

    def _find_caller(
        self, http_request: Request, environ: dict[str, Any], exchange: Exchange
    ) -> None:
        # Excel and Power BI offer Basic only (contract P3).
        basic = environ["PATH_INFO"].startswith("/odata")
        try:
            entry = self._authenticator.find(environ, basic=basic)
        except (ApiError, PyJWTError, JWTExtendedException) as error:
            exchange.refused = error
            # A guess counts; no credentials at all, or expired ones, are no guess.
            exchange.is_guess = _is_guess(error)
            name = "guess" if exchange.is_guess else "address"
            exchange.bucket = f"{name}:{network(http_request.remote_addr)}"
            exchange.cost = int(exchange.is_guess)
            return
        exchange.bucket = exchange.principal = entry.caller.principal
        exchange.credential_expires = entry.expires
        set_caller(entry.caller)

    def _check_sizes(
        self, http_request: Request, environ: dict[str, Any], rules: RouteRules
    ) -> None:
        if rules.streamed and _carries_file(environ):
            maximum = self._maximum_upload
        else:
            maximum = self._maximum_json
        length: str = environ.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and (len(length) > 18 or int(length) > maximum):
            raise TooLargeError(f"The body has more than {maximum} bytes.")


def _carries_file(environ: dict[str, Any]) -> bool:
    """Whether the body of a streamed view is a file; those of OData are mostly entities."""
    path: str = environ["PATH_INFO"]
    if not path.startswith("/odata") or path.endswith("/$value"):
        return True
    media_type = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    return media_type not in ("application/json", "multipart/mixed", "text/plain", "")


def _is_guess(error: Exception) -> bool:
    if isinstance(error, PyJWTError):
        return not isinstance(error, ExpiredSignatureError)
    return isinstance(error, InvalidCredentialsError | ApiKeyInvalidError | WrongTokenError)


# Escapes that need not be text: of NUL, and of bytes beyond ASCII.
_UNCLEAR = re.compile(r"%(?:00|[89A-Fa-f])|[^\x01-\x7f]")
# RFC 9110, 7.2, and RFC 3986, 3.2.2: a name or an address, and perhaps a port; it may be empty.
_HOST = re.compile(r"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?", re.ASCII | re.I)
_BAD_UTF8, _HAS_NUL = "is not valid UTF-8", "has the character U+0000"


def check_host(environ: dict[str, Any]) -> None:
    """Raise ValidationError unless the head says whom it is for (RFC 9112, 3.2)."""
    host: str | None = environ.get("HTTP_HOST")
    if host is None and environ.get("SERVER_PROTOCOL") in ("HTTP/1.0", "HTTP/0.9"):
        return
    if host is None or not _HOST.fullmatch(host):
        raise ValidationError([("Host", "must be a host, with or without a port")])


def check_path(environ: dict[str, Any]) -> None:
    """Raise InvalidQueryError where the path is no text."""
    path: str = environ["PATH_INFO"]
    # Its escapes are decoded, and each byte is one character (PEP 3333).
    problem = None if path.isascii() and "\0" not in path else _problem(path.encode("latin-1"))
    if problem is not None:
        raise InvalidQueryError(f"The address {problem}.")


def check_query(environ: dict[str, Any]) -> None:
    """Raise InvalidQueryError, with the name of each parameter that is no text."""
    query: str = environ.get("QUERY_STRING", "")
    if not _UNCLEAR.search(query):
        return
    details = []
    for pair in query.encode("latin-1").replace(b"+", b" ").split(b"&"):
        problem = _problem(unquote_to_bytes(pair))
        if problem is not None:
            name = unquote_to_bytes(pair.partition(b"=")[0]).decode(errors="replace")
            details.append((name.replace("\0", "\ufffd"), problem))
    if details:
        name, problem = details[0]
        raise InvalidQueryError(f"The parameter {name} {problem}.", details)


def _problem(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _BAD_UTF8
    return _HAS_NUL if "\0" in text else None
