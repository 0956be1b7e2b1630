"""Foreign keys in a body: the row must be there, and the caller must be able to read it.

What is missing and what may not be read get the same message, so that nobody learns of a record
by naming it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, Table, bindparam, select

from app.extensions import Model, db
from app.http.security import Caller
from app.models.columns import Entity
from app.permissions import OWNING_COLUMNS, allowed
from app.writing.change import Change
from app.writing.deletion import services
from app.writing.rules import EntityRules, RowRules


def check_references(change: Change[Entity]) -> None:
    """Note a problem for every changed reference to a row that is not there for the caller."""
    rules = change.rules
    for reference in rules.written_references:
        value = change.values.get(reference.attribute)
        if value is not None and not is_readable(change.caller, reference.target, value):
            change.refuse(reference.attribute, missing(reference.target, value))
    for attribute, children in rules.children.items():
        for index, row in enumerate(change.values.get(attribute) or ()):
            _check_child(change, children, f"{rules.wire(attribute)}[{index}]", row)
    if rules.polymorphic is not None:
        _check_polymorphic(change, *rules.polymorphic)


def _check_child(
    change: Change[Entity], rules: RowRules, path: str, row: Mapping[str, Any]
) -> None:
    for reference in rules.written_references:
        value = row.get(reference.attribute)
        if value is not None and not is_readable(change.caller, reference.target, value):
            field = f"{path}.{rules.wire(reference.attribute)}"
            change.refuse_field(field, missing(reference.target, value))


def _check_polymorphic(change: Change[Entity], type_attribute: str, key_attribute: str) -> None:
    if not change.concerns(type_attribute, key_attribute):
        return
    name, key = change.get(type_attribute), change.get(key_attribute)
    if (name is None) != (key is None):
        absent = type_attribute if name is None else key_attribute
        other = change.rules.wire(key_attribute if name is None else type_attribute)
        change.refuse(absent, f"is required together with {other}")
    elif name is not None:
        table = services.current[name].rules.table.name
        if not is_readable(change.caller, table, key):
            change.refuse(key_attribute, missing(table, key))


def missing(table: str, key: int) -> str:
    """The message for a row that is not there, or not for this caller."""
    rules = _rules_of(table)
    return f"there is no {rules.title if rules else 'active user'} {key}"


def is_readable(caller: Caller, table: str, key: int) -> bool:
    """Whether the row is there and ``caller`` may read it; users must be active."""
    if table == "users" and key == caller.user_id:
        return True
    source = Model.metadata.tables[table]
    row = db.session.execute(_of_interest(source), {"key": key}).first()
    if row is None:
        return False
    rules = _rules_of(table)
    if rules is None:
        return bool(row.status == "active")
    # Documents in the trash are there for nobody.
    is_deleted = table == "documents" and row.status == "Deleted"
    return not is_deleted and allowed(caller, rules.permissions["read"], row)


def _rules_of(table: str) -> EntityRules[Any] | None:
    """The rules of the entity in a table; None of users, who have none."""
    known = (service.rules for service in services.current.values())
    return next((rules for rules in known if rules.table.name == table), None)


@lru_cache(maxsize=64)
def _of_interest(table: Table) -> Select[Any]:
    columns = [table.c[name] for name in (*OWNING_COLUMNS, "status") if name in table.c]
    return select(*columns).where(table.c.id == bindparam("key"))
