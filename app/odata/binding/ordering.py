"""``$orderby``: what rows are sorted by, down to what tells each from all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement

from app.odata.binding.derived import identity_of, is_entity
from app.odata.binding.json_values import dynamic_value
from app.odata.binding.translator import Translator
from app.odata.binding.values import Dynamic, Scope, Typed
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.syntax.nodes import OrderItem


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What rows are sorted by: nulls come first, or last when descending (Protocol 11.2.6.2)."""

    value: Typed
    descending: bool = False

    def clause(self) -> ColumnElement[Any]:
        """For ORDER BY; where null cannot occur the plain form, which every index serves."""
        sql = self.value.sql.desc() if self.descending else self.value.sql.asc()
        if not self.value.nullable:
            return sql
        return sql.nulls_last() if self.descending else sql.nulls_first()


def order_keys(translator: Translator, items: Sequence[OrderItem]) -> list[OrderKey]:
    """The sort keys, those of the entity last: without them pages would not be stable."""
    keys = []
    own = translator.scope.type.ordered_by
    if own is not None and not items and translator.scope.type.key:
        keys.append(OrderKey(Typed(translator.scope.columns[own], edm.INT32, nullable=False)))
    keys += sort_keys(translator, items)
    return [*keys, *_identity(translator.scope, keys)]


def sort_keys(translator: Translator, items: Sequence[OrderItem]) -> Iterator[OrderKey]:
    """What ``$orderby`` names; what nothing declares is sorted by the values of each type.

    Raises: QueryError, its values have no order.
    """
    for item in items:
        bound = translator.bind(item.expression)
        if isinstance(bound, Dynamic):
            values = [dynamic_value(bound, kind) for kind in ("decimal", "text", "boolean")]
        else:
            values = [bound if isinstance(bound, Typed) else translator.typed(item.expression)]
        for value in values:
            if value.type.family == "other":
                raise QueryError("nothing is sorted by this", item.offset)
            yield OrderKey(value, item.descending)


def _identity(scope: Scope, before: Sequence[OrderKey]) -> list[OrderKey]:
    """What identifies a row, as far as it is not among the keys ``before``.

    It goes the way of the last of them, so that an index read backwards serves all together; rows
    with a place of their own keep to it.
    """
    placed = scope.type.ordered_by is not None and not scope.type.key
    descending = bool(before) and before[-1].descending and not placed
    if is_entity(scope):
        properties = [scope.type.properties[name] for name in scope.type.key]
        values = [
            Typed(column, property_.type, nullable=False)
            for column, property_ in zip(scope.key_columns(), properties, strict=True)
        ]
    else:
        values = identity_of(scope)
    known = {id(key.value.sql) for key in before}
    return [OrderKey(value, descending) for value in values if id(value.sql) not in known]
