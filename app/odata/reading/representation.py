"""One entity as JSON without any control information: what events and the assistant carry.

It is every property that a GET shows without ``$select``, read with all rights: the change that an
event tells of was allowed, and who receives it is decided where it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, bindparam

from app.http.security import system_caller
from app.odata.binding.context import Context, Source
from app.odata.binding.paths import parts_of
from app.odata.binding.values import Scope
from app.odata.model import edm
from app.odata.protocol.negotiation import BARE
from app.odata.reading.bound import Projection
from app.odata.reading.entity_json import EntityWriter
from app.odata.reading.selection import selected_members
from app.odata.reading.statement import Run, Statement


@dataclass(slots=True)  # not frozen, which costs more: one a request
class Representation:
    """The JSON text of an entity and its row version, if its type has one."""

    entity: str
    key: Any
    text: str
    version: int | None


class Representations:
    """Reads entities of a container by type name and key."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container
        self._statements: dict[tuple[str, str, bool], Statement] = {}

    def read(self, entity: str, key: Any, connection: Connection) -> Representation:
        """An entity as it is now.

        Args:
            entity: name of the entity type, with a set or contained.
            key: the value of the key; a tuple where it has several parts.
        Raises: KeyError, there is no such type or no such entity.
        """
        parts = parts_of(key)
        rows = self._rows(entity, parts, connection)
        if not rows:
            raise KeyError(f"{entity} {key}")
        text, *version = rows[0]
        return Representation(entity, key, text, version[0] if version else None)

    def read_many(
        self, entity: str, keys: Sequence[int], connection: Connection
    ) -> Mapping[int, str]:
        """Key -> the JSON text of entities made one after the other, by one statement."""
        rows = self._rows(entity, (min(keys), max(keys)), connection, is_range=True)
        wanted = set(keys)
        return {key: text for text, *_, key in rows if key in wanted}

    def _rows(
        self, entity: str, literals: Sequence[Any], connection: Connection, is_range: bool = False
    ) -> list[Any]:
        dialect = connection.dialect
        statement = self._statements.get((entity, dialect.name, is_range))
        if statement is None:
            statement = self._statement(self._container.types[entity], dialect, is_range)
            self._statements[entity, dialect.name, is_range] = statement
        return statement.rows(connection, Run(literals, 0, container=self._container))

    def _statement(self, type_: edm.EntityType, dialect: Dialect, is_range: bool) -> Statement:
        scope = Scope(Context(self._container, system_caller()), type_)
        keys = scope.key_columns()
        literals = [
            bindparam(f"key_{slot}", type_=column.type, required=True)
            for slot, column in enumerate(keys * 2 if is_range else keys)
        ]
        sources = {literal.key: Source(slot) for slot, literal in enumerate(literals)}
        conditions: list[ColumnElement[bool]] = [
            column == literal for column, literal in zip(keys, literals, strict=False)
        ]
        if is_range:
            conditions = [keys[0].between(literals[0], literals[1])]
        # Rows that are hidden from queries, such as a document just deleted, have events, too.
        projection = Projection(scope, list(selected_members(scope, ())), ())
        columns: list[ColumnElement[Any]] = [EntityWriter(BARE).entity(projection)]
        if type_.etag is not None:
            columns.append(scope.columns[type_.etag])
        if is_range:
            columns.append(keys[0])
        scope.conditions = conditions
        return Statement(scope.select(*columns), dialect, sources, bounded=False)
