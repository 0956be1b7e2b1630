"""The index of one kind of record in this process, as new as the database at every question."""

from __future__ import annotations

import threading
from typing import Any

import numpy
from sqlalchemy import ColumnElement, Connection, Select, literal, select
from sqlalchemy.exc import DBAPIError

from app.db.engines import read_engine
from app.extensions import Extension
from app.models.event import Counter
from app.models.search import SearchEntry
from app.search import pgvector
from app.search.embedding import MODEL, find_model
from app.search.entries import CHANGES, query_terms
from app.search.index import Entry, Hits, Index, Segment

_COLUMNS = (
    "entity_id", "change", "language", "category", "terms", "length", "model", "dimension",
)  # fmt: skip
NOTHING_KNOWN = -1


class IndexCache:
    """Keeps the index of ``entity``, and reads what has changed before it is asked."""

    def __init__(self, entity: str) -> None:
        self._entity = entity
        self._index = Index()
        self._known = NOTHING_KNOWN
        self._in_database = False
        self._lock = threading.Lock()

    def search(self, question: str, *, by_words: bool, by_meaning: bool) -> tuple[Hits, bool]:
        """Scores of all texts for a question, and whether its meaning took part."""
        index = self.current()
        model = find_model() if by_meaning else None
        vector = model.embed([question])[0] if model else None
        terms = query_terms(question, sorted(index.languages())) if by_words else []
        if vector is None or not self._in_database:
            return index.search(terms, vector), vector is not None
        hits = index.search(terms, None)
        try:
            also = hits.best_by_words()
            near, around = pgvector.nearness(self._entity, vector, also, with_around=bool(terms))
        except DBAPIError:  # the table was dropped; what it had is read into this process again
            self._known = NOTHING_KNOWN
            return self.current().search(terms, vector), True
        return hits.with_meaning(near, around), True

    def spelled_out(self, question: str) -> str:
        """A question with its slips undone, and with what its short forms stand for."""
        index = self.current()
        return index.spelled_out(index.mended(question))

    def current(self) -> Index:
        """The index with every change that is committed."""
        with read_engine().connect() as connection:
            change = last_change(connection)
            if change == self._known:
                return self._index
            with self._lock:
                if change != self._known:
                    self._refresh(connection, change)
                return self._index

    def _refresh(self, connection: Connection, change: int) -> None:
        in_database = pgvector.is_complete(connection)
        # Another database, the same from a backup, or vectors that have moved.
        if change < self._known or in_database != self._in_database:
            self._index, self._known = Index(), NOTHING_KNOWN
        self._in_database = in_database
        changed = self._read(connection, self._known)
        keys = select(SearchEntry.entity_id).where(SearchEntry.entity == self._entity)
        index = self._index.with_changes(changed, connection.execute(keys).scalars())
        if index.is_worn():
            every = self._read(connection, NOTHING_KNOWN)
            index = Index([Segment(every)] if every else [])
        self._index, self._known = index, change

    def _read(self, connection: Connection, after: int) -> list[Entry]:
        is_newer = SearchEntry.change > after
        return _read(connection, self._entity, is_newer, with_vectors=not self._in_database)


class PartialIndex(IndexCache):
    """The index of some texts, read for one question: what the others say does not count in it.

    Args:
        keys: a statement that gives the keys of the texts.
    """

    def __init__(self, entity: str, keys: Select[Any]) -> None:
        super().__init__(entity)
        with read_engine().connect() as connection:
            entries = _read(connection, entity, SearchEntry.entity_id.in_(keys))
        self._index = Index([Segment(entries)] if entries else [])

    def current(self) -> Index:
        """What was read."""
        return self._index


def _read(
    connection: Connection, entity: str, chosen: ColumnElement[bool], *, with_vectors: bool = True
) -> list[Entry]:
    columns: list[Any] = [SearchEntry.__table__.c[name] for name in _COLUMNS]
    columns.append(SearchEntry.vectors if with_vectors else literal(None).label("vectors"))
    statement = (
        select(*columns).where(SearchEntry.entity == entity, chosen).order_by(SearchEntry.entity_id)
    )
    return [_entry(row) for row in connection.execute(statement)]


def last_change(connection: Connection) -> int:
    """The number of the last change of any entry."""
    value = connection.execute(select(Counter.value).where(Counter.name == CHANGES)).scalar()
    return int(value or 0)


index_caches: Extension[dict[str, IndexCache]] = Extension("index_caches", dict)


def index_cache_of(entity: str) -> IndexCache:
    """That of this application and kind of record."""
    return index_caches.current.setdefault(entity, IndexCache(entity))


def _entry(row: Any) -> Entry:
    vectors = None
    if row.vectors is not None and row.model == MODEL:
        vectors = numpy.frombuffer(row.vectors, dtype="<f4").reshape(-1, row.dimension)
    return Entry(
        row.entity_id, row.change, row.language, row.category, row.terms, row.length, vectors
    )
