"""Which rows of an entity type are there for a caller: the one rule, for reads and writes alike.

What lies in another entity, such as a revision in its article, follows it: it is there where its
container is, and of those only what its own state lets through (docs/adr/0019).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, literal, or_, select

from app.http.security import Caller
from app.odata.model import edm
from app.permissions import row_filter


def rows_for(
    container: edm.EntityContainer, caller: Caller, type_: edm.EntityType, columns: Any
) -> list[ColumnElement[bool]]:
    """The conditions of the rows that are there; none for all.

    Args:
        columns: the ``.c`` of the table or alias read.
    Raises: ForbiddenError, the caller may read none.
    """
    owners = container.containers_of(type_)
    conditions: list[ColumnElement[bool]] = []
    if type_.resource is not None:
        allowed = row_filter(caller, type_.resource, columns, is_contained=bool(owners))
        if allowed is not None:
            conditions.append(allowed)
    if type_.visible is not None:
        conditions.append(type_.visible(columns))
    predicates = [_lies_in(container, caller, owner, nav, columns) for owner, nav in owners]
    # One container that holds it is enough; without a condition on any, all of them do.
    if predicates and all(condition is not None for condition in predicates):
        conditions.append(or_(*(condition for condition in predicates if condition is not None)))
    return conditions


def _lies_in(
    container: edm.EntityContainer, caller: Caller, owner: edm.EntityType,
    navigation: edm.NavigationProperty, columns: Any,
) -> ColumnElement[bool] | None:  # fmt: skip
    """That a row lies in an entity that is there; None where all entities are."""
    holder = owner.table.alias()
    conditions = rows_for(container, caller, owner, holder.c)
    if not conditions:
        return None
    held = select(literal(1)).select_from(holder).where(navigation.join(holder.c, columns))
    return held.where(*conditions).correlate_except(holder).exists()
