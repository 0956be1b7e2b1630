"""``import_records``: the records of a file, all or none, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app import audit
from app.database import transaction
from app.extensions import db
from app.importing.derived import derive
from app.importing.keys import assign_keys, resolve_references
from app.importing.problems import Problems
from app.importing.progress import Report
from app.importing.reading import read_entries
from app.importing.sets import import_sets
from app.importing.storing import store
from app.security import acting_as, system_caller
from app.settings import organisation
from app.transactions import advisory_lock


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
    Effects: history and numbers are kept as given, counters go on after them, no events are
        emitted, one line is added to the audit log.
    Raises: ImportProblemsError, with every problem of the file; nothing was changed.
    """
    counts = _counts(data)
    problems = Problems()
    with acting_as(system_caller("cli")), transaction() as session:
        # Of two at once the second sees what the first has left: keys, numbers, slugs.
        advisory_lock("import of records")
        entries = read_entries(data, problems, _progress(report, "Checking", counts))
        problems.stop()
        connection = session.connection()
        keys = assign_keys(connection, entries, problems)
        users = data.get("Users") if isinstance(data, Mapping) else None
        resolve_references(connection, entries, keys, users, problems)
        problems.stop()
        derive(entries, problems, organisation())
        problems.stop()
        store(connection, entries, problems, _progress(report, "Writing", counts))
        problems.stop()
        audit.record("import.completed", after=counts)
        if dry_run:
            session.rollback()
    if not dry_run:
        _analyze()
    return counts


def _counts(data: object) -> dict[str, int]:
    records = data if isinstance(data, Mapping) else {}
    return {
        name: len(records[name])
        for name in import_sets()
        if isinstance(records.get(name), list) and records[name]
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
