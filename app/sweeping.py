"""Clocks: what time does to records, each in a short transaction of its own, through its service.

A clock may run twice, late, or on several hosts at once: it finds candidates without locks, then
takes each row, looks again, and does what is still to be done (docs/adr/0073).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import structlog
from sqlalchemy import Select

from app.database import primary_engine, transaction
from app.loops import is_stopping
from app.security import acting_as, system_caller

BATCH = 500
_log = structlog.get_logger(__name__)
Row = Mapping[str, Any]


def sweep(
    name: str,
    candidates: Select[Any],
    step: Callable[[int], object],
    *,
    is_due: Callable[[Row], bool] = lambda row: True,
) -> int:
    """Take a step with every candidate; returns with how many something was done.

    Args:
        name: for the log.
        candidates: rows with an ``id``, in no order of their own.
        step: locks the row of this id and looks again; what it returns says whether it did
            something. One that fails is logged and left for the next turn.
        is_due: a look at the row without a lock, for what SQL cannot say.
    """
    done = 0
    for row in _rows(candidates):
        if is_stopping():  # the next worker begins with every clock
            break
        if not is_due(row):
            continue
        try:
            with acting_as(system_caller("job")), transaction():
                done += bool(step(row["id"]))
        except Exception:
            _log.exception("clock failed", clock=name, id=row["id"])
    return done


def _rows(candidates: Select[Any]) -> Iterator[Any]:
    """All candidates by their keys, some at a time: nothing is held between them."""
    key = candidates.selected_columns["id"]
    last = 0
    while True:
        statement = candidates.where(key > last).order_by(key).limit(BATCH)
        with primary_engine().connect() as connection:
            found = connection.execute(statement).mappings().all()
        yield from found
        if len(found) < BATCH:
            return
        last = found[-1]["id"]
