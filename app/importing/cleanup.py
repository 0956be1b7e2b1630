"""What imports leave behind: jobs that ended long ago, and files that no job names."""

from __future__ import annotations

from datetime import timedelta

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


def tidy_imports() -> int:
    """The job: remove imports that ended 30 days ago, and files without one; returns how many."""
    table = Model.metadata.tables[ImportJob.__tablename__]
    return remove_rows(table, table.c.finished_at < utc_now() - KEPT) + _remove_files()


def _remove_files() -> int:
    """Those of jobs that ended, or that were never written, with the request that was cut off."""
    removed = 0
    for keys in blobs.current.keys_before(AREA, utc_now() - MINIMUM_AGE):
        unnamed = keys - _named(keys)
        for key in unnamed:
            blobs.current.delete(key)
        removed += len(unnamed)
    return removed


def _named(keys: set[str]) -> set[str]:
    statement = select(ImportJob.file_key).where(ImportJob.file_key.in_(keys))
    with primary_engine().connect() as connection:
        return {key for key in connection.execute(statement).scalars() if key is not None}
