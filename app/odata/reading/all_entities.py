"""``$all``: the entities of all sets, one set after the other (URL Conventions 4.16).

Each part of a page is an ordinary read of one set, under the caller's filter; sets that the caller
may not read are not there. What is told of a page is the number of rows, so ``$top`` and ``$count``
are taken; of entities of any type there is nothing to filter or to sort by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import Connection

from app.db.types import json_text
from app.errors import NotFoundError, NotImplementedInServiceError
from app.http.json_body import parse_json
from app.http.security import Caller
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.protocol.etags import unconditional
from app.odata.protocol.negotiation import form_for
from app.odata.protocol.preferences import Preference, Preferences
from app.odata.protocol.request import ReadRequest
from app.odata.reading.answers import Answer
from app.odata.reading.query import PageStart, fingerprint, next_link, without_tokens
from app.odata.reading.reader import Reader
from app.odata.syntax.nodes import NameSegment
from app.odata.syntax.options import OptionTexts, parse_options, read_options
from app.odata.syntax.path import parse_path

_OPTIONS = frozenset(("top", "count", "format", "schemaversion", "skiptoken"))


def read_all(
    reader: Reader, request: ReadRequest, caller: Caller, connection: Connection
) -> Answer:
    """The answer to a GET of ``$all``, or of ``$all/Namespace.Type``.

    Raises: InvalidQueryError; NotFoundError, there is no such type; NotImplementedInServiceError,
        an option that has no meaning for entities of any type.
    """
    assert isinstance(request.query, str)
    texts = read_options(request.query)
    parsed = parse_path(request.path)
    options = parse_options(texts)
    for name in texts.system:
        if name not in _OPTIONS:
            raise NotImplementedInServiceError(f"${name} is not offered on $all.")
    reader.check_schema_version(texts)
    type_ = None
    if len(parsed.segments) > 1:
        segment = parsed.segments[1]
        assert isinstance(segment, NameSegment)  # the parser lets nothing else follow $all
        type_ = _type(reader.container, segment.name)
    mark = fingerprint(request.path, texts)
    start = PageStart((), None if options.top is None else options.top.number)
    if "skiptoken" in texts.system:
        start = reader.tokens.read(texts.system["skiptoken"], mark)
    reading = _Reading(reader, request, caller, connection, texts, type_)
    return reading.answer(start, mark, count=bool(options.count))


def _type(container: edm.EntityContainer, name: str) -> edm.EntityType:
    type_ = container.type_called(name)
    if type_ is None or "." not in name:
        raise NotFoundError(f"There is no entity type {name}.")
    return type_


@dataclass(frozen=True)
class _Reading:
    """One page of ``$all``."""

    reader: Reader
    request: ReadRequest
    caller: Caller
    connection: Connection
    texts: OptionTexts
    type: edm.EntityType | None

    def answer(self, start: PageStart, mark: str, *, count: bool) -> Answer:
        request = self.request
        form = form_for(request.headers, self.texts.system.get("format"))
        body: dict[str, object] = {}
        if form.metadata != "none":
            name = "Edm.EntityType"
            if self.type is not None:
                name = f"{self.reader.container.namespace}.{self.type.name}"
            body[form.control("context")] = f"{request.root}$metadata#Collection({name})"
        if count:
            total = sum(self._count(path) for path in self._paths())
            body[form.control("count")] = str(total) if form.ieee754 else total
        rows, following = self._page(start)
        body["value"] = rows
        if following is not None:
            query = without_tokens(str(request.query), "skiptoken")
            token = self.reader.tokens.make(following, mark)
            body[form.control("nextLink")] = next_link(request.root, request.path, query, token)
        head = [("Content-Type", form.content_type), ("OData-Version", form.version)]
        if request.preferences.max_page_size is not None:
            applied = request.preferences.applied("maxpagesize", self._page_size)
            head.append(("Preference-Applied", applied))
        return Answer(200, json_text(body).encode(), head)

    @property
    def _page_size(self) -> int:
        return self.reader.page_sizes.of(self.request.preferences.max_page_size)

    def _paths(self) -> Iterator[str]:
        """Where the entities are read, for this caller."""
        container, rights = self.reader.container, self.caller.rights
        for entity_set in container.sets.values():
            own = entity_set.type
            if own.resource is not None and f"{own.resource}:read" not in rights:
                continue
            if self.type is None or self.type in own.lineage:
                yield entity_set.name
            elif own in self.type.lineage:
                yield f"{entity_set.name}/{container.namespace}.{self.type.name}"

    def _count(self, path: str) -> int:
        return int(self._read(f"{path}/$count", {}, 1).body)

    def _page(self, start: PageStart) -> tuple[list[object], PageStart | None]:
        """The rows of a page, and where the next one begins: a path, and its token if begun."""
        at, inner = start.after or (None, None)
        remaining = start.remaining
        rows: list[object] = []
        paths = list(self._paths())
        if at is not None and at not in paths:
            raise QueryError("this token belongs to another query", 0, "$skiptoken")
        for path in paths[0 if at is None else paths.index(at) :]:
            left = None if remaining is None else remaining - len(rows)
            room = self._page_size - len(rows)
            if left is not None and left <= 0:
                break
            if room == 0:
                return rows, PageStart((path, None), left)
            wanted = room if left is None else min(room, left)
            system = {"skiptoken": inner} if inner and path == at else {}
            page = parse_json(self._read(path, system, wanted).body)
            rows += page["value"]
            link = next((page[name] for name in page if name.endswith("nextLink")), None)
            if link is not None:
                left = None if remaining is None else remaining - len(rows)
                if left is None or left > 0:
                    token = parse_qs(urlsplit(link).query)["$skiptoken"][0]
                    return rows, PageStart((path, token), left)
        return rows, None

    def _read(self, path: str, system: dict[str, str], rows: int) -> Answer:
        preferences = {**self.request.preferences.by_name, "maxpagesize": Preference("", str(rows))}
        if "format" in self.texts.system:
            system["format"] = self.texts.system["format"]
        headers = unconditional(self.request.headers)
        request = replace(
            self.request,
            path=path,
            query=OptionTexts(system, {}),
            headers=headers,
            preferences=Preferences(preferences),
            mixed=True,
        )
        return self.reader.read(request, self.caller, self.connection)
