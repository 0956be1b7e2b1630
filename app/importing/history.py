"""``import_records``: the records of a file with their history, all or none, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from app import audit
from app.db import records
from app.db.engines import transaction
from app.db.row_keys import go_on_after
from app.db.transactions import advisory_lock
from app.errors import ApiError
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.importing.keys import assign_keys, resolve_references
from app.importing.progress import Report
from app.importing.reading import Entries, Entry, Problems, Progress, read_entries
from app.importing.sets import import_sets
from app.models.columns import Entity
from app.settings import organisation
from app.writing.bulk_rows import close_circles, insert_rows
from app.writing.change import Change, History
from app.writing.rules import RowRules


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
        # Of two at once the second sees what the first has left: keys, numbers, slugs.
        advisory_lock("import of records")
        rules = {each.rules.name: each.rules for each in import_sets().values()}
        history = History(rules=rules, settings=organisation())
        entries = read_entries(
            data, history, problems, _progress(report, "Checking records", counts)
        )
        problems.stop()
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
