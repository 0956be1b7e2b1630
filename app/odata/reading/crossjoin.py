"""``$crossjoin(A,B)``: every combination of entities of several sets (URL Conventions 4.15).

A combination is a row of a type made for the query, which leads to one entity of each set; so paths
such as ``Clients/name``, ``$expand`` and the caller's row filters work as they do anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from sqlalchemy import ColumnElement, and_, func, select, true

from app.errors import NotFoundError
from app.odata.binding.context import Context
from app.odata.binding.derived import type_of_one_row
from app.odata.binding.ordering import OrderKey
from app.odata.binding.values import Scope, Typed
from app.odata.errors import QueryError, sentence, suggestion
from app.odata.model import edm
from app.odata.protocol.negotiation import Format
from app.odata.reading.bound import BoundQuery, ComputedMember, ExpandMember
from app.odata.reading.entity_json import entity_address
from app.odata.sql.decimals import integer_operation
from app.odata.sql.dialect_sql import Template
from app.odata.syntax.nodes import CrossJoinSegment

# The context URL of its rows, which are of no type of the model (Protocol 10.15).
CONTEXT = "Collection(Edm.ComplexType)"
# Of three thousand rows each, four sets have more combinations than anyone ever counts.
MOST_SETS = 4


def cross_join(context: Context, segment: CrossJoinSegment) -> tuple[Scope, Mapping[str, Scope]]:
    """The rows of a cross join, and of each set by its name the rows that are joined.

    Raises: NotFoundError, there is no such set; QueryError, one is named twice, or they are many;
        ForbiddenError, one may not be read.
    """
    container = context.container
    joined: dict[str, Scope] = {}
    if len(segment.entity_sets) > MOST_SETS:
        raise QueryError(f"$crossjoin takes at most {MOST_SETS} sets", segment.offset)
    for written in segment.entity_sets:
        entity_set = container.set_called(written)
        if entity_set is None:
            hint = suggestion(written, container.sets)
            raise NotFoundError(sentence(f"There is no entity set {written}{hint}"))
        if entity_set.name in joined:
            raise QueryError(f"{entity_set.name} is there twice", segment.offset)
        joined[entity_set.name] = Scope(context, entity_set.type)
    context.multiplied = True
    navigation = {name: _navigation(name, scope) for name, scope in joined.items()}
    rows = Scope(context, type_of_one_row("$crossjoin", navigation))
    for name, scope in joined.items():
        rows.attach(name, scope, true())
    return rows, joined


def _navigation(name: str, scope: Scope) -> edm.NavigationProperty:
    keys = [scope.type.properties[part].attribute for part in scope.type.key]
    return edm.NavigationProperty(
        name=name,
        target=scope.type.name,
        collection=False,
        nullable=False,
        join=lambda source, other: and_(*(other[key] == scope.columns[key] for key in keys)),
    )


def as_combinations(
    query: BoundQuery, joined: Mapping[str, Scope], own_keys: int, form: Format
) -> BoundQuery:
    """A bound query with what the rows of a cross join show: an entity, or where it is read.

    Args:
        own_keys: the number of sort keys that the query has of its own.
    """
    projection = query.projection
    assert projection is not None
    expanded = {member.name for member in projection.members if isinstance(member, ExpandMember)}
    links = [
        ComputedMember(
            form.control("navigationLink", name),
            Typed(Template(entity_address(scope, name)), edm.STRING, nullable=False, plain=True),
        )
        for name, scope in joined.items()
        if name not in expanded and form.metadata != "none"
    ]
    query.projection = replace(projection, members=[*projection.members, *links], selected=None)
    query.total_order = True
    query.order = [
        *query.order[:own_keys],
        *(
            OrderKey(Typed(column, scope.type.properties[name].type, nullable=False))
            for scope in joined.values()
            for name, column in zip(scope.type.key, scope.key_columns(), strict=True)
        ),
    ]
    return query


def all_combinations(joined: Mapping[str, Scope]) -> ColumnElement[int]:
    """The number of combinations of all rows: nothing is joined to know it."""
    numbers = [
        select(func.count())
        .select_from(scope.table)
        .where(*scope.conditions)
        .correlate(None)
        .scalar_subquery()
        for scope in joined.values()
    ]
    return reduce(
        lambda left, right: integer_operation("mul", left, right), numbers[1:], numbers[0]
    )
