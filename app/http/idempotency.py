"""Idempotency-Key: a REST POST has one effect and one answer, however often it is sent (P13).

The record of an answer is a row in the transaction of its effect. A twin that runs elsewhere at the
same time fails on the row's unique key when it would commit, leaves nothing behind, and repeats the
first answer; inside one process it waits instead of running (docs/adr/0005).
"""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Request, Response, current_app, g, request
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError, OperationalError
from werkzeug.datastructures import Headers

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.db.types import AnyRow
from app.errors import IdempotencyConflictError, ValidationError
from app.extensions import Extension, db
from app.http.body_stream import BodyStream, noted_fingerprint
from app.http.json_body import read_body
from app.http.multipart import read_form
from app.http.security import Caller
from app.models.event import IdempotencyRecord
from app.sealing import UnsealError, seal, unseal

KEPT_FOR = timedelta(hours=24)
WAIT_SECONDS = 5
MAXIMUM_STORED_BYTES = 1_000_000
HEADER, VARIABLE = "Idempotency-Key", "HTTP_IDEMPOTENCY_KEY"
REPLAYED = "Idempotency-Replayed"
KEY_PATTERN = "[!-~]{1,255}"
_KEY = re.compile(KEY_PATTERN)
# Outcomes of the operation itself. What was refused before it (400, 401, 403, 413 ...) may be
# corrected and sent again with the same key; what failed on our side may be tried again.
_KEPT_ERRORS = frozenset((404, 409, 410, 412, 422, 423))
_KEPT_HEADERS = frozenset(
    ("content-type", "content-language", "location", "etag", "content-disposition")
)
_CLAIM = "platform.idempotency_claim"


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request whose answer will be stored under ``key``.

    ``content`` is the digest of its body; None where the view reads that as a stream.
    """

    principal: str
    key: str
    content: str | None
    replaces: int | None = None  # an outdated record of the same key

    @property
    def fingerprint(self) -> str | None:
        """What tells the request from others; None when its body was not read to the end."""
        content = self.content or noted_fingerprint()
        return None if content is None else _fingerprint(content)


def takes_key(method: str, path: str) -> bool:
    """Whether an operation that wants credentials takes a key; elsewhere the header is ignored."""
    return method == "POST" and path.startswith("/api/")


def request_key() -> str | None:
    """The key under which the answer of this request will be stored, if it has one."""
    keyed: KeyedRequest | None = g.get("keyed_request")
    return None if keyed is None else keyed.key


class Idempotency:
    """Finds stored answers, and stores new ones."""

    def __init__(self) -> None:
        self._running: set[tuple[str, str]] = set()
        self._changed = threading.Condition()

    def begin(self, request: Request, caller: Caller, *, streamed: bool = False) -> Response | None:
        """Before the view: the stored answer, or None when this is the first request.

        Args:
            streamed: the view reads the body as it comes in, and notes what it was.
        Raises: ValidationError, the key has no acceptable form; IdempotencyConflictError, it was
            used with another body, or its first request still runs.
        """
        if not takes_key(request.method, request.path):
            return None
        key = request.environ[VARIABLE]
        if not _KEY.fullmatch(key):
            raise ValidationError([(HEADER, "must be 1 to 255 visible ASCII characters")])
        name = (caller.principal, key)
        content = None if streamed else _content()
        self.claim(name)
        request.environ[_CLAIM] = name
        stored = find_answer(*name)
        if stored is not None and stored.expires_at > utc_now():
            return _repeat(stored, _fingerprint(content or _streamed_content(request)))
        g.keyed_request = KeyedRequest(*name, content, stored.id if stored else None)
        return None

    def claim(self, name: tuple[str, str]) -> None:
        """Let requests with the same principal and key wait until ``release``.

        Raises: IdempotencyConflictError, the first one runs for too long.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: name not in self._running, WAIT_SECONDS):
                raise _still_running()
            self._running.add(name)

    def release(self, environ: dict[str, Any]) -> None:
        """At the end of the request, whatever came of it: let a waiting twin go on."""
        if _CLAIM in environ:
            with self._changed:
                self._running.discard(environ.pop(_CLAIM))
                self._changed.notify_all()


