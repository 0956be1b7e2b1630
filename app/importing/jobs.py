"""Imports in the worker: of files too large for one request, with their progress.

A chunk of rows and the note that it is done are one transaction: a worker that dies loses nothing
and does nothing twice. All or nothing is checked chunk by chunk and then written at once. The lease
is short, and renewed while the work goes on: what a dead worker left is soon taken up by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from app.auth.rights import acting_for
from app.blobs import READ_BYTES, blobs, is_passing, new_key
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.db.outages import is_away
from app.errors import ApiError, NotFoundError
from app.extensions import Model, db
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.importing.columns import ALL_OR_NOTHING, SKIP_BAD, Options, Plan
from app.importing.limits import JOB
from app.importing.named_columns import as_remembered
from app.importing.rows import Import, Outcome, Problem, look_through
from app.importing.schemas import CountsSchema
from app.importing.tables import open_table
from app.jobs.leases import LostError, StoppingError, keep, leave_if_stopping, take
from app.jobs.schedule import remove_rows
from app.jobs.scratch import scratch_folder
from app.models.import_job import ImportJob
from app.odata.names import camel, snake

# So long the outcome of an import can be looked at.
KEPT = timedelta(days=30)
# A job is written seconds after its file: an older file without one has none.
MINIMUM_AGE = timedelta(hours=24)
AREA = "imports"
UNFINISHED = ("Queued", "Checking", "Writing")
# A file is opened in one piece, which takes longer than a chunk of its rows.
OPENING_LEASE, LEASE = 120, 60
RENEWED_AFTER = timedelta(seconds=15)
_log = structlog.get_logger(__name__)


def queue_import(path: Path, name: str, options: Options) -> int:
    """Keep a file and queue its import, in the running transaction; the key of the job."""
    key = new_key(AREA)
    with path.open("rb") as file:
        blobs.current.put(key, iter(partial(file.read, READ_BYTES), b""))
    return records.insert(
        ImportJob,
        {
            "created_at": utc_now(), "user_id": current_caller().user_id, "type": options.type,
            "file_name": name or None, "file_key": key, "options": _options_json(options),
        },
    )  # fmt: skip


def read_job(job_id: int) -> ImportJob:
    """A job of the caller.

    Raises: NotFoundError, it is not there or is somebody else's.
    """
    with primary_engine().connect() as connection:
        job = records.find(select(ImportJob).where(ImportJob.id == job_id), of=connection)
    if job is None or job.user_id != current_caller().user_id:
        raise NotFoundError(f"There is no import {job_id}.")
    return job


def run_imports() -> int:
    """The loop: run one import that waits; returns how many."""
    due = ImportJob.status.in_(UNFINISHED)
    for job in take(ImportJob.__table__, due, limit=1, seconds=OPENING_LEASE):
        RunningImport(dict(job)).run()
        return 1
    return 0


@dataclass
class RunningImport:
    """An import at work.

    ``job`` is its row as this worker knows it; ``look`` tells whether who left it still may do it.
    """

    job: dict[str, Any]
    look: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Go on where the row says that it was.

        Raises: LostError, StoppingError; OSError, a disk is full.
        """
        job = self.job
        file_key: str = job["file_key"]
        try:
            with acting_for(job["user_id"]) as self.look, _file(file_key) as path:
                self._import(path, _options(job))
        except StoppingError:  # another worker goes on at once, not when the lease has run out
            with transaction():
                self.write_row()
            raise
        except ApiError as error:
            if is_passing(error):
                raise
            self._fail(error)
        except (LostError, OSError):  # others have it; or a disk is full, which passes
            raise
        except Exception as error:
            if isinstance(error, SQLAlchemyError) and is_away(error):
                raise
            # Begun anew, it would fail again, for ever.
            _log.exception("import failed", job=job["id"])
            self._fail(ApiError("An unexpected error ended the import; it is in the log."))
        blobs.current.delete(file_key)

    def _fail(self, error: ApiError) -> None:
        details = [Problem(0, "", detail.field, detail.message) for detail in error.details]
        outcome = self.job["outcome"]
        if details and not (outcome and outcome["problems"]):
            outcome = describe_outcome(Outcome(problems=details, problem_count=len(details)))
        if outcome and self.job["options"]["mode"] == ALL_OR_NOTHING:
            outcome = {**outcome, "created": 0, "updated": 0}
        with transaction():
            self.write_row(status="Failed", message=error.message[:500], outcome=outcome,
                       finished_at=utc_now(), file_key=None)  # fmt: skip

    def _import(self, path: Path, options: Options) -> None:
        if options.remembered:  # its headings were too much for the request
            with open_table(path, JOB, options.encoding) as table:
                options = as_remembered(options, table.headings)
            with transaction():
                self.write_row(OPENING_LEASE, options=_options_json(options))
        plan = self._plan(path, options)
        if options.dry_run or options.mode == SKIP_BAD:
            with open_table(path, JOB, options.encoding) as table:
                running = Import(table, options, plan)
                if self.job["outcome"] and not options.dry_run:  # which keeps nothing
                    running.resume(read_outcome(self.job["outcome"]))
                self.begin("Checking" if options.dry_run else "Writing")
                outcome = running.in_chunks(self.pause, self._note)
            with transaction():
                self._complete(outcome)
            return
        with open_table(path, JOB, options.encoding) as table:
            self.begin("Checking")
            checking = Import(table, replace(options, dry_run=True), plan)
            outcome = checking.in_chunks(self.pause, self._note)
        if outcome.problem_count:
            raise outcome.refuse()
        self.begin("Writing", OPENING_LEASE, done=0)
        with open_table(path, JOB, options.encoding) as table:
            self.begin("Writing")
            Import(table, options, plan).in_one_transaction(self.renew, self._complete)

    def _plan(self, path: Path, options: Options) -> Plan:
        """How the file is written, by a look through all of it, which keeps the lease."""
        status = self.job["status"]

        def go_on(rows: int) -> None:
            self.pause(rows)
            self.begin(status, OPENING_LEASE)

        return look_through(path, options, go_on)

    def begin(self, status: str, lease: int = LEASE, **values: Any) -> None:
        """Enter a status, in a transaction of its own."""
        with transaction():
            self.write_row(lease, status=status, **values)

    def _note(self, outcome: Outcome) -> None:
        self.write_row(LEASE, done=outcome.rows, outcome=describe_outcome(outcome))

    def pause(self, rows: int) -> None:
        """Between two chunks; progress is in the row.

        Raises: StoppingError; ForbiddenError, TokenRevokedError.
        """
        leave_if_stopping()
        self.look()

    def renew(self, rows: int) -> None:
        """Between two chunks of one long transaction: others see that it goes on.

        On SQLite they cannot take it over meanwhile, and nobody else could write that it does.
        Raises: LostError; as ``pause``.
        """
        self.pause(rows)
        if not records.is_served():
            return
        left = self.job["leased_until"] - utc_now()
        if timedelta(seconds=LEASE) - left < RENEWED_AFTER:
            return
        with db.engine.begin() as connection:
            keep(ImportJob.__table__, self.job, {}, seconds=LEASE, connection=connection)

    def _complete(self, outcome: Outcome) -> None:
        self.write_row(status="Completed", done=outcome.rows, outcome=describe_outcome(outcome),
                   finished_at=utc_now(), file_key=None)  # fmt: skip

    def write_row(self, lease: int | None = None, **values: Any) -> None:
        """Write into the row while the lease holds; it goes on for ``lease``, or ends.

        Raises: LostError.
        """
        keep(ImportJob.__table__, self.job, values, seconds=lease)


def describe_outcome(outcome: Outcome) -> dict[str, Any]:
    return answer_body(
        CountsSchema, outcome, problems=[asdict(problem) for problem in outcome.problems]
    )


def read_outcome(stored: Mapping[str, Any]) -> Outcome:
    """The outcome that ``describe_outcome`` made."""
    values = {snake(name): value for name, value in stored.items()}
    return Outcome(**{**values, "problems": [Problem(**each) for each in stored["problems"]]})


def _options_json(options: Options) -> dict[str, Any]:
    """How to import, as JSON; the type has a column of its own."""
    return {camel(name): value for name, value in asdict(options).items() if name != "type"}


def _options(job: Mapping[str, Any]) -> Options:
    values = {snake(name): value for name, value in job["options"].items()}
    return Options(type=job["type"], **values)


@contextmanager
def _file(key: str) -> Iterator[Path]:
    """The file of a job on the disk of this host."""
    with scratch_folder("import-") as folder:
        path = Path(folder) / "table"
        with path.open("wb") as file:
            for chunk in blobs.current.stream(key):
                file.write(chunk)
        yield path


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
