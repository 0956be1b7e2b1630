"""The passages that were indexed, for showing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from app.db.engines import read_engine
from app.models.search import SearchEntry


def passages_of(entity: str, keys: Sequence[int]) -> Mapping[int, tuple[int, list[str]]]:
    """Key -> (revision that was read, its passages).

    It asks for no permission: only for keys of records that the caller has just read.
    """
    if not keys:
        return {}
    wanted = select(SearchEntry.entity_id, SearchEntry.revision, SearchEntry.passages).where(
        SearchEntry.entity == entity, SearchEntry.entity_id.in_(keys)
    )
    with read_engine().connect() as connection:
        return {row.entity_id: (row.revision, row.passages) for row in connection.execute(wanted)}
