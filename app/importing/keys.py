"""Keys: the ids of the file become keys of this database, and references follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select, text

from app.auth.lockout import fold_name
from app.db.row_keys import go_on_after, last_key
from app.importing.reading import Entries, Problems
from app.importing.sets import import_sets, set_of_table, set_of_type
from app.models.columns import Entity
from app.models.user import User
from app.writing.change import Change
from app.writing.rules import RowRules

Keys = Mapping[str, Mapping[int, int]]


def assign_keys(connection: Connection, entries: Entries, problems: Problems) -> Keys:
    """Give every record its key; returns set -> (id in the file -> key here).

    In an empty table the ids of the file are kept.
    """
    keys: dict[str, dict[int, int]] = {}
    for name, records in entries.items():
        mapping = keys[name] = {}
        table = import_sets()[name].table
        keep = _is_empty(connection, table)
        taken = {entry.given_id for entry in records if entry.given_id is not None}
        fresh = iter(
            new_keys(
                connection,
                table,
                sum(1 for entry in records if not keep or entry.given_id is None),
                above=max(taken, default=0) if keep else 0,
            )
        )
        for entry in records:
            is_kept = keep and entry.given_id is not None
            entry.change.key = entry.given_id if is_kept else next(fresh)  # type: ignore[assignment]
            if entry.given_id is None:
                continue
            if entry.given_id in mapping:
                problems.add(name, entry.index, "id", f"{entry.given_id} stands here twice")
            mapping[entry.given_id] = entry.change.key
    return keys


def new_keys(connection: Connection, table: Table, count: int, *, above: int = 0) -> Sequence[int]:
    """``count`` keys that no row of ``table`` has or had, all more than ``above``."""
    if not count:
        return ()
    if connection.dialect.name == "postgresql":
        go_on_after(connection, table, above)
        rows = connection.execute(
            text(f"SELECT nextval('{table.name}_id_seq') FROM generate_series(1, :count)"),  # nosec B608  # a table of ours
            {"count": count},
        )
        return [int(row[0]) for row in rows]
    first = max(last_key(connection, table), above) + 1
    return range(first, first + count)


def resolve_references(
    connection: Connection, entries: Entries, keys: Keys, users: object, problems: Problems
) -> None:
    """Turn the references of the file into keys of this database."""
    people = _user_keys(connection, users, problems)
    known = {**keys, "Users": people}
    for name, records in entries.items():
        rules = import_sets()[name].rules
        for entry in records:
            change = entry.change
            _resolve(rules, change.values, "", known, change)
            if rules.polymorphic:
                _resolve_polymorphic(*rules.polymorphic, known, change)
            for attribute, child in rules.children.items():
                for index, row in enumerate(change.values.get(attribute, ())):
                    row[child.parent] = change.key
                    prefix = f"{rules.wire(attribute)}[{index}]."
                    _resolve(child, row, prefix, known, change)
            problems.take(name, entry.index, change)


def _resolve(
    rules: RowRules, row: dict[str, Any], prefix: str, known: Keys, change: Change[Entity]
) -> None:
    for reference in rules.written_references:
        value = row.get(reference.attribute)
        if value is None:
            continue
        target = "Users" if reference.target == "users" else set_of_table()[reference.target]
        key = known.get(target, {}).get(value)
        if key is None:
            field = prefix + rules.wire(reference.attribute)
            change.refuse_field(field, _missing(target, value))
        row[reference.attribute] = key


def _resolve_polymorphic(
    type_attribute: str, key_attribute: str, known: Keys, change: Change[Entity]
) -> None:
    name, value = change.values.get(type_attribute), change.values.get(key_attribute)
    if name is None or value is None:
        return
    target = set_of_type()[name]
    key = known.get(target, {}).get(value)
    if key is None:
        change.refuse(key_attribute, _missing(target, value))
    change.values[key_attribute] = key


def _missing(target: str, value: int) -> str:
    if target == "Users":
        return f"there is no user {value} here, and none under this id in Users of the file"
    return f"there is no {value} in {target} of the file"


def _user_keys(connection: Connection, users: object, problems: Problems) -> dict[int, int]:
    """Id of a user in the file -> key here: by the usernames of ``Users``, else the same key.

    Accounts are never made by an import: whoever is named must be here.
    """
    table = User.__table__
    rows = connection.execute(select(table.c.id, table.c.username_key)).all()
    if users is None:
        return {row.id: row.id for row in rows}
    by_name: dict[str, int] = {row.username_key: row.id for row in rows}
    keys: dict[int, int] = {}
    for index, user in enumerate(users if isinstance(users, list) else []):
        named: Any = user if isinstance(user, Mapping) else {}
        key = by_name.get(fold_name(str(named.get("username", ""))))
        if key is None or type(named.get("id")) is not int:
            problems.add("Users", index, "username", "is no user of this system, with an id")
        else:
            keys[named["id"]] = key
    return keys


def _is_empty(connection: Connection, table: Table) -> bool:
    return connection.execute(select(table.c.id).limit(1)).first() is None
