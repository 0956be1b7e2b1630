"""A file that somebody sends: imported at once, or left to the worker when it is long."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from app.crm.importing.jobs import queue_import
from app.crm.importing.service import SKIP_BAD, Import, Options, Outcome, undo
from app.crm.importing.tables import FileTable

# More rows than a request may take the time for.
MOST_AT_ONCE = 1000


def import_table(table: FileTable, path: Path, name: str, options: Options) -> Outcome | int:
    """Import a table; returns what came of it or, for a long one, the key of its job.

    A dry run leaves nothing behind, and its outcome has the problems.
    Raises: ValidationError, with the problems, when all or nothing was wanted; ForbiddenError.
    """
    first = list(islice(table.rows, MOST_AT_ONCE + 1))
    running = Import(replace(table, rows=chain(first, table.rows)), options)
    if len(first) > MOST_AT_ONCE:
        return queue_import(path, name, options)
    outcome = running.within_transaction()
    if options.dry_run:
        undo()
    elif outcome.problem_count and options.mode != SKIP_BAD:
        raise outcome.refuse()
    return outcome
