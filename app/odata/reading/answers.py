"""The answer to a read: its rows put together, with what the protocol says around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection

from app.db.types import json_text
from app.errors import NotFoundError
from app.http.json_body import parse_json
from app.http.page_sizes import EXPANDED, PageSize
from app.odata.binding.key_values import key_of
from app.odata.errors import QueryError
from app.odata.protocol.etags import format_etag, parse_precondition, refuse_stale, refuse_tags
from app.odata.protocol.negotiation import Format
from app.odata.protocol.preferences import NO_PREFERENCES
from app.odata.protocol.request import ReadRequest
from app.odata.reading.expansion_links import MakeToken, with_links
from app.odata.reading.plan import Plan
from app.odata.reading.statement import Run, Statement
from app.odata.reading.tokens import PageStart, next_link, without_tokens
from app.odata.syntax.literals import NAME, from_base64url
from app.odata.syntax.options import OptionTexts
from app.odata.syntax.path import with_keys

# Texts of a path, in which nothing stands for something else, and parameter aliases.
_TEXT_OR_ALIAS = re.compile(rf"(?:'|%27).*?(?:'|%27)|((?:@|%40){NAME})")
# What stands in a path as it is.
_PATH = "%/()',=:@!$*;-._~"
# Options that the answer to a link has as well.
_OF_ALL = ("format", "schemaversion")
_MISSING = "What this address names does not exist."


@dataclass(frozen=True)
class Answer:
    """Status, bytes and headers of an answer.

    ``media`` is set instead of ``body`` where the bytes are those of a media entity or of a stream
    property: the name of the set, the key of the entity, the name of the property. ``wanted`` are
    the types that they may be of then, if not all are welcome.
    """

    status: int
    body: bytes
    headers: list[tuple[str, str]]
    media: tuple[str, Any, str | None] | None = None
    wanted: str | None = None


def _number(statement: Statement | None, run: Run, connection: Connection) -> int:
    assert statement is not None
    number: int = statement.rows(connection, run)[0][0]
    return number


@dataclass(frozen=True)
class Answering:
    """Runs a plan and writes its answer.

    ``make_token`` seals the place where the next page begins, ``make_token_of`` that of another
    collection; ``texts`` are the options of the request.
    """

    request: ReadRequest
    format: Format
    texts: OptionTexts
    make_token: Callable[[PageStart], str]
    make_token_of: MakeToken
    page_sizes: PageSize

    def answer(
        self, plan: Plan, run: Run, connection: Connection, start: PageStart | None
    ) -> Answer:
        """The answer; 204 for null, 304 where the client has the entity already.

        Raises: NotFoundError, QueryError; PreconditionFailedError, the entity is not the one that
            ``If-Match`` names; what the database raises.
        """
        run.expanded = EXPANDED if self.request.pages_alone else min(self.page_size, EXPANDED)
        answered = self._answer(plan, run, connection, start)
        if not plan.has_etag and plan.kind != "media" and "If-Match" in self.request.headers:
            refuse_tags(parse_precondition(self.request.headers["If-Match"]))
        return answered

    def _answer(
        self, plan: Plan, run: Run, connection: Connection, start: PageStart | None
    ) -> Answer:
        if start is not None:
            if len(start.after) != len(plan.keys):
                raise QueryError("this token belongs to another query", 0, "$skiptoken")
            run.after = [
                None if value is None else read(value)
                for read, value in zip(plan.keys, start.after, strict=True)
            ]
        if plan.kind == "entity" and plan.fan is not None:
            plan.fan.refuse_too_many(run, connection, rows=1)
        if plan.kind == "collection":
            return self._collection(plan, run, connection, start)
        if plan.kind == "whole":
            return self._whole(plan, run, connection)
        rows = plan.main.rows(connection, run)
        if plan.kind == "number":
            if not rows or not rows[0][0]:
                self._require_parent(plan, run, connection)
            number = rows[0][0] if rows else None
            return self._text(str(number or 0))
        if not rows:
            if plan.kind == "entity" and plan.parent is not None:
                self._require_parent(plan, run, connection)
                return Answer(204, b"", [self._version()])
            raise NotFoundError(_MISSING)
        if plan.kind == "media":
            assert plan.set_name is not None
            media = (plan.set_name, key_of(rows[0]), plan.stream)
            return Answer(200, b"", [self._version()], media)
        return self._single(plan, run, rows[0])

    # --- one entity or value

    def _single(self, plan: Plan, run: Run, row: tuple[Any, ...]) -> Answer:
        text = row[0]
        headers = []
        if plan.has_etag:
            conditions = self.request.headers
            if "If-Match" in conditions:
                refuse_stale(parse_precondition(conditions["If-Match"]), row[1])
            unless = conditions.get("If-None-Match") if plan.by_tag else None
            precondition = parse_precondition(unless)
            headers.append(("ETag", format_etag(row[1])))
            if precondition is not None and precondition.matches(row[1]):
                return Answer(304, b"", [*headers, self._version()])
        if text is None:
            return Answer(204, b"", [*headers, self._version()])
        if plan.kind == "raw" and plan.raw_type is not None:
            kind = ("Content-Type", plan.raw_type)
            return Answer(200, from_base64url(text), [kind, self._version(), *headers])
        if plan.kind == "raw":
            return self._text(to_wkt(text) if plan.raw_geo else text, headers)
        if plan.kind == "value":
            body = f'{{{self._context(plan, row)}{plan.value_type}"value":{text}}}'
        elif text == "{}":
            body = "{" + self._context(plan, row).rstrip(",") + "}"
        else:
            body = "{" + self._context(plan, row) + self._linked(text[1:], plan, run)
        return self._json(body, headers)

    # --- collections

    def _collection(
        self, plan: Plan, run: Run, connection: Connection, start: PageStart | None
    ) -> Answer:
        page = self.page_size
        if start is not None:
            remaining = start.remaining
        else:
            remaining = None if plan.top is None else plan.top.of(run.literals)
        limit = page + 1 if remaining is None else min(remaining, page + 1)
        run.limit = limit
        if plan.fan is not None:
            plan.fan.refuse_too_many(run, connection, limit)
        rows = plan.main.rows(connection, run)
        if not rows:
            self._require_parent(plan, run, connection)
        parts = [self._context(plan, self._home(plan, run, connection))]
        if plan.has_total:
            total = rows[0][1] if rows else _number(plan.total, run, connection)
            parts.append(self._total(total))
        link = ""
        if len(rows) > page:
            del rows[page:]
            left = None if remaining is None else remaining - page
            after = [rows[0][-1] + page] if plan.by_position else rows[-1][-len(plan.keys) :]
            link = self._next_link(PageStart(after, left))
        text = ",".join([row[0] for row in rows])
        return self._rows("".join(parts), text, link, plan, run)

    def _whole(self, plan: Plan, run: Run, connection: Connection) -> Answer:
        assert plan.top is not None
        run.limit = plan.top.of(run.literals)
        if plan.fan is not None:
            plan.fan.refuse_too_many(run, connection, run.limit)
        row = plan.main.rows(connection, run)[0]
        if row[0] is None:
            self._require_parent(plan, run, connection)
        total = self._total(row[1]) if plan.has_total else ""
        context = self._context(plan, self._home(plan, run, connection))
        return self._rows(context + total, row[0] or "", "", plan, run)

    def _rows(self, head: str, rows: str, link: str, plan: Plan, run: Run) -> Answer:
        body = self._linked(f'{{{head}"value":[{rows}]{link}}}', plan, run)
        preferences = self.request.preferences
        if preferences.max_page_size is None:
            return self._json(body, [])
        return self._json(body, [], preferences.applied("maxpagesize", self.page_size))

    def _linked(self, text: str, plan: Plan, run: Run) -> str:
        """An answer with the links to what is not shown of expanded collections."""
        if not plan.expanded:
            return text
        system = self.texts.system
        others = {f"${name}": system[name] for name in _OF_ALL if name in system}
        others |= self.texts.aliases
        return with_links(
            text, plan.expanded, run.literals,
            root=self.request.root, page=run.expanded, others=others,
            make_token=self.make_token_of,
        )  # fmt: skip

    @property
    def page_size(self) -> int:
        """Rows of a page."""
        return self.page_sizes.of(self.request.preferences.max_page_size)

    def _total(self, total: int) -> str:
        number = f'"{total}"' if self.format.ieee754 else str(total)
        return f'"{self.format.control("count")}":{number},'

    def _next_link(self, start: PageStart) -> str:
        request = self.request
        query = without_tokens(request.query, "skiptoken") if isinstance(request.query, str) else ""
        url = next_link(request.root, request.path, query, self.make_token(start))
        return f',"{self.format.control("nextLink")}":{json_text(url)}'

    # --- pieces

    def _require_parent(self, plan: Plan, run: Run, connection: Connection) -> None:
        if plan.parent is not None and not plan.parent.rows(connection, run):
            raise NotFoundError(_MISSING)

    def _home(self, plan: Plan, run: Run, connection: Connection) -> Sequence[Any]:
        """The URL of the collection, where the plan has it read."""
        if plan.home is None or self.format.metadata == "none":
            return ()
        row: tuple[Any, ...] = plan.home.rows(connection, run)[0]
        return row

    def _context(self, plan: Plan, row: Sequence[Any] = ()) -> str:
        """The context URL as the first member, a comma behind it; nothing if ``none``."""
        if self.format.metadata == "none":
            return ""
        fragment = plan.context
        if "{path}" in fragment:
            path = self.request.path
            path = self._with_aliases(path) if self.texts.aliases else path
            path = path if plan.kind == "value" else with_keys(path)
            fragment = fragment.replace("{path}", quote(path.strip("/"), safe=_PATH))
        elif "{home}" in fragment:
            fragment = fragment.replace("{home}", quote(row[-1], safe=_PATH))
        url = f"{self.request.root}$metadata{fragment}"
        return f'"{self.format.control("context")}":{json_text(url)},'

    def _with_aliases(self, path: str) -> str:
        """The path with the keys that its aliases stand for (Protocol 10)."""

        def value(match: re.Match[str]) -> str:
            alias = "" if match[1] is None else match[1].replace("%40", "@")
            text = self.texts.aliases.get(alias)
            return match[0] if text is None else quote(text, safe="()',=:")

        return _TEXT_OR_ALIAS.sub(value, path)

    def _json(self, body: str, headers: list[tuple[str, str]], *applied: str) -> Answer:
        if self.request.preferences is not NO_PREFERENCES:
            applied += (*self._applied(),)
        if applied:
            headers.append(("Preference-Applied", ", ".join(applied)))
        kind = ("Content-Type", self.format.content_type)
        return Answer(200, body.encode(), [kind, self._version(), *headers])

    def _applied(self) -> list[str]:
        """The preferences that had a say in what an entity looks like."""
        preferences = self.request.preferences
        applied = [preferences.applied("omit-values")] if self.format.omit_nulls else []
        if preferences.include_annotations is not None:
            applied.append(preferences.applied("include-annotations"))
        if preferences.handling == "strict":
            applied.append(preferences.applied("handling"))
        return applied

    def _text(self, text: str, headers: list[tuple[str, str]] | None = None) -> Answer:
        kind = ("Content-Type", "text/plain;charset=utf-8")
        return Answer(200, text.encode(), [kind, self._version(), *(headers or [])])

    def _version(self) -> tuple[str, str]:
        return "OData-Version", self.format.version


# --- geography as text: GeoJSON, as columns keep it, made extended WKT with SRID

# What GeoJSON has unless it says otherwise (RFC 7946, 4).
_WGS84 = 4326


def to_wkt(text: str) -> str:
    """A GeoJSON object as ``SRID=4326;Point(13.4 52.5)``."""
    return f"SRID={_WGS84};{_wkt(parse_json(text.encode()))}"


def _wkt(shape: dict[str, Any]) -> str:
    if shape["type"] == "GeometryCollection":
        parts = ",".join(_wkt(part) for part in shape["geometries"])
        return f"GeometryCollection({parts})"
    coordinates = shape["coordinates"]
    if shape["type"] == "Point":
        coordinates = [coordinates]
    elif shape["type"] == "MultiPoint":
        coordinates = [[point] for point in coordinates]
    inside = _coordinates(coordinates)
    return f"{shape['type']}{inside}"


def _coordinates(parts: list[Any]) -> str:
    """``(1 2,3 4)``, or such in parentheses of their own."""
    is_flat = bool(parts) and not isinstance(parts[0][0], list)
    texts = (" ".join(map(str, part)) if is_flat else _coordinates(part) for part in parts)
    return f"({','.join(texts)})"
