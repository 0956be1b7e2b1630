"""``text/event-stream`` of a session: what was kept, then what comes, until the answer ends.

A reader may leave and come back with the number of the last event that it has; a finished answer
is told again from the store. Nothing of the making depends on a reader.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import orjson
from flask import Flask, Response, request
from sqlalchemy import Connection, delete, func, select

from app.ai.open_streams import (
    LOOK_SECONDS,
    MOST_KEPT,
    StreamKeeper,
    StreamReader,
    can_keep,
    handed_over,
    signals,
)
from app.ai.turns import END, fail
from app.auth.authentication import authenticator
from app.clock import unix_seconds, utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.db.types import json_text
from app.errors import AiUnavailableError, TokenMissingError
from app.extensions import Extension
from app.http.request_context import running_app
from app.http.security import Caller
from app.models.assistant import AiEvent, AiMessage, AiSession, AiStreamTicket
from app.sealing import UnsealError, seal, unseal

# Where the server cannot hand sockets over, each open stream occupies one of its threads
# (gunicorn.conf.py has 16): half at most.
MOST_STREAMS = 8
PING_SECONDS = 15.0
# An answer takes seconds; who waits for one longer comes back with the number of the last event.
LONGEST_SECONDS = 300.0
RETRY = b"retry: 2000\n\n"
PING = b": ping\n\n"
TOO_MANY = "Too many answers are being read at the moment; come back in a few seconds."
_LATER = {"Retry-After": "2"}


def open_stream(session: Mapping[str, Any], after: int | None) -> Response:
    """The stream of a session; 204 for who has everything.

    Args:
        after: number of the last event that the reader has; None for the latest answer from its
            beginning.
    Raises: AiUnavailableError, too many streams are open.
    """
    with primary_engine().connect() as connection:
        latest = _latest(connection, session["id"])
        start = after if after is not None else _before(connection, latest)
        last = _last_sequence(connection, session["id"])
    if latest is None or (latest["status"] != "in_progress" and start >= last):
        return Response(status=204)
    app = running_app()
    if can_keep(request.environ):
        keeper = stream_keeper.of(app)
        if len(keeper) >= MOST_KEPT:
            raise AiUnavailableError(TOO_MANY, headers=_LATER)
        sock = request.environ["gunicorn.socket"]
        body = handed_over(keeper, sock, session["id"], start, RETRY)
        response = Response(body, content_type="text/event-stream")
    else:
        places = stream_places.of(app)
        if not places.acquire(blocking=False):
            raise AiUnavailableError(TOO_MANY, headers=_LATER)
        frames = _frames(app, session["id"], start)
        response = Response(frames, content_type="text/event-stream")
        response.call_on_close(places.release)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _look_after(readers: list[StreamReader]) -> None:
    """Tell each reader what is new for it: one question to the database for all of them."""
    last = _last_sequences({reader.session_id for reader in readers})
    now = time.monotonic()
    for reader in readers:
        is_late = now - reader.began >= LONGEST_SECONDS
        is_silent = now - reader.spoken >= PING_SECONDS
        if last.get(reader.session_id, -1) > reader.sequence or is_silent:
            events, is_over = _read(reader.session_id, reader.sequence)
            for event in events:
                reader.sequence = event.sequence
                frame = (
                    f"id: {event.sequence}\nevent: {event.type}\ndata: {json_text(event.data)}\n\n"
                )
                reader.say(frame.encode())
            if is_over:
                reader.end()
            elif is_silent and not events:
                reader.say(PING)
        elif reader.session_id not in last or is_late:
            reader.end()


def _last_sequences(session_ids: set[int]) -> dict[int, int]:
    statement = select(AiSession.id, AiSession.last_sequence).where(AiSession.id.in_(session_ids))
    with primary_engine().connect() as connection:
        return {row.id: row.last_sequence for row in connection.execute(statement)}


def _frames(app: Flask, session_id: int, sequence: int) -> Iterator[bytes]:
    """The body of a stream that occupies a thread of its server."""
    yield RETRY
    reader, bell, position = StreamReader(session_id, sequence), signals.of(app), -1
    while not reader.is_over:
        position = bell.wait(position, LOOK_SECONDS)
        with app.app_context():
            _look_after([reader])
        if reader.waiting:
            yield bytes(reader.waiting)
            reader.waiting.clear()


def _read(session_id: int, sequence: int) -> tuple[list[Any], bool]:
    """The events after ``sequence``, and whether no more will come."""
    with primary_engine().connect() as connection:
        latest = _latest(connection, session_id)
        statement = (
            select(AiEvent.sequence, AiEvent.type, AiEvent.data, AiEvent.message_id)
            .where(AiEvent.session_id == session_id, AiEvent.sequence > sequence)
            .order_by(AiEvent.sequence)
        )
        events = list(connection.execute(statement))
    if latest is None or latest["status"] != "in_progress":
        return events, True
    # The answer may have ended after its state was read: nothing comes behind its last event.
    if events and (events[-1].type, events[-1].message_id) == (END, latest["id"]):
        return events, True
    if latest["leased_until"] is not None and latest["leased_until"] < utc_now():
        with transaction():  # its process has died
            fail(session_id, latest["id"], latest["key"])
    return events, False


def _latest(connection: Connection, session_id: int) -> Mapping[str, Any] | None:
    statement = (
        select(AiMessage)
        .where(AiMessage.session_id == session_id, AiMessage.role == "assistant")
        .order_by(AiMessage.id.desc())
        .limit(1)
    )
    row = connection.execute(statement).mappings().first()
    return None if row is None else dict(row)


def _before(connection: Connection, message: Mapping[str, Any] | None) -> int:
    """The number before the first event of an answer."""
    if message is None:
        return 0
    first = select(func.min(AiEvent.sequence)).where(AiEvent.message_id == message["id"])
    return int(connection.execute(first).scalar() or 1) - 1


def _last_sequence(connection: Connection, session_id: int) -> int:
    statement = select(AiSession.last_sequence).where(AiSession.id == session_id)
    return int(connection.execute(statement).scalar() or 0)


stream_places = Extension("ai_places", lambda: threading.BoundedSemaphore(MOST_STREAMS))
stream_keeper = Extension(
    "ai_keeper", lambda: StreamKeeper(running_app(), signals.current, _look_after)
)


# --- tickets: a browser's EventSource sends no headers, so the address carries one. It opens the
# stream of one session, once, within a minute; it is sealed and names the sign-in of its owner,
# whose rights are looked up when it is used: who has signed out reads nothing.

TICKET_VALID_FOR = timedelta(minutes=1)
_STREAMS = ("/api/ai/chat/stream", "/api/v1/ai/chat/stream")


def init_tickets(app: Flask) -> None:
    """Let requests for streams come with a ticket instead of headers."""
    authenticator.of(app).read_ticket = read_ticket


def make_ticket(caller: Caller, session: Mapping[str, Any]) -> str | None:
    """A ticket for a session of the caller; None for an API key, whose client sends headers."""
    if caller.session_key is None:
        return None
    now = utc_now()
    expires_at = now + TICKET_VALID_FOR
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
