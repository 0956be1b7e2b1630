"""Reading through the query engine inside the service: as the caller, with OData's own text.

Whatever shows business data to a caller comes this way, so that there is one permission filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from json import loads
from typing import Any
from urllib.parse import quote

from app.db import records
from app.db.engines import read_engine
from app.db.transactions import has_begun
from app.errors import NotFoundError
from app.http.security import current_caller
from app.odata.reading.reader import ReadRequest
from app.odata.service import odata_service

# The control names of every answer are left out: who reads inside needs none.
_HEADERS = {"Accept": "application/json;odata.metadata=none"}


def read_many(path: str, **options: object) -> list[dict[str, Any]]:
    """The entities of a collection that the caller may read.

    Args:
        path: below the service root, percent-encoded, such as ``Clients(1)/Invoices``.
        options: system query options without ``$``, as text: ``filter="id eq 1"``.
    Raises: InvalidQueryError, NotFoundError, ForbiddenError.
    """
    found: list[dict[str, Any]] = _read(path, options)["value"]
    return found


def read_one(path: str, **options: object) -> dict[str, Any]:
    """An entity that the caller may read.

    Raises: NotFoundError, also for what the caller may not read.
    """
    found: dict[str, Any] = _read(path, options)
    return found


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
    found = read_many(
        entity_set,
        filter=f"{clause} and {condition}" if condition else clause,
        select=f"id,{select}",
        top=len(wanted),
    )
    return {row["id"]: row for row in found}


def query_text(options: Mapping[str, object]) -> str:
    """``{"filter": "id eq 1"}`` -> ``$filter=id%20eq%201``."""
    return "&".join(f"${name}={quote(str(value), safe='')}" for name, value in options.items())


def _read(path: str, options: Mapping[str, object]) -> Any:
    service = odata_service.current
    asked = ReadRequest(path, query_text(options), "/odata/", _HEADERS)
    caller = current_caller()
    if has_begun():
        answer = service.reader.read(asked, caller, records.connection())
    else:
        with read_engine().connect() as connection:
            answer = service.reader.read(asked, caller, connection)
    return loads(answer.body, parse_float=Decimal)
