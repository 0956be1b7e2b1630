"""The worker's sign of life: a row that it writes every minute, and that ``/readyz`` reads."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update

from app import records
from app.clock import utc_now
from app.database import read_engine, transaction
from app.models.event import Setting

NAME = "worker.heartbeat"
# Three turns of the clock: one may come late behind a long job.
LATE_AFTER = timedelta(minutes=3)

_TABLE: Any = Setting.__table__


def beat() -> None:
    """The worker lives."""
    now = utc_now()
    with transaction() as session:
        statement = update(_TABLE).where(_TABLE.c.name == NAME).values(value={}, updated_at=now)
        if not session.connection().execute(statement).rowcount:
            records.insert(_TABLE, {"name": NAME, "value": {}, "updated_at": now})


def last_beat() -> datetime | None:
    """When the worker last gave a sign; None: never."""
    with read_engine().connect() as connection:
        return connection.execute(
            select(_TABLE.c.updated_at).where(_TABLE.c.name == NAME)
        ).scalar_one_or_none()
