"""Faults of the database: restarted, away, frozen, slow, full of connections."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import psycopg

from tests.faults.bed import Bed
from tests.faults.results import Report
from tests.faults.scene import under_load

AWAY_SECONDS = 20.0
FROZEN_SECONDS = 20.0
# Until silence is noticed: a connection is out for 2 seconds, and nobody answers for 4 more.
SILENT_SECONDS = 8.0
LOCKED_SECONDS = 15.0
# The limit of a connection attempt and of waiting in the pool, and some scheduling.
PROMPT_SECONDS = 5.0
# The limit of a wait for a lock is 10 seconds.
LOCK_DEADLINE_SECONDS = 13.0


def restarted(bed: Bed, report: Report) -> None:
    """PostgreSQL is stopped without a word under load, and started at once."""
    assert bed.postgresql is not None
    with under_load(bed, report, after=10) as scene:
        bed.postgresql.stop()
        bed.postgresql.start()
    scene.check_bounded(PROMPT_SECONDS)


def away(bed: Bed, report: Report) -> None:
    """PostgreSQL is away for 20 seconds under load."""
    assert bed.postgresql is not None
    with under_load(bed, report, after=10) as scene:
        bed.postgresql.stop()
        time.sleep(AWAY_SECONDS / 2)
        live, ready = bed.ask("/healthz")[0], bed.ask("/readyz")[0]
        time.sleep(AWAY_SECONDS / 2)
        bed.postgresql.start()
    report.check("meanwhile /healthz is 200 and /readyz 503", (live, ready) == (200, 503),
                 f"{live}, {ready}")  # fmt: skip
    scene.check_bounded(PROMPT_SECONDS)


def frozen(bed: Bed, report: Report) -> None:
    """PostgreSQL takes connections and says nothing for 20 seconds."""
    assert bed.postgresql is not None
    with under_load(bed, report, after=10) as scene:
        bed.postgresql.freeze()
        time.sleep(FROZEN_SECONDS)
        bed.postgresql.thaw()
    scene.check_bounded(SILENT_SECONDS)


def locked(bed: Bed, report: Report) -> None:
    """Somebody holds a lock on the clients for 15 seconds; the rest of the service goes on."""
    assert bed.postgresql is not None

    def hold() -> None:
        with psycopg.connect(_database(bed)) as connection:
            connection.execute("LOCK TABLE clients IN ACCESS EXCLUSIVE MODE")
            connection.execute(f"SELECT pg_sleep({LOCKED_SECONDS})")

    with under_load(bed, report, after=8) as scene:
        holder = threading.Thread(target=hold)
        holder.start()
        time.sleep(1)
        others = [bed.ask("/odata/Leads?$top=1")[0] for _ in range(20)]
        holder.join()
    report.check("what needs no lock is answered meanwhile", set(others) == {200}, set(others))
    scene.check_bounded(LOCK_DEADLINE_SECONDS)


def crowded(bed: Bed, report: Report) -> None:
    """Every connection that PostgreSQL allows is taken, those of the service are cut off."""
    assert bed.postgresql is not None
    with under_load(bed, report, after=8) as scene, ExitStack() as stack:
        cut = psycopg.connect(_database(bed), autocommit=True)
        crowd = [cut]
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            cut.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'business-platform'"
            )
            try:
                while True:
                    crowd.append(psycopg.connect(_database(bed)))
            except psycopg.OperationalError:
                time.sleep(0.1)
        for connection in crowd:
            stack.callback(connection.close)
        time.sleep(4)
        stack.close()
    report.check("there was no connection left", bool(scene.ledger.errors()), f"{len(crowd)} taken")
    scene.check_bounded(PROMPT_SECONDS)


def _database(bed: Bed) -> str:
    return bed.place.database.replace("postgresql+psycopg://", "postgresql://")
