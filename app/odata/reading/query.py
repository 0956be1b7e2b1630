"""What a GET asks for, as text: taken apart, its shape that plans are kept under, and where its
page begins: ``$skiptoken``, sealed so that nobody but the service makes one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal as OneOf

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import Dialect

from app.http.security import Caller
from app.odata.errors import QueryError
from app.odata.protocol.negotiation import Format
from app.odata.protocol.request import ReadRequest
from app.odata.syntax.nodes import LiteralValue
from app.odata.syntax.options import OptionTexts, read_options, shape_options
from app.odata.syntax.path import PathText, read_path, shape_path, with_keys

# Options that say nothing about which rows a query has, or in which order.
_NOT_IN_QUERY = frozenset(("skiptoken", "format"))


@dataclass(frozen=True, slots=True)
class PageStart:
    """``after``: the sort keys of the last row shown; ``remaining``: rows that ``$top`` leaves."""

    after: Sequence[Any]
    remaining: int | None


# One key, or several: the last one makes tokens, the others are still read.
SecretKey = str | Sequence[bytes]


class TokenMaker:
    """Makes and reads tokens with the keys of the service."""

    def __init__(self, secret_key: SecretKey) -> None:
        self._serializer = URLSafeSerializer(secret_key, salt="odata-skiptoken")

    def make(self, start: PageStart, fingerprint: str) -> str:
        """The token of a page of the query that ``fingerprint`` stands for."""
        return self._serializer.dumps([fingerprint, start.remaining, *start.after])

    def read(self, token: str, fingerprint: str) -> PageStart:
        """What a token says.

        Raises: QueryError, it was not made here, or for another query.
        """
        try:
            made_for, remaining, *after = self._serializer.loads(token)
        except (BadData, ValueError, TypeError):
            raise QueryError("this token was not given by the service", 0, "$skiptoken") from None
        if made_for != fingerprint:
            raise QueryError("this token belongs to another query", 0, "$skiptoken")
        return PageStart(after, remaining)


def fingerprint(path: str, options: OptionTexts) -> str:
    """A short hash of what a query asks for, literals included."""
    pairs = sorted(
        (name, text) for name, text in options.system.items() if name not in _NOT_IN_QUERY
    )
    canonical = repr((path.lstrip("/"), pairs, sorted(options.aliases.items())))
    return hashlib.blake2s(canonical.encode(), digest_size=8).hexdigest()


def without_tokens(query: str, *names: str) -> str:
    """A query string without the options of these names, such as ``skiptoken``."""
    return "&".join(pair for pair in query.split("&") if pair and _option(pair) not in names)


def _option(pair: str) -> str:
    """The name of a system query option, in whatever way it is written."""
    return pair.partition("=")[0].replace("%24", "$").lower().removeprefix("$")


def next_link(root: str, path: str, query: str, token: str, name: str = "skiptoken") -> str:
    """The address that goes on from a token.

    Args:
        root: the address of the service, with a slash at its end.
        query: without an earlier token, percent-encoded.
    """
    prefix = f"{query}&" if query else ""
    return f"{root}{path.lstrip('/')}?{prefix}${name}={token}"


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
