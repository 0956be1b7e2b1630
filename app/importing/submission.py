"""A file that somebody sends: imported at once, or left to the worker when it is long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from app.extensions import db
from app.http.security import current_caller
from app.importing.columns import RULES, SKIP_BAD, Options
from app.importing.jobs import queue_import
from app.importing.limits import REQUEST, TooMuchError
from app.importing.rows import Import, Outcome
from app.importing.tables import open_table
from app.permissions import require

# More rows than a request may take the time for.
MOST_AT_ONCE = 1000


def import_file(
    path: Path,
    name: str,
    options: Options,
    begin: Callable[[Sequence[str], Options], Options] = lambda headings, options: options,
) -> Outcome | int:
    """Import a file; returns what came of it or, for a long one, the key of its job.

    What is too much to be read in a request is left to the worker unread. A dry run leaves nothing
    behind, and its outcome has the problems.

    Args:
        begin: is told the headings, and returns the options to go on with.
    Raises: ValidationError, with the problems, when all or nothing was wanted; ForbiddenError;
        what ``open_table`` raises.
    """
    try:
        with open_table(path, REQUEST, options.encoding) as table:
            options = begin(table.headings, options)
            first = list(islice(table.rows, MOST_AT_ONCE + 1))
            running = Import(replace(table, rows=chain(first, table.rows)), options)
            if len(first) > MOST_AT_ONCE:
                return queue_import(path, name, options)
            running.look(first)
            outcome = running.within_transaction()
    except TooMuchError:
        require(current_caller(), RULES[options.type].permissions["create"])
        return queue_import(path, name, options)
    if options.dry_run:
        db.session.rollback()
    elif outcome.problem_count and options.mode != SKIP_BAD:
        raise outcome.refuse()
    return outcome
