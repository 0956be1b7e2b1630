"""``import_records``: the records of a file with their history, all or none, in one transaction.

Names become columns and values are checked, ids of the file become keys of this database; the
services derive what follows and write. Every problem is told with its set, its index and its field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, select

from app import audit
from app.db import records
from app.db.engines import transaction
from app.db.row_keys import go_on_after, new_keys
from app.db.transactions import advisory_lock
from app.errors import ApiError
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.importing.progress import Report
from app.importing.sets import COMPUTED, NOT_READ, ImportSet, import_sets, set_of_table, set_of_type
from app.models.columns import Entity
from app.models.user import User
from app.settings import organisation
from app.writing.bulk_rows import close_circles, insert_rows
from app.writing.change import Change, History
from app.writing.formats import fold_name
from app.writing.rules import ChildRules, RowRules
from app.writing.validation import by_attribute

# A file with more is wrong in one way many times; the count still tells.
MOST_LISTED = 200


@dataclass
class Problems:
    """The problems found so far, in the order of the file.

    Each names a value, ``Invoices[12].lineItems[0].taxRate``, and says why it cannot be taken.
    """

    listed: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, set_name: str, index: int, field_name: str, message: str) -> None:
        """Note a problem; past ``MOST_LISTED`` they are only counted."""
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            location = f"{set_name}[{index}]" if index >= 0 else set_name
            path = ".".join(filter(None, (location, field_name)))
            self.listed.append(f"{path}: {message}")

    def take(self, set_name: str, index: int, change: Change[Entity]) -> None:
        """Note the problems of a record, which has none of its own then."""
        for detail in change.problems:
            self.add(set_name, index, detail.field, detail.message)
        change.problems.clear()

    def stop(self) -> None:
        """Raise ImportProblemsError where there are problems."""
        if self.count:
            raise ImportProblemsError(self.listed, self.count)


class ImportProblemsError(Exception):
    """The file cannot be taken as it is; nothing of it was."""

    def __init__(self, problems: Iterable[str], count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        super().__init__("\n".join(self.problems))


Progress = Callable[[int], None]


@dataclass(slots=True)
class Entry:
    """One record of the file on its way into a table.

    ``compared`` are the computed values that the file claims, by column, ``claimed`` those of the
    rows of its lists; ``given_id`` is its id there.
    """

    target: ImportSet
    index: int
    change: Change[Entity]
    compared: dict[str, Any]
    given_id: int | None
    claimed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


Entries = dict[str, list[Entry]]


def read_entries(data: object, history: History, problems: Problems, progress: Progress) -> Entries:
    """Every record of the file, set by set in the order of ``import_sets``."""
    if not isinstance(data, Mapping):
        problems.add("the file", -1, "", "must be one object: entity set -> list of records")
        return {}
    for name in data:
        if name not in import_sets() and name != "Users":
            known = ", ".join(import_sets())
            problems.add(str(name), -1, "", f"is no entity set; there are {known}")
    entries: Entries = {}
    for name, target in import_sets().items():
        records = data.get(name, [])
        if not isinstance(records, list):
            problems.add(name, -1, "", "must be a list")
            continue
        entries[name] = [
            entry
            for index, record in enumerate(records)
            if (entry := _read(target, index, record, history, problems)) is not None
        ]
        progress(len(records))
    return entries


def _read(
    target: ImportSet, index: int, record: object, history: History, problems: Problems
) -> Entry | None:
    if not isinstance(record, Mapping):
        problems.add(target.name, index, "", "must be an object")
        return None
    rules = target.rules
    values, unknown = by_attribute(rules, _without_computed(record))
    compared = {name: values.pop(name) for name in target.compared if name in values}
    given_id = _read_id(target, index, record.get("id"), problems)
    claimed: dict[str, list[dict[str, Any]]] = {}
    for attribute, child in rules.children.items():
        if isinstance(values.get(attribute), list):
            rows = values[attribute] = list(values[attribute])
            for at, row in enumerate(rows):
                if isinstance(row, Mapping):
                    rows[at], wrong = by_attribute(child, _without_computed(row))
                    prefix = f"{rules.wire(attribute)}[{at}]."
                    unknown += [each._replace(field=prefix + each.field) for each in wrong]
            claimed[attribute] = [_computed_of(child, row) for row in rows]
    change = target.service.draft(values, history)
    change.problems += unknown
    problems.take(target.name, index, change)
    return Entry(target, index, change, compared, given_id, claimed)


def _computed_of(rules: ChildRules, row: object) -> dict[str, Any]:
    """What a row of a list claims of values that are computed."""
    unread = NOT_READ | {rules.parent, *rules.writable}
    named = row if isinstance(row, dict) else {}
    return {name: value for name, value in named.items() if name not in unread}


def _read_id(target: ImportSet, index: int, value: object, problems: Problems) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 < value < 2**63:
        problems.add(target.name, index, "id", "must be a whole number, 1 or more")
        return None
    return value


def _without_computed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what is computed as it is read, and without what OData adds."""
    return {
        name: value for name, value in record.items() if name not in COMPUTED and "@" not in name
    }


