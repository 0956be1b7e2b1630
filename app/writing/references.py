"""Foreign keys in a body: the row must be there, and the caller must be able to read it.

What is missing and what may not be read get the same message, so that nobody learns of a record
by naming it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, Table, bindparam, select

from app.extensions import Model, db
from app.http.security import Caller
from app.models.columns import Entity
from app.permissions import OWNING_COLUMNS, allowed
from app.writing.change import Change
from app.writing.rules import RowRules


@dataclass(frozen=True)
class Target:
    """A table that others refer to: how a message calls a row, and who may read it."""

    title: str
    resource: str | None = None


TARGETS: Mapping[str, Target] = {
    "clients": Target("client", "clients"),
    "contacts": Target("contact", "contacts"),
    "leads": Target("lead", "leads"),
    "opportunities": Target("opportunity", "opportunities"),
    "tickets": Target("ticket", "tickets"),
    "invoices": Target("invoice", "invoices"),
    "kb_articles": Target("article", "kb"),
    "documents": Target("document", "documents"),
    "tasks": Target("task", "tasks"),
    "projects": Target("project", "projects"),
    "products": Target("product", "products"),
    "users": Target("active user"),
}
# Name of the entity type -> its table, for links to any of the ten (relatedType, entityType).
TABLES: Mapping[str, str] = {
    "Client": "clients", "Contact": "contacts", "Lead": "leads", "Opportunity": "opportunities",
    "Ticket": "tickets", "Invoice": "invoices", "KbArticle": "kb_articles",
    "Document": "documents", "Task": "tasks", "Project": "projects",
}  # fmt: skip


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
    elif name is not None and not is_readable(change.caller, TABLES[name], key):
        change.refuse(key_attribute, missing(TABLES[name], key))


def missing(table: str, key: int) -> str:
    """The message for a row that is not there, or not for this caller."""
    return f"there is no {TARGETS[table].title} {key}"


def is_readable(caller: Caller, table: str, key: int) -> bool:
    """Whether the row is there and ``caller`` may read it; users must be active."""
    if table == "users" and key == caller.user_id:
        return True
    source = Model.metadata.tables[table]
    row = db.session.execute(_of_interest(source), {"key": key}).first()
    if row is None:
        return False
    resource = TARGETS[table].resource
    if resource is None:
        return bool(row.status == "active")
    # Documents in the trash are there for nobody.
    is_deleted = table == "documents" and row.status == "Deleted"
    return not is_deleted and allowed(caller, f"{resource}:read", row)


@lru_cache(maxsize=64)
def _of_interest(table: Table) -> Select[Any]:
    columns = [table.c[name] for name in (*OWNING_COLUMNS, "status") if name in table.c]
    return select(*columns).where(table.c.id == bindparam("key"))
