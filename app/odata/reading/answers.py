"""The answer to a read: its rows put together, with what the protocol says around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.db.types import json_text
from app.http.json_body import parse_json
from app.odata.protocol.etags import format_etag, parse_precondition, refuse_stale, refuse_tags
from app.odata.protocol.negotiation import refusal, takes
from app.odata.protocol.preferences import NO_PREFERENCES
from app.odata.reading.expansion_links import with_links
from app.odata.reading.query import (
    PageStart,
    Query,
    TokenMaker,
    fingerprint,
    next_link,
    without_tokens,
)
from app.odata.reading.statement import Run
from app.odata.syntax.literals import NAME
from app.odata.syntax.nodes import QueryOptions
from app.odata.syntax.options import read_options
from app.odata.syntax.path import read_path, with_keys

# Texts of a path, in which nothing stands for something else, and parameter aliases.
_TEXT_OR_ALIAS = re.compile(rf"(?:'|%27).*?(?:'|%27)|((?:@|%40){NAME})")
# What stands in a path as it is.
_PATH = "%/()',=:@!$*;-._~"
# Options that the answer to a link has as well.
_OF_ALL = ("format", "schemaversion")
PLAIN_TEXT = "text/plain;charset=utf-8"

Headers = list[tuple[str, str]]
# The name of a set, the key of an entity, the name of a property.
Media = tuple[str, Any, str | None]


@dataclass(frozen=True)
class Answer:
    """Status, bytes and headers of an answer.

    ``media`` is set instead of ``body`` where the bytes are those of a media entity or of a stream
    property. ``wanted`` are the types that they may be of then, if not all are welcome.
    """

    status: int
    body: bytes
    headers: Headers
    media: Media | None = None
    wanted: str | None = None


@dataclass(slots=True)
class Answering:
    query: Query
    tokens: TokenMaker

    # --- whole answers

    def json(self, body: str, headers: Headers, *, is_page: bool = False) -> Answer:
        if applied := self._applied(is_page):
            headers.append(("Preference-Applied", ", ".join(applied)))
        kind = ("Content-Type", self.query.format.content_type)
        return Answer(200, body.encode(), [kind, self._version(), *headers])

    def plain(self, body: bytes, media_type: str, headers: Headers) -> Answer:
        """What is no JSON.

        Raises: NotAcceptableError, the client takes none of this type.
        """
        wanted = self.query.wanted
        if wanted is not None and not takes(wanted, media_type):
            raise refusal(wanted, media_type)
        return Answer(200, body, [("Content-Type", media_type), self._version(), *headers])

    def media(self, media: Media) -> Answer:
        return Answer(200, b"", [self._version()], media, self.query.wanted)

    def nothing(self, status: int, headers: Headers | None = None) -> Answer:
        return Answer(status, b"", [*(headers or []), self._version()])

    # --- conditions

    def tag(self, version: Any, by_tag: bool) -> tuple[Headers, bool]:
        """The header of an entity's tag, and whether the client has the entity already.

        Args:
            by_tag: whether the tag tells so at all.
        Raises: PreconditionFailedError.
        """
        conditions = self.query.request.headers
        if "If-Match" in conditions:
            refuse_stale(parse_precondition(conditions["If-Match"]), version)
        precondition = parse_precondition(conditions.get("If-None-Match") if by_tag else None)
        is_known = precondition is not None and precondition.matches(version)
        return [("ETag", format_etag(version))], is_known

    def refuse_tags(self) -> None:
        """Raise PreconditionFailedError for ``If-Match`` where there is no tag."""
        conditions = self.query.request.headers
        if "If-Match" in conditions:
            refuse_tags(parse_precondition(conditions["If-Match"]))

    # --- pieces

    def linked(self, text: str, expanded: Sequence[QueryOptions], run: Run) -> str:
        """An answer with the links to what is not shown of expanded collections."""
        if not expanded:
            return text
        texts = self.query.texts
        others = {f"${name}": texts.system[name] for name in _OF_ALL if name in texts.system}
        others |= texts.aliases
        return with_links(
            text, expanded, run.literals,
            root=self.query.request.root, page=run.expanded, others=others,
            make_token=self._token_of,
        )  # fmt: skip

    def total(self, total: int) -> str:
        """The number of all rows as a member, a comma behind it."""
        form = self.query.format
        number = f'"{total}"' if form.ieee754 else str(total)
        return f'"{form.control("count")}":{number},'

    def next_link(self, start: PageStart) -> str:
        """The link to the next page as a member, a comma before it."""
        query, request = self.query, self.query.request
        text = without_tokens(request.query, "skiptoken") if isinstance(request.query, str) else ""
        token = self.tokens.make(start, fingerprint(query.path.text, query.texts))
        url = next_link(request.root, request.path, text, token)
        return f',"{query.format.control("nextLink")}":{json_text(url)}'

    def context(
        self, fragment: str, row: Sequence[Any] = (), *, keys_as_written: bool = False
    ) -> str:
        """The context URL as the first member, a comma behind it; nothing if ``none``."""
        query = self.query
        if query.format.metadata == "none":
            return ""
        if "{path}" in fragment:
            path = query.request.path
            path = self._with_aliases(path) if query.texts.aliases else path
            path = path if keys_as_written else with_keys(path)
            fragment = fragment.replace("{path}", quote(path.strip("/"), safe=_PATH))
        elif "{home}" in fragment:
            fragment = fragment.replace("{home}", quote(row[-1], safe=_PATH))
        url = f"{query.request.root}$metadata{fragment}"
        return f'"{query.format.control("context")}":{json_text(url)},'

    def _with_aliases(self, path: str) -> str:
        """The path with the keys that its aliases stand for (Protocol 10)."""

        def value(match: re.Match[str]) -> str:
            alias = "" if match[1] is None else match[1].replace("%40", "@")
            text = self.query.texts.aliases.get(alias)
            return match[0] if text is None else quote(text, safe="()',=:")

        return _TEXT_OR_ALIAS.sub(value, path)

    def _token_of(self, path: str, query: str, start: PageStart) -> str:
        """The token of a page of another query."""
        text = read_path(with_keys(path)).text
        return self.tokens.make(start, fingerprint(text, read_options(query)))

    def _applied(self, is_page: bool) -> list[str]:
        """The preferences that had a say in what an answer looks like."""
        preferences = self.query.request.preferences
        if preferences is NO_PREFERENCES:
            return []
        applied = []
        if is_page and preferences.max_page_size is not None:
            applied.append(preferences.applied("maxpagesize", self.query.page_size))
        if self.query.format.omit_nulls:
            applied.append(preferences.applied("omit-values"))
        if preferences.include_annotations is not None:
            applied.append(preferences.applied("include-annotations"))
        if preferences.handling == "strict":
            applied.append(preferences.applied("handling"))
        return applied

    def _version(self) -> tuple[str, str]:
        return "OData-Version", self.query.format.version


# --- geography as plain text

# What GeoJSON has unless it says otherwise (RFC 7946, 4).
_WGS84 = 4326


def wkt_bytes(text: str) -> bytes:
    """A GeoJSON object as ``SRID=4326;Point(13.4 52.5)``."""
    return f"SRID={_WGS84};{_wkt(parse_json(text.encode()))}".encode()


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
