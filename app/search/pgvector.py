"""Vectors in PostgreSQL itself, where the extension ``vector`` can be had (docs/adr/0041).

Its table is made by the worker, not by a migration: the extension is there on some servers only,
and may come later. It is made of what the entries of the search hold, and can be dropped any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from app.db.engines import steady_read
from app.search.embedding import DIMENSION, MODEL
from app.search.results import BEST_PASSAGE, WHOLE_TEXT

# Passages that the index of the database proposes; the texts they belong to are compared exactly.
NEAREST = 400
# Of a text as a whole: stands beside its passages, which count from 0.
WHOLE = -1
# Entries that are copied in one transaction.
PORTION = 200
_IS_READY = text("SELECT to_regclass('search_vectors') IS NOT NULL")
IS_AVAILABLE = text("SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')")
MAKE = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    f"""CREATE TABLE IF NOT EXISTS search_vectors (
        entry_id bigint NOT NULL REFERENCES search_entries (id) ON DELETE CASCADE,
        place integer NOT NULL,
        entity varchar(20) NOT NULL,
        entity_id bigint NOT NULL,
        vector vector({DIMENSION}) NOT NULL,
        PRIMARY KEY (entry_id, place))""",
    "CREATE INDEX IF NOT EXISTS ix_search_vectors_entity ON search_vectors (entity, entity_id)",
    "CREATE INDEX IF NOT EXISTS ix_search_vectors_nearest ON search_vectors"
    " USING hnsw (vector vector_ip_ops)",
)
_LACKING = (
    "FROM search_entries AS entry WHERE model = :model"
    " AND NOT EXISTS (SELECT 1 FROM search_vectors WHERE entry_id = entry.id)"
)
_IS_WAITING = text(f"SELECT EXISTS (SELECT 1 {_LACKING})")
_WAITING = text(
    f"SELECT id, entity, entity_id, vectors {_LACKING} ORDER BY id LIMIT :most"
    " FOR UPDATE SKIP LOCKED"
)
_ADD = text(
    "INSERT INTO search_vectors (entry_id, place, entity, entity_id, vector)"
    " VALUES (:entry_id, :place, :entity, :entity_id, CAST(:vector AS vector))"
    " ON CONFLICT DO NOTHING"
)
_WHOLE = text(
    "SELECT CAST(vector AS text) FROM search_vectors"
    " WHERE entity = :entity AND entity_id = :key AND place = :whole"
)
_SEARCH = text(
    """WITH likely AS MATERIALIZED (
        SELECT entity_id FROM search_vectors WHERE entity = :entity
        ORDER BY vector <#> CAST(:asked AS vector) LIMIT :most
    ), chosen AS (
        SELECT entity_id FROM likely UNION SELECT unnest(CAST(:also AS bigint[]))
    )
    SELECT entity_id,
        :best * max(-(vector <#> CAST(:asked AS vector))) FILTER (WHERE place <> :whole)
        + :rest * max(-(vector <#> CAST(:asked AS vector))) FILTER (WHERE place = :whole)
    FROM search_vectors JOIN chosen USING (entity_id) WHERE entity = :entity GROUP BY entity_id"""
)

_log = structlog.get_logger()


def is_ready(connection: Connection) -> bool:
    """Whether the database has the table."""
    return connection.dialect.name == "postgresql" and bool(connection.execute(_IS_READY).scalar())


def is_complete(connection: Connection) -> bool:
    """Whether the database has the vectors of every entry, so that it can be asked."""
    return is_ready(connection) and not connection.execute(_IS_WAITING, {"model": MODEL}).scalar()


def prepare(engine: Engine) -> bool:
    """Make the table where that can be done; returns whether it is there."""
    if engine.dialect.name != "postgresql":
        return False
    with engine.connect() as connection:
        if is_ready(connection):
            return True
        if not connection.execute(IS_AVAILABLE).scalar():
            return False
    try:
        with engine.begin() as connection:
            for statement in MAKE:
                connection.execute(text(statement))
    except DBAPIError as error:
        _log.debug("vectors are searched in the processes", reason=str(error.orig).strip())
        return False
    _log.info("vectors are searched in the database")
    return True


def take_in(engine: Engine) -> int:
    """Copy the vectors of some entries that the table does not have; returns of how many."""
    with engine.begin() as connection:
        waiting = connection.execute(_WAITING, {"model": MODEL, "most": PORTION}).all()
        rows = [row for entry in waiting for row in _rows(*entry)]
        if rows:
            connection.execute(_ADD, rows)
    return len(waiting)


def keep(connection: Connection, entry_id: int, entity: str, key: int, vectors: Any) -> None:
    """Add the vectors of a new entry, in its transaction; the old ones went with the old entry."""
    if is_ready(connection):
        connection.execute(_ADD, list(_rows(entry_id, entity, key, vectors)))


def nearness(
    entity: str, vector: Any, also: Sequence[int], *, with_around: bool = False
) -> tuple[dict[int, float], dict[int, float]]:
    """How near texts are to a vector of length 1: those that are likely near, and ``also``.

    Args:
        also: keys of texts that are compared in any case.
        with_around: how near they are to the nearest of them as a whole, too; else nothing.
    Raises: DBAPIError, the table is not there.
    """
    with _searching() as connection:
        near = _near(connection, entity, _written(vector), also)
        nearest = max(near, key=near.__getitem__, default=None)
        if not with_around or nearest is None or near[nearest] <= 0:
            return near, {}
        parameters = {"entity": entity, "key": nearest, "whole": WHOLE}
        whole = connection.execute(_WHOLE, parameters).scalar()
        return near, {} if whole is None else _near(connection, entity, whole, also)


@contextmanager
def _searching() -> Iterator[Connection]:
    # In a transaction, so that the settings of the search end with it whoever pools connections.
    with steady_read() as connection:
        connection.exec_driver_sql(f"SET LOCAL hnsw.ef_search = {NEAREST}")
        # Texts of another kind stand in the same index: they must not use the search up.
        connection.exec_driver_sql("SET LOCAL hnsw.iterative_scan = relaxed_order")
        yield connection


def _near(
    connection: Connection, entity: str, vector: str, also: Sequence[int]
) -> dict[int, float]:
    parameters = {
        "entity": entity, "asked": vector, "most": NEAREST, "also": list(also),
        "best": BEST_PASSAGE, "rest": WHOLE_TEXT, "whole": WHOLE,
    }  # fmt: skip
    return {row[0]: float(row[1] or 0) for row in connection.execute(_SEARCH, parameters)}


def _rows(entry_id: int, entity: str, key: int, vectors: Any) -> Iterator[dict[str, Any]]:
    """A row for each passage, and one for the text as a whole."""
    import numpy  # large: loaded by who has vectors

    block = numpy.frombuffer(vectors, dtype="<f4").reshape(-1, DIMENSION)
    whole = block.sum(axis=0)
    whole = whole / max(float(numpy.linalg.norm(whole)), 1e-9)
    for passage, vector in ((WHOLE, whole), *enumerate(block)):
        yield {
            "entry_id": entry_id, "place": passage, "entity": entity, "entity_id": key,
            "vector": _written(vector),
        }  # fmt: skip


def _written(vector: Any) -> str:
    return f"[{','.join(map(repr, vector.tolist()))}]"
