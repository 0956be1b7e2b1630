"""How many related entities an answer would have, counted before they are read.

Where collections are expanded inside what is expanded, entities are shown once for each path that
leads to them: ``Contacts?$expand=Client($levels=max)`` shows all contacts of a client with each of
them, and so on, so that a short query may ask for millions out of a hundred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from app.odata.binding.context import Source
from app.odata.errors import QueryError
from app.odata.reading.bound import BoundQuery, ExpandMember
from app.odata.reading.statement import Run, Statement, Top

# Related entities in one answer, those aside that are directly in its rows: some tens of megabytes.
MOST_RELATED = 50_000

Path = tuple[ExpandMember, ...]
# Selects columns of the rows that are shown.
Page = Callable[[Sequence[ColumnElement[Any]]], Select[Any]]


@dataclass(frozen=True, slots=True)
class Fan:
    """``paths`` are the ``$top`` of each collection on the path to those that are deep inside.

    ``count`` counts what they lead to, all paths together, as far as it matters.
    """

    paths: Sequence[Sequence[Top | None]]
    count: Statement

    def refuse_too_many(self, run: Run, connection: Connection, rows: int) -> None:
        """Raise QueryError where the answer, which has ``rows`` rows at most, would be too great.

        It is counted only where the numbers that are asked for do not already tell.
        """
        most = sum(
            rows * prod(
                run.expanded if top is None else min(top.of(run.literals), run.expanded)
                for top in path
            )
            for path in self.paths
        )  # fmt: skip
        if most > MOST_RELATED and self.count.rows(connection, run)[0][0] > MOST_RELATED:
            raise QueryError(
                f"more than {MOST_RELATED} related entities would be shown, each as often as a path"
                " leads to it: ask for fewer levels, or for fewer entities with $top or $filter",
                0,
                "$expand",
            )


def fan_of(
    query: BoundQuery,
    page: Page,
    sources: Mapping[str, Source],
    compiled: Callable[[Select[Any]], Statement],
) -> Fan | None:
    """What has to be counted of a query; None where nothing deep inside can be many.

    Args:
        sources: where the parameters of the query come from.
    """
    paths = list(_paths(query, ()))
    if not paths:
        return None
    rows = page(query.scope.key_columns()).correlate(None).cte("page")
    statement = union_all(*(_along(query, path, rows) for path in paths)).limit(MOST_RELATED + 1)
    tops = [[_top(member.query, sources) for member in path if member.collection] for path in paths]
    return Fan(tops, compiled(select(func.count()).select_from(statement.subquery())))


def _paths(query: BoundQuery, before: Path) -> Iterator[Path]:
    """The paths to the collections inside what is expanded."""
    assert query.projection is not None
    for member in query.projection.members:
        if isinstance(member, ExpandMember) and not member.count_only:
            path = (*before, member)
            if before and member.collection:
                yield path
            if member.query.projection is not None:
                yield from _paths(member.query, path)


def _along(query: BoundQuery, path: Path, page: Any) -> Select[Any]:
    """A row for each entity that a path leads to."""
    keys = query.scope.key_columns()
    constant: Any = literal_column("1")
    statement = select(constant).select_from(query.scope.from_clause())
    statement = statement.where(tuple_(*keys).in_(select(*page.c)))
    for member in path:
        statement = statement.select_from(member.query.scope.from_clause()).where(
            *member.query.conditions
        )
    return statement


def _top(query: BoundQuery, sources: Mapping[str, Source]) -> Top | None:
    if query.top is None:
        return None
    source = sources.get(query.top.key)
    return Top(None if source is None else source.slot, query.top.value or 0)
