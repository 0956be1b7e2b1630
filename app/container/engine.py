"""Asking the OData service from inside: as the caller, with OData's own text.

Whatever shows business data to a caller comes this way, so that there is one permission filter;
pages and the assistant write this way, so that there is one way of writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from json import loads
from typing import Any
from urllib.parse import quote

from werkzeug.datastructures import Headers

from app.db import records
from app.db.engines import read_engine
from app.db.transactions import has_begun
from app.db.types import json_text
from app.errors import NotFoundError
from app.http.json_body import parse_json
from app.http.security import current_caller
from app.odata.protocol.request import ReadRequest, Request
from app.odata.service import odata_service

# The control names of every answer are left out: who reads inside needs none.
_HEADERS = {"Accept": "application/json;odata.metadata=none"}
ROOT = "/odata/"
# Stands as it is in a query (RFC 3986, 3.4), so that people can read the address.
_PLAIN = "$=(),'/:;*@!"


@dataclass(frozen=True)
class Result:
    """An answer of the service: its status and, where there is one, its JSON."""

    status: int
    body: Any

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The entities of a collection."""
        rows: list[dict[str, Any]] = self.body["value"]
        return rows


def ask(
    method: str, path: str, query: str = "", body: Any = None, version: str | None = None
) -> Result:
    """What the service answers to a request: a read, a write or an operation.

    Args:
        path: below the service root, percent-encoded, as ``query``.
        version: the ETag that must still stand.
    Raises: an ApiError, as the service would answer.
    """
    text = b"" if body is None else json_text(body).encode()
    headers = Headers({"If-Match": version} if version else {})
    if method != "GET":
        headers["Content-Type"] = "application/json"
    request = Request(method, path, query, headers, lambda: text, ROOT, (ROOT,))
    response = odata_service.current.answer(request)
    if response.status_code == 204 or not response.data:
        return Result(response.status_code, None)
    return Result(response.status_code, parse_json(response.data))


def read_many(path: str, **options: object) -> list[dict[str, Any]]:
    """The entities of a collection that the caller may read.

    Args:
        path: below the service root, percent-encoded, such as ``Clients(1)/Invoices``.
        options: system query options without ``$``, as text: ``filter="id eq 1"``.
    Raises: InvalidQueryError, NotFoundError, ForbiddenError.
    """
    rows: list[dict[str, Any]] = _read(path, options)["value"]
    return rows


def read_one(path: str, **options: object) -> dict[str, Any]:
    """An entity that the caller may read.

    Raises: NotFoundError, also for what the caller may not read, and where a navigation property
        leads to nothing.
    """
    row: dict[str, Any] = _read(path, options)
    return row


def find_one(path: str, **options: object) -> dict[str, Any] | None:
    """An entity, or None."""
    try:
        return read_one(path, **options)
    except NotFoundError:
        return None


def read_by_id(
    entity_set: str, keys: Iterable[int], select: str, condition: str = ""
) -> Mapping[int, dict[str, Any]]:
    """The entities of these ids that the caller may read, by their ids.

    Args:
        select: property names, commas between; ``id`` is read anyway.
        condition: a further ``$filter``.
    """
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        return {}
    # Few sizes of lists, and so few plans: what is missing repeats the last id.
    size = next((size for size in (1, 5, 20, 50, 200) if size >= len(wanted)), len(wanted))
    padded = [*wanted, *(wanted[-1:] * (size - len(wanted)))]
    clause = f"id in ({','.join(map(str, padded))})"
    rows = read_many(
        entity_set,
        filter=f"{clause} and {condition}" if condition else clause,
        select=f"id,{select}",
        top=len(wanted),
    )
    return {row["id"]: row for row in rows}


def query_text(options: Mapping[str, object]) -> str:
    """``{"filter": "id eq 1"}`` -> ``$filter=id%20eq%201``; what is None is left out."""
    return "&".join(
        f"${name}={quote(str(value), safe=_PLAIN)}"
        for name, value in options.items()
        if value is not None
    )


def query_address(path: str, options: Mapping[str, object]) -> str:
    """The address that gives the same, relative to the service."""
    query = query_text(options)
    return f"{ROOT}{path}" + (f"?{query}" if query else "")


def _read(path: str, options: Mapping[str, object]) -> Any:
    service = odata_service.current
    request = ReadRequest(path, query_text(options), ROOT, _HEADERS)
    caller = current_caller()
    if has_begun():
        answer = service.reader.read(request, caller, records.connection())
    else:
        with read_engine().connect() as connection:
            answer = service.reader.read(request, caller, connection)
    if answer.status == 204:
        raise NotFoundError(f"There is nothing at {path}.")
    return loads(answer.body, parse_float=Decimal)
