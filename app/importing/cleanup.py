"""What imports leave behind: jobs that ended long ago, and files that no job names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

from sqlalchemy import delete, select

from app.blobs import blobs
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.importing.jobs import AREA
from app.models.import_job import ImportJob

# So long the outcome of an import can be looked at.
KEPT = timedelta(days=30)
# A job is written seconds after its file: an older file without one has none.
MINIMUM_AGE = timedelta(hours=24)
_BATCH = 500


def tidy_imports() -> int:
    """The job: remove imports that ended 30 days ago, and files without one; returns how many."""
    return _remove_jobs() + _remove_files()


def _remove_jobs() -> int:
    ended = ImportJob.finished_at < utc_now() - KEPT
    some = select(ImportJob.id).where(ended).limit(_BATCH)
    removed = 0
    while True:
        with transaction():
            statement = delete(ImportJob).where(ImportJob.id.in_(some))
            count = records.connection().execute(statement).rowcount
        removed += count
        if count < _BATCH:
            return removed


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
