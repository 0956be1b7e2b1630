"""An OData query as the source of figures: its address, and its rows under the caller's rights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection

from app.container.engine import ROOT, query_address, query_text
from app.db.engines import read_engine
from app.http.page_sizes import ODATA
from app.http.security import current_caller
from app.odata.protocol.preferences import parse_preferences
from app.odata.protocol.request import ReadRequest
from app.odata.service import odata_service

# What decides how many rows there are.
_NARROWING = ("apply", "filter", "search")
Row = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A set and its system query options, by name without the dollar."""

    set_name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The query string, percent-encoded."""
        return query_text(self.options)

    @property
    def url(self) -> str:
        """The address that gives the same rows, relative to the service."""
        return query_address(self.set_name, self.options)


@dataclass(frozen=True)
class QueryRows:
    """Rows of a query; ``total`` counts all of them where ``$count`` asked for it."""

    rows: list[Row]
    truncated: bool
    total: int | None = None


def run(query: Query, limit: int) -> QueryRows:
    """The first ``limit`` rows, a page at most, nested values by their path (``Client/name``).

    Raises: InvalidQueryError, ForbiddenError, NotFoundError, as the address itself would.
    """
    body = _page(query.set_name, query.text, min(limit, ODATA.largest))
    rows = [flat(row) for row in body["value"]]
    return QueryRows(rows, "@odata.nextLink" in body, body.get("@odata.count"))


def pages(
    query: Query, size: int = ODATA.largest, connection: Connection | None = None
) -> Iterator[list[Row]]:
    """All rows, page by page: a row added or removed meanwhile moves no other one."""
    text: str | None = query.text
    while text is not None:
        body = _page(query.set_name, text, size, connection)
        yield [flat(row) for row in body["value"]]
        link = body.get("@odata.nextLink")
        text = urlsplit(link).query if link else None


def count(query: Query) -> int:
    """How many rows the query has."""
    options = {name: text for name, text in query.options.items() if name in _NARROWING}
    counting = Query(query.set_name, {**options, "count": "true", "top": "0"})
    return int(_page(counting.set_name, counting.text, 1).get("@odata.count", 0))


def _page(
    set_name: str, text: str, size: int, connection: Connection | None = None
) -> dict[str, Any]:
    service = odata_service.current
    rows = parse_preferences([f"odata.maxpagesize={size}"])
    request = ReadRequest(set_name, text, ROOT, {}, rows, pages_alone=True)
    with read_engine().connect() if connection is None else nullcontext(connection) as reading:
        answer = service.reader.read(request, current_caller(), reading)
    body: dict[str, Any] = json.loads(answer.body, parse_float=Decimal)
    return body


def flat(row: Mapping[str, Any], prefix: str = "") -> Row:
    """Nested values by their path; control information is left out."""
    cells: Row = {}
    for name, value in row.items():
        if "@" in name:
            continue
        if isinstance(value, dict):
            cells.update(flat(value, f"{prefix}{name}/"))
        else:
            cells[prefix + name] = value
    return cells
