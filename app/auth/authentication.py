"""Authentication: the caller behind the credentials of a request (contract P3, docs/adr/0003).

Verifying a token costs a signature and a query; what was found is remembered until the token ends
or the security epoch changes, which is when any right or session anywhere does. This cache stands
in front of Flask-JWT-Extended (docs/adr/0003).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine

from app.auth.credentials import (
    VerifiedCaller,
    check_api_key_form,
    find_by_api_key,
    find_by_session,
    read_authorization,
)
from app.auth.epoch import EpochSource
from app.auth.tokens import verify_token
from app.clock import unix_seconds
from app.errors import TokenMissingError
from app.extensions import Extension

# The WSGI environment -> the user and the session, or None without a ticket.
TicketReader = Callable[[Mapping[str, Any]], tuple[int, str] | None]
# Entries are some 600 bytes beyond the rights, which callers of one role do not share.
MAXIMUM_ENTRIES = 10_000


class Authenticator:
    """Finds the caller of a request, from memory when it was verified in the present epoch."""

    def __init__(self, engine: Engine, epochs: EpochSource) -> None:
        self._engine = engine
        self._epochs = epochs
        self._known: dict[str | bytes, VerifiedCaller] = {}
        # What stands in for headers where a client cannot send any: it reads a ticket out of the
        # address, and says whose session it is of (app/ai/tickets.py).
        self.read_ticket: TicketReader = _no_ticket

    def find(self, environ: Mapping[str, Any], *, basic: bool) -> VerifiedCaller:
        """The verified caller of the running request.

        Args:
            basic: whether this address takes Basic, with an API key as the password.
        Raises: an ApiError with status 401; of a token what Flask-JWT-Extended raises.
        """
        authorization = environ.get("HTTP_AUTHORIZATION")
        api_key = environ.get("HTTP_X_API_KEY")
        if authorization is None and api_key is None:
            ticket = self.read_ticket(environ)
            if ticket is not None:  # for one request, so it is not remembered
                return find_by_session(self._engine, *ticket)
            raise TokenMissingError("Sign in: send a bearer token or an API key.")
        epoch = self._epochs.current()
        caller = None
        if api_key is not None:
            name = _digest(api_key)
            caller = self._remembered(name, epoch) or self._of_key(name, api_key)
        if authorization is not None:
            # With two credentials each must be good; the caller is whom the first one names.
            caller = self._of_authorization(authorization, basic, epoch)
        assert caller is not None
        return caller

    def _of_authorization(self, header: str, basic: bool, epoch: int) -> VerifiedCaller:
        # Basic carries an API key, which is not kept in memory as it came.
        is_basic = header[:5].lower() == "basic"
        name = _digest(header) if is_basic else header
        caller = self._remembered(name, epoch)
        if caller is not None and caller.by_basic <= basic:
            return caller
        credential = read_authorization(header, basic=basic)
        if credential.kind == "token":
            return self._remember(name, verify_token(credential.secret, self._engine))
        return self._of_key(name, credential.secret, by_basic=is_basic)

    def _of_key(self, name: str | bytes, key: str, *, by_basic: bool = False) -> VerifiedCaller:
        check_api_key_form(key)
        return self._remember(name, replace(find_by_api_key(self._engine, key), by_basic=by_basic))

    def _remembered(self, name: str | bytes, epoch: int) -> VerifiedCaller | None:
        caller = self._known.get(name)
        if caller is None or caller.expires <= unix_seconds():
            return None
        if caller.epoch != epoch:  # a right or a session has ended somewhere
            self._known.clear()
            return None
        return caller

    def _remember(self, name: str | bytes, caller: VerifiedCaller) -> VerifiedCaller:
        if len(self._known) >= MAXIMUM_ENTRIES:
            self._known.clear()
        self._known[name] = caller
        return caller


def _no_ticket(environ: Mapping[str, Any]) -> None:
    return None


def _digest(header: str) -> bytes:
    return hashlib.sha256(header.encode()).digest()


authenticator = Extension[Authenticator]("authenticator")
