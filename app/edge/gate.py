"""The gate that every request goes through: who calls, how often, and whether that is allowed.

Every request pays for what is here, so it is one function without decorators, and what it needs
of the settings is computed when the application is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask, Request, Response, g, request
from werkzeug.exceptions import MethodNotAllowed

from app import permissions
from app.auth.authentication import Authenticator
from app.auth.epoch import EpochSource
from app.auth.key_use import KeyUse
from app.config import Config
from app.edge.encoding import check_host, check_path, check_query
from app.edge.idempotency import Idempotency
from app.edge.rules import CLOSED, PUBLIC, RouteRules, rules_of
from app.errors import (
    ApiError,
    ApiKeyInvalidError,
    InvalidCredentialsError,
    TooLargeError,
)
from app.limits.limiter import Limiter, require_allowed
from app.request_context import Exchange, exchange_of
from app.security import Caller, set_caller
from app.shared_commit import forget_share

# Room for the names and boundaries of a form around its file.
FORM_OVERHEAD_BYTES = 1_000_000


class Gate:
    """Lets a request in, or raises the error that keeps it out."""

    def __init__(self, app: Flask, config: Config) -> None:
        self._app = app
        self._authenticator: Authenticator = app.extensions["authenticator"]
        self._epochs: EpochSource = app.extensions["epoch"]
        self._limiter: Limiter = app.extensions["limiter"]
        self._key_use: KeyUse = app.extensions["key_use"]
        self._idempotency: Idempotency = app.extensions["idempotency"]
        self._maximum_json = config.MAX_JSON_BYTES
        self._maximum_upload = config.max_upload_bytes + FORM_OVERHEAD_BYTES
        self._rules: dict[str, RouteRules] = {}

    def enter(self) -> Response | None:
        """Before the view: returns an answer only where a stored one is repeated.

        Raises: an ApiError: 401 before 429 before 413 and 403, all of them before 404.
        """
        asked = request
        environ = asked.environ
        exchange = exchange_of(environ)
        set_caller(None)
        check_host(environ)
        if asked.view_args and "token" in asked.view_args and asked.url_rule:
            exchange.route = asked.url_rule.rule  # the address itself is the secret
        elif asked.url_rule is None and environ["PATH_INFO"].startswith("/s/"):
            exchange.route = "/s/<token>"  # a link with a slash behind it, or sent by PUT
        rules = self._rules.get(asked.endpoint or "") or self._find_rules(asked)
        if rules.public:
            self._count_public(rules, asked, exchange)
            caller = None
        else:
            caller = self._admit(asked, environ, exchange)
        self._check_sizes(asked, environ, rules)
        check_path(environ)
        if not rules.mailed:
            check_query(environ)
        if caller is not None:
            for permission in rules.permissions:
                permissions.require(caller, permission)
        if caller is not None and "HTTP_IDEMPOTENCY_KEY" in environ:
            return self._idempotency.begin(asked, caller, streamed=rules.streamed)
        return None

    def _find_rules(self, asked: Request) -> RouteRules:
        if not self._rules:
            self._rules = rules_of(self._app)
        if isinstance(asked.routing_exception, MethodNotAllowed):
            return self._rules_of_other_methods(asked.routing_exception.valid_methods or ())
        return self._rules.get(asked.endpoint or "", CLOSED)

    def _rules_of_other_methods(self, methods: Iterable[str]) -> RouteRules:
        """Of an address that takes only these: whoever may use them all may be told of it."""
        adapter: Any = self._app.create_url_adapter(request)
        found = [adapter.match(method=method, return_rule=True)[0].endpoint for method in methods]
        is_public = all(self._rules.get(endpoint, CLOSED).public for endpoint in found)
        return PUBLIC if found and is_public else CLOSED

    def release(self, error: BaseException | None) -> None:
        """After the request, whatever came of it."""
        forget_share()
        self._idempotency.release(request.environ)

    def _count_public(self, rules: RouteRules, asked: Request, exchange: Exchange) -> None:
        if rules.counting == "free":
            return
        if rules.counting == "sign-in":
            verdict = self._limiter.count_sign_in(asked.remote_addr)
        else:
            verdict = self._limiter.count_address(asked.remote_addr)
        exchange.verdict = verdict
        require_allowed(verdict)

    def _admit(self, asked: Request, environ: dict[str, Any], exchange: Exchange) -> Caller:
        # Excel and Power BI offer Basic only (contract P3).
        basic = environ["PATH_INFO"].startswith("/odata")
        try:
            entry = self._authenticator.find(environ, basic=basic)
            verdict = self._limiter.count_caller(entry.caller)
            epoch = self._epochs.current() if verdict.epoch is None else verdict.epoch
            if entry.epoch != epoch:
                entry = self._authenticator.verify(environ, basic=basic)
        except ApiError as error:
            self._count_refused(error, asked, exchange)
            raise
        caller = entry.caller
        exchange.verdict = verdict
        exchange.principal = caller.principal
        exchange.credential_expires = entry.expires
        set_caller(caller)
        require_allowed(verdict)
        if caller.api_key_id is not None:
            self._key_use.note(caller, asked.remote_addr)
        return caller

    def _count_refused(self, error: ApiError, asked: Request, exchange: Exchange) -> None:
        """A guess counts; no credentials at all, or expired ones, are no guess."""
        if isinstance(error, InvalidCredentialsError | ApiKeyInvalidError):
            exchange.verdict = self._limiter.count_guess(asked.remote_addr)
            require_allowed(exchange.verdict)
            g.guessed = True
        elif error.status == 401:
            exchange.verdict = self._limiter.count_address(asked.remote_addr, 0)

    def _check_sizes(self, asked: Request, environ: dict[str, Any], rules: RouteRules) -> None:
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