# --- keys: the ids of the file become keys of this database, and references follow them

Keys = Mapping[str, Mapping[int, int]]


def assign_keys(connection: Connection, entries: Entries, problems: Problems) -> Keys:
    """Give every record its key; returns set -> (id in the file -> key here).

    In an empty table the ids of the file are kept.
    """
    keys: dict[str, dict[int, int]] = {}
    for name, listed in entries.items():
        mapping = keys[name] = {}
        table = import_sets()[name].table
        keep = connection.execute(select(table.c.id).limit(1)).first() is None
        taken = {entry.given_id for entry in listed if entry.given_id is not None}
        fresh = iter(
            new_keys(
                connection,
                table,
                sum(1 for entry in listed if not keep or entry.given_id is None),
                above=max(taken, default=0) if keep else 0,
            )
        )
        for entry in listed:
            is_kept = keep and entry.given_id is not None
            entry.change.key = entry.given_id if is_kept else next(fresh)  # type: ignore[assignment]
            if entry.given_id is None:
                continue
            if entry.given_id in mapping:
                problems.add(name, entry.index, "id", f"{entry.given_id} stands here twice")
            mapping[entry.given_id] = entry.change.key
    return keys


def resolve_references(
    connection: Connection, entries: Entries, keys: Keys, users: object, problems: Problems
) -> None:
    """Turn the references of the file into keys of this database."""
    people = _user_keys(connection, users, problems)
    known = {**keys, "Users": people}
    for name, listed in entries.items():
        rules = import_sets()[name].rules
        for entry in listed:
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


# --- the import


def import_records(
    data: object, *, dry_run: bool = False, report: Report | None = None
) -> dict[str, int]:
    """Take in entity set -> records, in the property names of the API (contract section 1).

    Args:
        data: what the JSON says, numbers with a fraction as Decimal; ``LineItems`` and
            ``Payments`` stand inside ``Invoices``, ``Comments`` inside ``Tickets``,
            ``StageHistory`` inside ``Opportunities``, ``Revisions`` inside ``KbArticles``.
            ``Users`` says who the ids of users in the file are, by username.
        dry_run: everything is checked and tried out, nothing is kept.
        report: called with what is done, records so far, records in all.
    Returns: entity set -> number of records.
    Effects: the services write the records with their history: instants, states and numbers are
        kept as given, counters go on after them, no events are emitted, one line is added to the
        audit log.
    Raises: ImportProblemsError, with every problem of the file; nothing was changed.
    """
    counts = _counts(data)
    problems = Problems()
    with acting_as(system_caller("cli")), transaction() as session:
        rules = {each.rules.name: each.rules for each in import_sets().values()}
        history = History(rules=rules, settings=organisation())
        entries = read_entries(
            data, history, problems, _progress(report, "Checking records", counts)
        )
        problems.stop()
        # Of two at once the second sees what the first has left: keys, numbers, slugs. On SQLite
        # nobody else writes from here on.
        advisory_lock("import of records")
        connection = records.connection()
        keys = assign_keys(connection, entries, problems)
        users = data.get("Users") if isinstance(data, Mapping) else None
        resolve_references(connection, entries, keys, users, problems)
        problems.stop()
        _derive(entries, history, problems)
        _write(entries, history, problems, _progress(report, "Writing records", counts))
        audit.record("import.completed", after=counts)
        if dry_run:
            session.rollback()
    if not dry_run:
        _analyze()
    return counts


