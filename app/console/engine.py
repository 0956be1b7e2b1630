"""Asking the OData service from a page: the same reads, writes and operations, the same rights."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

from werkzeug.datastructures import Headers

from app.db.types import json_text
from app.errors import ApiError
from app.http.json_body import parse_json
from app.odata.model import edm
from app.odata.request import Request
from app.odata.service import odata_service

ODATA = "/odata/"


@dataclass(frozen=True)
class Result:
    """An answer of the engine: its status and, where there is one, its JSON."""

    status: int
    body: Any

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The entities of a collection."""
        rows: list[dict[str, Any]] = self.body["value"]
        return rows


def container() -> edm.EntityContainer:
    """The model of the service."""
    service = odata_service.current
    return service.container


def read(path: str, **options: str | int | None) -> Result:
    """GET ``path`` (``Clients(1)``) with system query options, ``filter="..."`` without dollars.

    Raises: an ApiError, as the service would answer.
    """
    given = {f"${name}": str(value) for name, value in options.items() if value is not None}
    return _ask("GET", path, urlencode(given, quote_via=quote), None)


def follow(link: str) -> Result:
    """GET the rest of a ``nextLink``, given from the path below the service root on."""
    path, _, query = link.partition("?")
    return _ask("GET", path, query, None)


def send(method: str, path: str, body: Any, version: str | None = None) -> Result:
    """A write or an operation; ``version`` is the ETag that must still stand.

    Raises: an ApiError, as the service would answer.
    """
    return _ask(method, path, "", body, {"If-Match": version} if version else {})


def address(path: str, **options: str | int | None) -> str:
    """The URL under which the API answers the same."""
    given = {f"${name}": str(value) for name, value in options.items() if value is not None}
    query = urlencode(given, quote_via=quote, safe="$,()/' ").replace(" ", "%20")
    return f"{ODATA}{path}" + (f"?{query}" if query else "")


def _ask(
    method: str, path: str, query: str, body: Any, headers: dict[str, str] | None = None
) -> Result:
    service = odata_service.current
    text = b"" if body is None else json_text(body).encode()
    sent = Headers({"Content-Type": "application/json", **(headers or {})})
    if method == "GET":
        sent.pop("Content-Type")
    request = Request(method, path, query, sent, lambda: text, ODATA, (ODATA,))
    response = service.answer(request)
    if response.status_code == 204 or not response.data:
        return Result(response.status_code, None)
    return Result(response.status_code, parse_json(response.data))


def problems_of(error: ApiError) -> dict[str, str]:
    """Field in wire spelling -> what is wrong with it; ``""`` for the whole."""
    found = {detail.field: detail.message for detail in error.details}
    return found or {"": error.message}


def as_number(value: Any) -> Decimal:
    """A number of an answer."""
    return Decimal(str(value or 0))
