"""Reads with change tracking: the whole with a delta link at its end, and what a link leads to.

The defining query runs as any other read, so select, filter and the caller's row filter hold. What
changed and is not among its rows any more is told as removed.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from cryptography.fernet import InvalidToken
from flask import Response
from sqlalchemy import Connection, Select, bindparam, tuple_

from app.clock import utc_now
from app.db.types import json_text
from app.errors import GoneError
from app.http.json_body import parse_json
from app.http.page_sizes import CHANGES, CHANGES_WITH_PARTED_KEYS
from app.http.security import Caller, current_caller
from app.odata.binding.paths import key_of, parts_of, segment_literal, these_alone
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.protocol.negotiation import Format, form_for
from app.odata.protocol.preferences import note_applied, preferences_of
from app.odata.protocol.request import Request
from app.odata.reading.query import SecretKey, fingerprint, next_link, without_tokens
from app.odata.syntax.options import OptionTexts, read_options
from app.odata.writing.collections import key_of_row
from app.odata.writing.targets import entity_path
from app.sealing import sealer_of

# --- ``$deltatoken``: since when, for which query, for whom; sealed: only the service reads it

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


# --- what changed in a set since an instant: keys and versions, nothing of the rows themselves.
# A transaction that was still open at the instant may commit later with an earlier time of change.
# So the rows of a while before are looked at again, and those that the client has seen are left out
# by their versions.

# Longer than a transaction can be open, clocks differ and a replica lags.
OVERLAP = timedelta(minutes=2)
# Rows of the overlap that a token remembers; with more of them, some are told twice.
MOST_KNOWN = 200
MOST_REMOVED = 5000


@dataclass(frozen=True)
class Changed:
    """A row that was made or changed."""

    key: Any
    version: int | None
    at: datetime


class Changes:
    def __init__(self, type_: edm.EntityType, connection: Connection) -> None:
        assert type_.changes is not None
        self._source = type_.changes
        self._keys = len(type_.key)
        self._connection = connection

    def changed(self, mark: Mark, most: int) -> list[Changed]:
        """The next rows after a mark, at most ``most`` of them and one more where there are."""
        statement = self._source.changed(mark.since - OVERLAP)
        if mark.after is not None:
            statement = self._after(statement, *mark.after)
        columns = list(statement.selected_columns)
        at, keys = columns[-1], columns[: self._keys]
        changed_keys: list[Changed] = []
        statement = statement.order_by(at, *keys).limit(most + 1 + len(mark.known))
        for row in self._connection.execute(statement):
            changed_row = self._row(row)
            if mark.known.get(changed_row.key, -1) != changed_row.version:
                changed_keys.append(changed_row)
        return changed_keys[: most + 1]

    def removed(self, mark: Mark) -> set[Any]:
        """The keys of the rows that were deleted.

        Raises: GoneError, more than can be told one by one.
        """
        statement = self._source.removed(mark.since - OVERLAP).limit(MOST_REMOVED + 1)
        present = {self._key(row) for row in self._connection.execute(statement)}
        if len(present) > MOST_REMOVED:
            raise GoneError("Too much was deleted: read the whole again.")
        return present - mark.gone

    def require_unbroken(self, mark: Mark) -> None:
        """Check that nothing came about past the times of change.

        Raises: GoneError, rows were brought in with their history, or brought back.
        """
        if self._breaks(mark.since) - mark.breaks:
            raise GoneError("Records were imported or restored meanwhile: read the whole again.")

    def known(self, caller: Any, keys: Collection[Any], mark: Mark) -> Collection[Any]:
        """Those of ``keys`` that the caller could read since a mark: of others nothing is told."""
        if not keys:
            return ()
        return self._source.known(self._connection, caller, keys, mark.since - OVERLAP)

    def mark(self, now: datetime) -> Mark:
        """The mark of a client that reads all from now on."""
        statement = self._source.changed(now - OVERLAP).limit(MOST_KNOWN + 1)
        rows = [self._row(row) for row in self._connection.execute(statement)]
        known: dict[Any, int] = {}
        if len(rows) <= MOST_KNOWN:
            known = {row.key: row.version for row in rows if row.version is not None}
        removed = self._source.removed(now - OVERLAP).limit(MOST_KNOWN + 1)
        gone = {self._key(row) for row in self._connection.execute(removed)}
        gone = gone if len(gone) <= MOST_KNOWN else set()
        return Mark(now, known, frozenset(gone), breaks=self._breaks(now))

    def _breaks(self, since: datetime) -> frozenset[Any]:
        """What cannot be told as changes, shortly before ``since`` and after it."""
        statement = self._source.broken(since - OVERLAP)
        if statement is None:
            return frozenset()
        return frozenset(self._connection.execute(statement.limit(MOST_KNOWN)).scalars())

    def _after(self, statement: Select[Any], at: datetime, key: Any) -> Select[Any]:
        columns = list(statement.selected_columns)
        names = [columns[-1], *columns[: self._keys]]
        values = (at, *parts_of(key))
        binds = [
            bindparam(None, value, type_=column.type)
            for value, column in zip(values, names, strict=True)
        ]
        return statement.where(tuple_(*names) > tuple_(*binds))

    def _row(self, row: Any) -> Changed:
        return Changed(self._key(row), row[self._keys], row[self._keys + 1])

    def _key(self, row: Any) -> Any:
        return plain_key(row[: self._keys])


def plain_key(parts: Iterable[Any]) -> Any:
    """A key as a token keeps it: all but numbers as text."""
    return key_of(part if isinstance(part, int) else str(part) for part in parts)


# --- answers

# With these a set of rows is not one that can be kept in step.
_NOT_TRACKED = frozenset(("apply", "top", "skip", "search", "index", "id"))

Read = Callable[[str, OptionTexts | str], Response]


@dataclass(frozen=True)
class _Tracked:
    """What a client keeps a copy of: the set, the query without tokens, and how answers look."""

    entity_set: edm.EntitySet
    request: Request
    query: str
    options: OptionTexts
    form: Format

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.request.path.strip("/"), self.options)

    def link(self, token: str) -> str:
        """The address that goes on from a mark."""
        path = self.request.path.strip("/")
        return next_link(self.request.root, path, self.query, token, "deltatoken")


class Tracker:
    """Answers the tracked reads of one container."""

    def __init__(
        self,
        container: edm.EntityContainer,
        secret_key: SecretKey,
        reading: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._container = container
        self._tokens = MarkTokens(secret_key)
        self._reading = reading

    @staticmethod
    def concerns(request: Request) -> bool:
        """Whether a GET could be about tracking; the others are not looked at."""
        if "deltatoken" in request.query.lower():
            return True
        return preferences_of(request.headers).track_changes

    def answer(self, request: Request, read: Read) -> Response:
        """The answer to a GET that ``concerns`` tracking.

        Args:
            read: the answer to a GET of a path and a query.
        Raises: QueryError; GoneError; an ApiError of the read.
        """
        options = read_options(request.query)
        token = options.system.pop("deltatoken", None)
        query = without_tokens(request.query, "deltatoken", "skiptoken")
        tracked = self._tracked(request, query, options)
        if tracked is None:
            return read(request.path, request.query)
        if token is None:
            return self._begin(tracked, read)
        mark = self._tokens.read(token, tracked.fingerprint, current_caller())
        if "skiptoken" in options.system:  # the first reading goes on
            rest = without_tokens(request.query, "deltatoken")
            return self._linked(tracked, read(request.path, rest), replace(mark, known={}))
        return self._changes(tracked, mark, read)

    def _tracked(self, request: Request, query: str, options: OptionTexts) -> _Tracked | None:
        """The query as one that can be tracked; None where it cannot."""
        name = request.path.strip("/")
        entity_set = self._container.set_called(name)
        if entity_set is None or entity_set.type.changes is None:
            return None
        if not _NOT_TRACKED.isdisjoint(options.system):
            return None
        form = form_for(request.headers, options.system.get("format"))
        return _Tracked(entity_set, request, query, options.without("skiptoken"), form)

    # --- the whole

    def _begin(self, tracked: _Tracked, read: Read) -> Response:
        with self._reading() as connection:
            mark = Changes(tracked.entity_set.type, connection).mark(utc_now())
        response = self._linked(tracked, read(tracked.request.path, tracked.request.query), mark)
        preferences = preferences_of(tracked.request.headers)
        note_applied(response.headers, preferences.applied("track-changes"))
        return response

    def _linked(self, tracked: _Tracked, response: Response, mark: Mark) -> Response:
        """A page of the whole: the last has the delta link, the others lead to the next."""
        text = response.get_data(as_text=True)
        token = self._tokens.make(mark, tracked.fingerprint, current_caller())
        start = f'],"{tracked.form.control("nextLink")}":"'
        if start in text:
            # The rows that are known at the end are not those that were at the beginning.
            token = self._tokens.make(
                replace(mark, known={}), tracked.fingerprint, current_caller()
            )
            text = f'{text[:-2]}&$deltatoken={token}"}}'
        else:
            text = f"{text[:-1]}{self._link(tracked, 'deltaLink', token)}}}"
        response.set_data(text)
        return response

    def _link(self, tracked: _Tracked, name: str, token: str) -> str:
        return f',"{tracked.form.control(name)}":{json_text(tracked.link(token))}'

    # --- the changes

    def _changes(self, tracked: _Tracked, mark: Mark, read: Read) -> Response:
        type_ = tracked.entity_set.type
        most = CHANGES if len(type_.key) == 1 else CHANGES_WITH_PARTED_KEYS
        with self._reading() as connection:
            changes = Changes(type_, connection)
            changes.require_unbroken(mark)
            next_mark = changes.mark(utc_now())
            changed = changes.changed(mark, most)
            removed = changes.removed(mark) if mark.after is None else set()
        more, changed = len(changed) > most, changed[:most]
        until = mark.until or next_mark.since
        page = read(tracked.request.path, _options(tracked, [change.key for change in changed]))
        head, rows = _apart(page.get_data(as_text=True))
        rows_shown = parse_json(f"[{rows}]".encode())
        readable = {plain_key(parts_of(key_of_row(type_, row))) for row in rows_shown}
        gone = [key for key in removed if key not in readable]
        left = [
            change.key
            for change in changed
            if change.key not in readable and change.key not in removed
        ]
        with self._reading() as connection:
            known = Changes(type_, connection).known(current_caller(), [*gone, *left], mark)
        gone, left = ([key for key in keys if key in known] for keys in (gone, left))
        if more:
            following = replace(mark, after=(changed[-1].at, changed[-1].key), until=until)
        elif mark.after is not None:
            following = Mark(until, breaks=mark.breaks)
        else:
            following = next_mark
        token = self._tokens.make(following, tracked.fingerprint, current_caller())
        link = self._link(tracked, "nextLink" if more else "deltaLink", token)
        objects = [
            *([rows] if rows else []),
            *(_removed(tracked, key, "deleted") for key in sorted(gone, key=repr)),
            *(_removed(tracked, key, "changed") for key in left),
        ]
        page.set_data(f'{head}"value":[{",".join(objects)}]{link}}}')
        return page


def _options(tracked: _Tracked, keys: list[Any]) -> OptionTexts:
    """The defining query, of these entities alone, with their keys."""
    type_ = tracked.entity_set.type
    plain = tracked.options.without("count", "orderby")
    system = these_alone(type_, [_typed(type_, key) for key in keys], plain.system)
    if "select" in system:
        selected = [part.strip() for part in system["select"].split(",")]
        missing = [name for name in type_.key if name not in selected and "*" not in selected]
        system["select"] = ",".join([system["select"], *missing])
    return plain.having(system)


def _apart(text: str) -> tuple[str, str]:
    """What stands before ``value`` in a collection, its context made that of a delta, and rows."""
    head, _, rest = text.partition('"value":[')
    if head.endswith('",'):
        head = head[:-2] + '/$delta",'
    return head, rest[: rest.rindex("]")]


def _removed(tracked: _Tracked, key: Any, reason: str) -> str:
    """An entity that is not there any more (JSON Format 15.3)."""
    type_, name = tracked.entity_set.type, tracked.entity_set.name
    address = entity_path(name, type_, _typed(type_, key))
    form = tracked.form
    members: dict[str, Any] = {}
    if form.version == "4.0":
        context = f"{tracked.request.root}$metadata#{name}/$deletedEntity"
        members = {form.control("context"): context}
    members |= {form.control("removed"): {"reason": reason}, form.control("id"): address}
    for part_name, part in zip(type_.key, parts_of(key), strict=True):
        members[part_name] = part
    if form.version == "4.0":
        # The names of 4.0 come after those of 4.01; where a key has one of them, the standard wins.
        members |= {"id": address, "reason": reason}
    return json_text(members)


def _typed(type_: edm.EntityType, key: Any) -> Any:
    """A key, of which a token keeps all but numbers as text."""
    literals = (
        segment_literal(type_.properties[name], str(part))
        for name, part in zip(type_.key, parts_of(key), strict=True)
    )
    return key_of(literal.value for literal in literals if literal is not None)