def _derive(entries: Entries, history: History, problems: Problems) -> None:
    """Let the services check the records and fill what follows; compare what the file claims."""
    for name, target in import_sets().items():
        table = target.table
        history.changes[table.name] = {entry.change.key: entry.change for entry in entries[name]}
        history.changes[table.name] = {
            change.key: change
            for change in _parents_first(target.rules, history.of(target.rules.model))
        }
    for target in import_sets().values():
        for change in history.of(target.rules.model).values():
            try:
                target.service.derive(change)
            except ApiError as error:
                change.take_refusal(error)
    _take_problems(entries, problems)
    problems.stop()
    for target in import_sets().values():
        target.service.reconcile(history)
    for records_of_set in entries.values():
        for entry in records_of_set:
            _compare(entry)
    _take_problems(entries, problems)
    problems.stop()


def _write(entries: Entries, history: History, problems: Problems, progress: Progress) -> None:
    """Insert the records, then what stands in them, then the references that point forwards."""
    targets = [each for each in import_sets().values() if entries[each.name]]
    for target in targets:
        changes = list(history.of(target.rules.model).values())
        target.service.create_many(changes, progress)
        go_on_after(records.connection(), target.table, max(change.key for change in changes))
    for target in targets:
        for attribute, rules in target.rules.children.items():
            rows = [
                (change, row)
                for change in history.of(target.rules.model).values()
                for row in change.values[attribute]
            ]
            insert_rows(rules, rows)
        close_circles(target.table, list(history.of(target.rules.model).values()))
    _take_problems(entries, problems)
    problems.stop()


def _take_problems(entries: Entries, problems: Problems) -> None:
    for name, records_of_set in entries.items():
        for entry in records_of_set:
            problems.take(name, entry.index, entry.change)


def _parents_first(rules: RowRules, changes: Mapping[int, Change[Entity]]) -> list[Change[Entity]]:
    """The records in an order in which each comes after the one of its own set it refers to."""
    own = [
        reference.attribute
        for reference in rules.written_references
        if reference.target == rules.table.name
    ]
    ordered: dict[int, Change[Entity]] = {}
    for change in changes.values():
        chain: dict[int, Change[Entity]] = {}
        following: Change[Entity] | None = change
        while following is not None and following.key not in chain | ordered:
            chain[following.key] = following
            parents = (following.values.get(name) for name in own)
            following = changes.get(next((key for key in parents if key), 0))
        ordered.update(reversed(chain.items()))
    return list(ordered.values())


def _compare(entry: Entry) -> None:
    """What the file says of computed values must be what is computed."""
    change = entry.change
    _compare_row(change, change.rules, "", change.values, entry.compared)
    for attribute, claimed in entry.claimed.items():
        rules = change.rules.children[attribute]
        for index, claims in enumerate(claimed):
            prefix = f"{change.rules.wire(attribute)}[{index}]."
            _compare_row(change, rules, prefix, change.values[attribute][index], claims)


def _compare_row(
    change: Change[Entity],
    rules: RowRules,
    prefix: str,
    row: Mapping[str, Any],
    claims: Mapping[str, Any],
) -> None:
    for column, claim in claims.items():
        if column in row and _differs(claim, row[column]):
            message = f"is computed to be {row[column]}; the file says {claim}"
            change.refuse_field(prefix + rules.wire(column), message)


def _differs(claim: Any, computed: Any) -> bool:
    if claim is None or isinstance(claim, list | dict):
        return False
    if isinstance(computed, Decimal):
        try:
            return Decimal(str(claim)) != computed
        except ArithmeticError:
            return True
    return bool(claim != computed)


def _counts(data: object) -> dict[str, int]:
    sets = data if isinstance(data, Mapping) else {}
    return {
        name: len(sets[name])
        for name in import_sets()
        if isinstance(sets.get(name), list) and sets[name]
    }


def _progress(report: Report | None, what: str, counts: Mapping[str, int]) -> Callable[[int], None]:
    total = sum(counts.values())
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        if report is not None:
            report(what, done, total)

    return add


def _analyze() -> None:
    """Tell the planner of the database what has come."""
    with db.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()
