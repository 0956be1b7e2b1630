"""What a GET asks for, as text: taken apart, and its shape that plans are kept under."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from sqlalchemy import Dialect

from app.http.security import Caller
from app.odata.protocol.negotiation import Format
from app.odata.protocol.request import ReadRequest
from app.odata.reading.tokens import PageStart
from app.odata.syntax.nodes import LiteralValue
from app.odata.syntax.options import OptionTexts, read_options, shape_options
from app.odata.syntax.path import PathText, read_path, shape_path, with_keys

# Which rows of a collection: ``whole``, all of them for there cannot be more than a page; else a
# page, which begins after a row if there are flags: they tell which of its sort keys are null.
Paging = tuple[bool, ...] | OneOf["whole"]


def texts_of(request: ReadRequest) -> tuple[PathText, OptionTexts]:
    """Path and options, decoded."""
    query = request.query
    path = read_path(with_keys(request.path))
    return path, query if isinstance(query, OptionTexts) else read_options(query)


@dataclass(slots=True)  # not frozen, which costs more: one a request
class Query:
    """A request to read, taken apart.

    ``wanted`` are the types that are welcome where JSON is none of them: what the path leads to may
    be of one. ``page_size`` is the number of rows of a page.
    """

    request: ReadRequest
    path: PathText
    texts: OptionTexts
    format: Format
    wanted: str | None
    start: PageStart | None
    page_size: int

    @property
    def paging(self) -> Paging:
        if self.start is not None:
            return tuple(value is None for value in self.start.after)
        top = self.texts.system.get("top", "")
        fits = top.isdecimal() and len(top) < 19 and int(top) <= self.page_size
        return "whole" if fits else ()


@dataclass(slots=True)
class Shape:
    """A query without its ``literals``, for a caller on a database.

    ``key`` is what all queries of the shape have in common; where a literal is part of the plan,
    the plan is kept under ``exact``.
    """

    query: Query
    caller: Caller
    dialect: Dialect
    text: Hashable
    literals: Sequence[LiteralValue]

    @property
    def key(self) -> Hashable:
        return self.text, self._common

    @property
    def exact(self) -> Hashable:
        """The query as it was written, but for what does not matter to a plan."""
        texts = self.query.texts
        system = tuple(
            pair for pair in texts.system.items() if pair[0] not in ("skiptoken", "format")
        )
        return self.query.path.marked, system, tuple(texts.aliases.items()), self._common

    @property
    def _common(self) -> Hashable:
        return self.query.format, self.caller.profile, self.dialect.name, self.query.paging


def shape_of(query: Query, caller: Caller, dialect: Dialect) -> Shape:
    path, literals = shape_path(query.path)
    options, others = shape_options(query.texts)
    return Shape(query, caller, dialect, (path, options), [*literals, *others])
