"""Tickets for streams: a browser's EventSource sends no headers, so the address carries one.

A ticket opens the stream of one session, once, within a minute. It is sealed and names the sign-in
of its owner, whose rights are looked up when it is used: who has signed out reads nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import orjson
from flask import Flask
from sqlalchemy import delete

from app.auth.authentication import authenticator
from app.clock import unix_seconds, utc_now
from app.db import records
from app.errors import TokenMissingError
from app.http.security import Caller
from app.models.assistant import AiStreamTicket
from app.sealing import UnsealError, seal, unseal

VALID_FOR = timedelta(minutes=1)
_STREAMS = ("/api/ai/chat/stream", "/api/v1/ai/chat/stream")


def init_tickets(app: Flask) -> None:
    """Let requests for streams come with a ticket instead of headers."""
    authenticator.of(app).read_ticket = read_ticket


def make_ticket(caller: Caller, session: Mapping[str, Any]) -> str | None:
    """A ticket for a session of the caller; None for an API key, whose client sends headers."""
    if caller.session_key is None:
        return None
    now = utc_now()
    expires_at = now + VALID_FOR
    content = {
        "user": caller.user_id, "session": caller.session_key, "once": secrets.token_hex(8),
        "until": expires_at.timestamp(),
    }  # fmt: skip
    ticket = seal(orjson.dumps(content))
    records.insert(
        AiStreamTicket,
        {
            "created_at": now,
            "digest": _digest(ticket),
            "session_id": session["id"],
            "principal": caller.principal,
            "expires_at": expires_at,
        },
    )
    return ticket


def read_ticket(environ: Mapping[str, Any]) -> tuple[int, str] | None:
    """The user and the sign-in of the ticket in a stream's address, or None.

    It may have been used: ``use_ticket`` finds that out.
    """
    if environ["PATH_INFO"].rstrip("/") not in _STREAMS:
        return None
    tickets = parse_qs(environ.get("QUERY_STRING", "")).get("ticket")
    if not tickets:
        return None
    try:
        content = orjson.loads(unseal(tickets[0]))
    except UnsealError:
        return None
    return (content["user"], content["session"]) if content["until"] > unix_seconds() else None


def use_ticket(ticket: str, session: Mapping[str, Any]) -> None:
    """Use a ticket up.

    Raises: TokenMissingError, it was used before, or is for another session.
    """
    used = (
        delete(AiStreamTicket)
        .where(AiStreamTicket.digest == _digest(ticket), AiStreamTicket.session_id == session["id"])
        .where(AiStreamTicket.expires_at > utc_now())
        .returning(AiStreamTicket.id)
    )
    if records.connection().execute(used).scalar() is None:
        raise TokenMissingError("The ticket was used before, or is for another session.")


def _digest(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