def store(response: Response) -> Response:
    """Write the answer into the running transaction, when its request had a key.

    Returns: ``response``, or the twin's answer when that was first; what this request did is
        rolled back then.
    Raises: IdempotencyConflictError, the twin had another body, or has not ended yet.
    """
    keyed: KeyedRequest | None = g.get("keyed_request")
    if keyed is None or not is_kept(response):
        return response
    fingerprint = keyed.fingerprint
    if fingerprint is None:
        return response
    if response.status_code >= 400:
        first = find_answer(keyed.principal, keyed.key)
        if first is not None and first.id != keyed.replaces:
            # It failed because the twin had already done it.
            return _repeat(first, fingerprint)
    try:
        _insert(keyed, fingerprint, response)
    except IntegrityError:
        db.session.rollback()
        first = find_answer(keyed.principal, keyed.key)
        if first is None:
            raise
        return _repeat(first, fingerprint)
    except OperationalError as error:
        raise _still_running() from error
    return response


def is_kept(response: Response) -> bool:
    """Whether an answer is written down, to be given again."""
    if response.status_code >= 400:
        return response.status_code in _KEPT_ERRORS
    # A stream is an export or a conversation: it is read again, not repeated from a record.
    if response.is_streamed or response.direct_passthrough:
        return False
    return len(response.get_data()) <= MAXIMUM_STORED_BYTES


def _insert(keyed: KeyedRequest, fingerprint: str, response: Response) -> None:
    if keyed.replaces is not None:
        forget_answer(keyed.replaces)
    headers = [(name, value) for name, value in response.headers if name.lower() in _KEPT_HEADERS]
    keep_answer(keyed.principal, keyed.key, fingerprint, response, headers, KEPT_FOR)


def keep_answer(
    principal: str, key: str, fingerprint: str, response: Response,
    headers: list[tuple[str, str]], kept_for: timedelta,
) -> None:  # fmt: skip
    """Keep an answer with these headers, in the running transaction.

    Raises: sqlalchemy.exc.IntegrityError, there is one under this key.
    """
    now = utc_now()
    records.insert(
        IdempotencyRecord,
        {
            "created_at": now,
            "principal": principal,
            "key": key,
            "fingerprint": fingerprint,
            "status": response.status_code,
            "headers": headers,
            # Sealed: the answer may hold what is shown only once, such as a new API key.
            "body": seal(response.get_data()),
            "expires_at": now + kept_for,
        },
    )


def forget_answer(record_id: int) -> None:
    records.connection().execute(delete(IdempotencyRecord).where(IdempotencyRecord.id == record_id))


def find_answer(principal: str, key: str) -> AnyRow | None:
    """A kept answer of a caller, or None."""
    with primary_engine().connect() as connection:
        return connection.execute(
            select(IdempotencyRecord.__table__).where(
                IdempotencyRecord.principal == principal, IdempotencyRecord.key == key
            )
        ).first()


def _repeat(stored: AnyRow, fingerprint: str) -> Response:
    if stored.fingerprint != fingerprint:
        raise IdempotencyConflictError("This Idempotency-Key was used with another request.")
    try:
        body = unseal(stored.body)
    except UnsealError as error:
        raise IdempotencyConflictError(
            "The answer of this Idempotency-Key cannot be read any more: use a new key."
        ) from error
    response = Response(body, stored.status)
    response.headers = Headers(stored.headers)
    response.headers[REPLAYED] = "true"
    return response


def _still_running() -> IdempotencyConflictError:
    return IdempotencyConflictError(
        "The first request with this Idempotency-Key still runs.", headers={"Retry-After": "1"}
    )


def _fingerprint(content: str) -> str:
    """SHA-256 of what makes two requests the same one: method, address, content; hex."""
    address = request.full_path.replace("/api/v1/", "/api/", 1)
    return hashlib.sha256(f"{request.method} {address}\n{content}".encode()).hexdigest()


def _content() -> str:
    """The digest of the body that the view will read."""
    return hashlib.sha256(read_body(current_app.config["MAX_JSON_BYTES"])).hexdigest()


def _streamed_content(http_request: Request) -> str:
    """The digest of a body that is read for it and for nothing else.

    The boundary of a form differs each time, its parts do not.
    """
    stream = BodyStream(current_app.config["MAX_CONTENT_LENGTH"])
    if http_request.mimetype != "multipart/form-data":
        digest = hashlib.sha256()
        for chunk in stream:
            digest.update(chunk)
        return digest.hexdigest()
    form = read_form(stream, http_request.mimetype, http_request.mimetype_params)
    for _ in form.parts():
        pass
    return form.fingerprint


idempotency = Extension[Idempotency]("idempotency")
