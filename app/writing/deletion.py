"""What happens to the rows that refer to a record when it is deleted (docs/adr/0022)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flask import current_app
from sqlalchemy import Select, Table, bindparam, select

from app import records
from app.errors import InUseError
from app.writing.references import TABLES
from app.writing.rules import DELETE, RESTRICT, EntityRules, Reference, RowRules

if TYPE_CHECKING:
    from app.writing.pipeline import EntityService


def services() -> Mapping[str, EntityService]:
    """Entity type name -> service, as the application was built with."""
    found: Mapping[str, EntityService] = current_app.extensions["services"]
    return found


def release(rules: EntityRules, key: int) -> None:
    """Deal with everything that refers to a record which is about to go.

    Raises: InUseError, a row needs it; nothing is changed then.
    """
    dependents = [
        (service, owner, reference, row)
        for service, owner, reference in referring(rules)
        for row in referring_rows(owner.columns, reference.attribute, key)
    ]
    for _, owner, reference, row in dependents:
        if reference.when_deleted == RESTRICT or (reference.blocks and reference.blocks(row)):
            raise InUseError(
                f"The {rules.title} cannot be deleted: it has"
                f" {reference.blockers or owner.columns.name.replace('_', ' ')}."
            )
    for service, owner, reference, row in dependents:
        if owner is not service.rules:
            records.update(owner.table, row["id"], {reference.attribute: None})
        elif reference.when_deleted == DELETE:
            if records.read(owner.table, row["id"], ("id",)) is not None:
                service.remove(row["id"], row)
        else:
            service.apply(row["id"], {reference.attribute: None})
    _unlink_polymorphic(rules, key)


def referring(rules: EntityRules) -> Iterator[tuple[EntityService, RowRules, Reference]]:
    """Every reference of an entity, or of rows inside one, to the table of ``rules``."""
    for service in services().values():
        for owner in (service.rules, *service.rules.children.values()):
            for reference in owner.references.values():
                is_parent = reference.attribute == getattr(owner, "parent", None)
                if reference.target == rules.columns.name and not is_parent:
                    yield service, owner, reference


def _unlink_polymorphic(rules: EntityRules, key: int) -> None:
    """Tasks and documents about the record stay, and are about nothing then."""
    for service in services().values():
        if service.rules.polymorphic is None or TABLES.get(rules.name) is None:
            continue
        type_attribute, key_attribute = service.rules.polymorphic
        statement = linked_rows(service.rules.columns, type_attribute, key_attribute)
        linked = records.connection().execute(statement, {"type": rules.name, "key": key})
        for row_id in linked.scalars().all():
            service.apply(row_id, {type_attribute: None, key_attribute: None})


def referring_rows(table: Table, attribute: str, key: int) -> list[Mapping[str, Any]]:
    """The rows whose ``attribute`` refers to ``key``, locked."""
    statement = _referring_rows(table, attribute)
    return [dict(row) for row in records.connection().execute(statement, {"key": key}).mappings()]


@lru_cache(maxsize=256)
def _referring_rows(table: Table, attribute: str) -> Select[Any]:
    statement = select(table).where(table.c[attribute] == bindparam("key"))
    return statement.order_by(table.c.id).with_for_update(key_share=True)


@lru_cache(maxsize=16)
def linked_rows(table: Table, type_attribute: str, key_attribute: str) -> Select[Any]:
    """The keys of the rows about a record ``type``, ``key``."""
    return (
        select(table.c.id)
        .where(table.c[type_attribute] == bindparam("type"))
        .where(table.c[key_attribute] == bindparam("key"))
        .order_by(table.c.id)
    )
