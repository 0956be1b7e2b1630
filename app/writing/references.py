"""Foreign keys in a body: the row must be there, and the caller must be able to read it.

What is missing and what may not be read get the same message, so that nobody learns of a record
by naming it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Select, Table, bindparam, select

from app.extensions import Model, db
from app.http.security import Caller
from app.models.client import Contact
from app.models.columns import Entity
from app.permissions import OWNING_COLUMNS, allowed
from app.writing.change import Change
from app.writing.deletion import services
from app.writing.rules import EntityRules, RowRules


class _Named(NamedTuple):
    """A reference in a body: where it stands, and what it refers to."""

    change: Change[Entity]
    field: str
    table: str
    key: int


def check_references(*changes: Change[Any]) -> None:
    """Note a problem for every changed reference to a row that is not there for the caller.

    A table is asked once for all that the changes, which are of one caller, refer to.
    """
    named = [reference for change in changes for reference in _references(change)]
    wanted: dict[str, set[int]] = {}
    for reference in named:
        wanted.setdefault(reference.table, set()).add(reference.key)
    readable = {
        table: readable_keys(changes[0].caller, table, keys) for table, keys in wanted.items()
    }
    for change, field, table, key in named:
        if key not in readable[table]:
            change.refuse_field(field, missing(table, key))
    _check_contacts(changes)


def _check_contacts(changes: Sequence[Change[Any]]) -> None:
    """Who has a client and a contact has one of that client, or one who works for no client.

    A contact may go to another client later: what names both keeps them until one of them changes,
    and a history, whose references are checked elsewhere, has them as they have become.
    """
    of_both = [
        change
        for change in changes
        if {"client_id", "contact_id"} <= change.rules.references.keys()
        and change.concerns("client_id", "contact_id")
        and change.get("client_id") is not None
    ]
    named = {change.get("contact_id") for change in of_both} - {None}
    if not named:
        return
    statement = select(Contact.id, Contact.client_id).where(Contact.id.in_(named))
    clients = {row.id: row.client_id for row in db.session.execute(statement)}
    for change in of_both:
        if clients.get(change.get("contact_id")) not in (None, change.get("client_id")):
            change.refuse("contact_id", "belongs to another client")


def _references(change: Change[Entity]) -> Iterator[_Named]:
    rules = change.rules
    rows: list[tuple[str, RowRules, Mapping[str, Any]]] = [("", rules, change.values)]
    for attribute, children in rules.children.items():
        for index, row in enumerate(change.values.get(attribute) or ()):
            rows.append((f"{rules.wire(attribute)}[{index}].", children, row))
    for path, row_rules, row in rows:
        for reference in row_rules.written_references:
            key = row.get(reference.attribute)
            if key is not None:
                field = path + row_rules.wire(reference.attribute)
                yield _Named(change, field, reference.target, key)
    if rules.polymorphic is not None:
        yield from _polymorphic(change, *rules.polymorphic)


def _polymorphic(
    change: Change[Entity], type_attribute: str, key_attribute: str
) -> Iterator[_Named]:
    if not change.concerns(type_attribute, key_attribute):
        return
    name, key = change.get(type_attribute), change.get(key_attribute)
    if (name is None) != (key is None):
        absent = type_attribute if name is None else key_attribute
        other = change.rules.wire(key_attribute if name is None else type_attribute)
        change.refuse(absent, f"is required together with {other}")
    elif name is not None:
        table = services.current[name].rules.table.name
        yield _Named(change, change.rules.wire(key_attribute), table, key)


def missing(table: str, key: int) -> str:
    """The message for a row that is not there, or not for this caller."""
    rules = _rules_of(table)
    return f"there is no {rules.title if rules else 'active user'} {key}"


def is_readable(caller: Caller, table: str, key: int) -> bool:
    """Whether the row is there and ``caller`` may read it; users must be active."""
    return key in readable_keys(caller, table, (key,))


def readable_keys(caller: Caller, table: str, keys: Collection[int]) -> set[int]:
    """Those of the keys whose rows are there and that ``caller`` may read; as ``is_readable``."""
    own = {caller.user_id}.intersection(keys) if table == "users" else set()
    others = set(keys) - own
    if not others:
        return own
    rules = _rules_of(table)
    statement = _of_interest(Model.metadata.tables[table])
    rows = db.session.execute(statement, {"keys": sorted(others)}).all()
    if rules is None:
        return own | {row.id for row in rows if row.status == "active"}
    # Documents in the trash are there for nobody.
    there = (row for row in rows if table != "documents" or row.status != "Deleted")
    return own | {row.id for row in there if allowed(caller, rules.permissions["read"], row)}


def _rules_of(table: str) -> EntityRules[Any] | None:
    """The rules of the entity in a table; None of users, who have none."""
    known = (service.rules for service in services.current.values())
    return next((rules for rules in known if rules.table.name == table), None)


@lru_cache(maxsize=64)
def _of_interest(table: Table) -> Select[Any]:
    columns = [table.c[name] for name in ("id", *OWNING_COLUMNS, "status") if name in table.c]
    return select(*columns).where(table.c.id.in_(bindparam("keys", expanding=True)))
