"""Writing entries of the search, each in the transaction of the caller."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, delete, insert

from app.clock import utc_now
from app.db import records
from app.models.search import SearchEntry
from app.search import pgvector
from app.search.embedding import DIMENSION, MODEL
from app.search.entries import CHANGES, EntryColumns
from app.writing.numbering import next_number


def store(
    entity: str,
    key: int,
    columns: EntryColumns,
    *,
    revision: int,
    language: str,
    category: str | None,
) -> None:
    """Put an entry in place of the one before; the counter is locked until the commit."""
    _remove((SearchEntry.entity == entity) & (SearchEntry.entity_id == key))
    vectors: dict[str, Any] = {"model": None, "dimension": None, "vectors": None}
    if columns.vectors is not None:
        import numpy  # large: loaded by who has vectors

        flat = numpy.ascontiguousarray(columns.vectors, dtype="<f4").tobytes()
        vectors = {"model": MODEL, "dimension": DIMENSION, "vectors": flat}
    row = {
        "created_at": utc_now(),
        "entity": entity,
        "entity_id": key,
        "revision": revision,
        "change": next_number(CHANGES),
        "language": language,
        "category": category,
        "terms": columns.terms,
        "length": columns.length,
        "passages": columns.passages,
        **vectors,
    }
    connection = records.connection()
    added = connection.execute(insert(SearchEntry).returning(SearchEntry.id), row).scalar_one()
    if vectors["vectors"] is not None:
        pgvector.keep(connection, added, entity, key, vectors["vectors"])


def forget(entity: str, condition: ColumnElement[bool]) -> int:
    """Remove the entries of ``entity`` that meet ``condition``; returns how many."""
    removed = _remove((SearchEntry.entity == entity) & condition)
    if removed:
        announce()
    return removed


def announce() -> None:
    """Let processes look again at what is there."""
    next_number(CHANGES)


def forget_one(entity: str, key: int) -> None:
    """Remove the entry of one record, if it has one."""
    forget(entity, SearchEntry.entity_id == key)


def _remove(condition: ColumnElement[bool]) -> int:
    return int(records.connection().execute(delete(SearchEntry).where(condition)).rowcount)
