"""What imports leave behind: jobs that ended long ago, and files that no job names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

from sqlalchemy import select

from app.blobs import blobs
from app.clock import utc_now
from app.db.engines import primary_engine
from app.extensions import Model
from app.importing.jobs import AREA
from app.jobs.schedule import remove_rows
from app.models.import_job import ImportJob

# So long the outcome of an import can be looked at.
KEPT = timedelta(days=30)
# A job is written seconds after its file: an older file without one has none.
MINIMUM_AGE = timedelta(hours=24)
_BATCH = 500


def tidy_imports() -> int:
    """The job: remove imports that ended 30 days ago, and files without one; returns how many."""
    table = Model.metadata.tables[ImportJob.__tablename__]
    return remove_rows(table, table.c.finished_at < utc_now() - KEPT) + _remove_files()


def _remove_files() -> int:
    """Those of jobs that ended, or that were never written, with the request that was cut off."""
    before = utc_now() - MINIMUM_AGE
    old = (entry.key for entry in blobs.current.entries(AREA) if entry.modified_at < before)
    removed = 0
    for batch in _batches(old):
        unnamed = batch - _named(batch)
        for key in unnamed:
            blobs.current.delete(key)
        removed += len(unnamed)
    return removed


def _batches(keys: Iterator[str]) -> Iterator[set[str]]:
    while batch := set(islice(keys, _BATCH)):
        yield batch


def _named(keys: set[str]) -> set[str]:
    statement = select(ImportJob.file_key).where(ImportJob.file_key.in_(keys))
    with primary_engine().connect() as connection:
        return {key for key in connection.execute(statement).scalars() if key is not None}
