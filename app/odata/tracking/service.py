"""Reads with change tracking: the whole with a delta link at its end, and what a link leads to.

The defining query runs as any other read, so select, filter and the caller's row filter hold. What
changed and is not among its rows any more is told as removed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from flask import Response
from sqlalchemy import Connection

from app.clock import utc_now
from app.db.types import json_text
from app.http.json_body import parse_json
from app.http.page_sizes import CHANGES, CHANGES_WITH_PARTED_KEYS
from app.http.security import current_caller
from app.odata.binding.key_values import key_of, parts_of, segment_literal, these_alone
from app.odata.model import edm
from app.odata.protocol.negotiation import Format, form_for
from app.odata.protocol.preferences import note_applied, preferences_of
from app.odata.protocol.request import Request
from app.odata.reading.tokens import SecretKey, fingerprint, next_link, without_tokens
from app.odata.syntax.options import OptionTexts, read_options
from app.odata.tracking.changes import Changes, plain_key
from app.odata.tracking.tokens import Mark, MarkTokens
from app.odata.writing.collections import key_of_row
from app.odata.writing.targets import entity_path

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
