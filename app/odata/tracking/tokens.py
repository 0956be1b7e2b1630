"""``$deltatoken``: since when, for which query, for whom; sealed: only the service reads it."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from cryptography.fernet import InvalidToken

from app.clock import utc_now
from app.db.types import json_text
from app.errors import GoneError
from app.http.security import Caller
from app.odata.errors import QueryError
from app.odata.reading.tokens import SecretKey
from app.sealing import sealer_of

# Deletions are told for so long; who comes later reads the whole again.
KEPT = timedelta(days=30)


@dataclass(frozen=True)
class Mark:
    """How far a client is.

    ``since``: all changes until then are known. ``known`` are versions by key of rows that changed
    shortly before and were seen; ``gone`` keys of deletions that were. Of a list of changes that
    is read page by page, ``after`` is the instant and key of the last, and ``until`` the instant
    that the next list begins at. ``breaks`` are those reasons to read the whole again (see
    ``edm.ChangeSource.broken``) that came before the whole was read.
    """

    since: datetime
    known: Mapping[Any, int] = field(default_factory=dict)
    gone: frozenset[Any] = frozenset()
    after: tuple[datetime, Any] | None = None
    until: datetime | None = None
    breaks: frozenset[Any] = frozenset()


class MarkTokens:
    """Makes and reads tokens with the keys of the service."""

    def __init__(self, secret_key: SecretKey) -> None:
        secrets = [secret_key.encode()] if isinstance(secret_key, str) else list(secret_key)
        # The last key makes tokens; a sealer makes them with its first.
        self._sealer = sealer_of(_derived(key) for key in reversed(secrets))

    def make(self, mark: Mark, query: str, caller: Caller) -> str:
        """The token of a mark.

        Args:
            query: the fingerprint of what the client keeps a copy of.
        """
        after = None if mark.after is None else [_number(mark.after[0]), mark.after[1]]
        content = json_text(
            [
                query,
                _reader(caller),
                _number(mark.since),
                list(mark.known.items()),
                list(mark.gone),
                after,
                None if mark.until is None else _number(mark.until),
                sorted(mark.breaks),
            ]
        )
        sealed = self._sealer.encrypt(zlib.compress(content.encode()))
        return sealed.decode().rstrip("=")

    def read(self, token: str, query: str, caller: Caller) -> Mark:
        """What a token says.

        Raises: QueryError, it was not made here, or for another query; GoneError, it is too old,
            or the caller's rights are others now.
        """
        made_for, reader, since, known, gone, after, until, breaks = self._open(token)
        if made_for != query:
            raise QueryError("this token belongs to another query", 0, "$deltatoken")
        if reader != _reader(caller):
            raise GoneError("This delta link was given to other rights: read the whole again.")
        mark = Mark(
            _instant(since),
            {_key(parts): version for parts, version in known},
            frozenset(_key(parts) for parts in gone),
            None if after is None else (_instant(after[0]), _key(after[1])),
            None if until is None else _instant(until),
            frozenset(breaks),
        )
        if utc_now() - mark.since > KEPT:
            raise GoneError("This delta link is too old: read the whole again.")
        return mark

    def _open(self, token: str) -> list[Any]:
        """What is sealed in a token."""
        try:
            content = self._sealer.decrypt(token + "=" * (-len(token) % 4))
        except (InvalidToken, ValueError):
            raise QueryError("this token was not given by the service", 0, "$deltatoken") from None
        opened: list[Any] = orjson.loads(zlib.decompress(content))
        return opened


def _derived(key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=32, person=b"odata-deltatoken").digest()


def _reader(caller: Caller) -> str:
    """Who reads, with which rights: others see other rows."""
    rights = repr((caller.principal, sorted(caller.rights.items())))
    return hashlib.blake2s(rights.encode(), digest_size=8).hexdigest()


def _number(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def _instant(number: int) -> datetime:
    return datetime.fromtimestamp(number / 1000, UTC)


def _key(parts: Any) -> Any:
    return tuple(parts) if isinstance(parts, list) else parts
