"""The little that a write has to look up, inside its own transaction: keys, links, kept values.

Only rows that the caller may read are found: a write must not be a way to learn of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, select, tuple_

from app.clock import utc_now
from app.db import records
from app.db.transactions import advisory_lock
from app.errors import NotFoundError, PreconditionFailedError
from app.http.security import current_caller
from app.odata.binding.paths import key_of, parts_of
from app.odata.binding.values import rows_for
from app.odata.model import edm
from app.odata.payload.reader import EntityBody
from app.odata.protocol.etags import parse_precondition


def find_key(
    container: edm.EntityContainer, type_: edm.EntityType, values: Mapping[str, Any]
) -> Any | None:
    """The key of the entity with these values of an alternate key; None when there is none.

    Args:
        values: by attribute.
    """
    table = _aliased(type_.table)
    conditions = [table.c[attribute] == value for attribute, value in values.items()]
    rows = run(
        _visible(select(*_key_columns(type_, table)).where(*conditions), container, type_, table)
    )
    return key_of(rows[0]) if rows else None


def find_key_locked(
    container: edm.EntityContainer, type_: edm.EntityType, values: Mapping[str, Any]
) -> Any | None:
    """As ``find_key``, before an entity is made because there is none with these values.

    Of two that would make it the second waits here, and finds what the first has made.
    """
    if not records.is_served():
        return None  # the one writer has looked already
    advisory_lock(lock_name(type_, values))
    return find_key(container, type_, values)


def lock_name(type_: edm.EntityType, values: Mapping[str, Any]) -> str:
    """The lock under which an entity with these values of a key is made."""
    named = " ".join(f"{attribute}={values[attribute]!r}" for attribute in sorted(values))
    return f"{type_.name} {named}"


def find_version(
    container: edm.EntityContainer, type_: edm.EntityType, key: Any
) -> tuple[bool, int | None]:
    """Whether the entity is there, and its row version if the type has one."""
    table = _aliased(type_.table)
    columns = [table.c[type_.etag]] if type_.etag else _key_columns(type_, table)
    rows = run(_visible(select(*columns).where(*_is(type_, table, key)), container, type_, table))
    if not rows:
        return False, None
    return True, rows[0][0] if type_.etag else None


def version_of_tag(container: edm.EntityContainer, body: EntityBody, key: Any) -> int | None:
    """The row version that an entity must have by the ETag in its body; None when it has none.

    Raises: PreconditionFailedError, it has another, or it is not there.
    """
    if body.tag is None:
        return None
    exists, version = find_version(container, body.type, key)
    condition = parse_precondition(body.tag)
    if not exists or (condition is not None and not condition.matches(version)):
        message = f"{body.path} was changed by somebody else meanwhile: read it again, then repeat."
        raise PreconditionFailedError(message, [(body.path, "was changed meanwhile")])
    return version


def require_entity(
    container: edm.EntityContainer, type_: edm.EntityType, key: Any | None
) -> int | None:
    """The row version of an entity that must be there, if its type has one.

    Raises: NotFoundError, there is none that the caller may read.
    """
    exists, version = (False, None) if key is None else find_version(container, type_, key)
    if not exists:
        raise NotFoundError(f"There is no such {type_.name}.")
    return version


def kept_values(
    type_: edm.EntityType, key: Any, attributes: tuple[str, ...]
) -> Mapping[str, Any] | None:
    """The values of columns as they stand, the row locked; None when there is no such row."""
    return kept_rows(type_, (key,), attributes).get(key)


def kept_rows(
    type_: edm.EntityType, keys: Sequence[Any], attributes: tuple[str, ...]
) -> dict[Any, dict[str, Any]]:
    """Key -> the values of columns as they stand, the rows locked in the order of their keys."""
    table, own = type_.table, _key_columns(type_, type_.table)
    whole: Any = own[0] if len(own) == 1 else tuple_(*own)
    statement = select(*own, *(table.c[name] for name in attributes)).where(whole.in_(keys))
    rows = run(statement.order_by(*own).with_for_update(key_share=True)) if keys else []
    count = len(own)
    return {key_of(row[:count]): dict(zip(attributes, row[count:], strict=True)) for row in rows}


def lock_owner(type_: edm.EntityType, key: Any) -> None:
    """Lock an entity before the members that it owns are read, to be written as a whole.

    Read without it, they put back what others have changed meanwhile; and who locks members first
    waits crosswise with who begins with the owner.
    """
    kept_values(type_, key, (type_.properties[type_.key[0]].attribute,))


def related_keys(
    container: edm.EntityContainer, type_: edm.EntityType, key: Any, nav: edm.NavigationProperty
) -> list[Any]:
    """The keys of the entities that are related now, in their order; none to a hidden one."""
    target = container.target(nav)
    source, other = _aliased(type_.table), _aliased(target.table, "other")
    statement = (
        select(*_key_columns(target, other))
        .select_from(source.join(other, nav.join(source.c, other.c)))
        .where(*_is(type_, source, key))
        .order_by(*_key_columns(target, other))
    )
    statement = _visible(statement, container, target, other)
    return [key_of(row) for row in run(_visible(statement, container, type_, source))]


def held_value(type_: edm.EntityType, key: Any, attribute: str) -> Any | None:
    """The value of a column of an entity that was written; None where it is not there."""
    statement = select(type_.table.c[attribute]).where(*_is(type_, type_.table, key))
    rows = run(statement)
    return rows[0][0] if rows else None


def is_of(container: edm.EntityContainer, type_: edm.EntityType, key: Any) -> bool:
    """Whether an entity is of a type, or of one derived from it; also where there is none."""
    if type_.base is None or type_.discriminator is None:
        return True
    return held_value(type_, key, type_.discriminator[0]) in (None, *container.kinds(type_))


@lru_cache(maxsize=256)
def _aliased(table: FromClause, side: str = "") -> FromClause:
    """``table`` under a name of its own, made once: with fifty columns it costs half a millisecond.

    Args:
        side: tells two of the same statement apart.
    """
    return table.alias()


def _key_columns(type_: edm.EntityType, table: FromClause) -> list[ColumnElement[Any]]:
    return [table.c[type_.properties[name].attribute] for name in type_.key]


def _is(type_: edm.EntityType, table: FromClause, key: Any) -> list[ColumnElement[bool]]:
    columns = _key_columns(type_, table)
    return [column == value for column, value in zip(columns, parts_of(key), strict=True)]


def _visible(
    statement: Select[Any], container: edm.EntityContainer, type_: edm.EntityType, table: FromClause
) -> Select[Any]:
    """``statement`` of those rows alone that are there for the caller."""
    return statement.where(*rows_for(container, current_caller(), type_, table.c))


def run(statement: Select[Any], container: edm.EntityContainer | None = None) -> list[Any]:
    """The rows of a statement, in the transaction of the request and for its caller.

    Args:
        container: says which day it is, for a statement that asks.
    """
    connection, now = records.connection(), utc_now()
    values: dict[str, Any] = {"caller_id": current_caller().user_id, "now": now}
    if container is not None:
        values["today"] = container.day_of(connection, now)
    parameters = {f"dyn_{name}": value for name, value in values.items()}
    return list(connection.execute(statement, parameters))
