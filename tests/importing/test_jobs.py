"""Large files are imported by the worker, in pieces that are done once."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from app.auth.users import update_user
from app.blobs import blobs
from app.clock import utc_now
from app.crm.clients import ClientService
from app.db import records
from app.db.engines import transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.importing import jobs, rows, submission
from app.importing.jobs import run_imports, tidy_imports
from app.jobs.leases import LostError
from app.models.client import Client
from app.models.event import AuditRecord, Event
from app.models.import_job import ImportJob
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]
ROWS = 45


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few dozen rows count as many: what is large is a constant."""
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(rows, "CHUNK", 20)


@pytest.fixture(autouse=True)
def no_files_of_others(app: Flask) -> None:
    """Take away what other tests left in the store, which they share."""
    with app.app_context():
        for entry in list(blobs.current.entries(jobs.AREA)):
            blobs.current.delete(entry.key)


def send(api: Api, bad: int | None = None, rows: int = ROWS, **fields: Any) -> Any:
    lines = [f"Client {number},c{number}@b.example" for number in range(rows)]
    if bad is not None:
        lines[bad] = "Client,nobody"
    content = "name,email\n" + "\n".join(lines)
    form = {"type": "client", **fields, "file": (io.BytesIO(content.encode()), "big.csv")}
    return api.client.post("/api/crm/import", data=form, headers=api.headers)


def progress(api: Api, job_id: int) -> Any:
    answer = api.get(f"/api/crm/import/{job_id}")
    assert answer.status_code == 200, answer.text
    return answer.json


def work(app: Flask) -> int:
    with app.app_context():
        return run_imports()


def count(session: Session) -> int:
    session.rollback()
    return session.scalar(select(func.count()).select_from(Client)) or 0


@pytest.mark.parametrize("mode", ["allOrNothing", "skipBad"])
def test_a_large_file_is_imported_by_the_worker(
    app: Flask, admin: Api, session: Session, mode: str
) -> None:
    answer = send(admin, mode=mode)
    assert answer.status_code == 202, answer.text
    job = answer.json
    assert (job["status"], job["fileName"], job["outcome"]) == ("Queued", "big.csv", None)
    assert answer.headers["Location"] == f"/api/v1/crm/import/{job['id']}"
    assert count(session) == 0
    assert (work(app), work(app)) == (1, 0)
    done = progress(admin, job["id"])
    assert (done["status"], done["done"], done["message"]) == ("Completed", ROWS, None)
    assert (done["outcome"]["created"], done["outcome"]["problemCount"]) == (ROWS, 0)
    assert done["finishedAt"] is not None
    assert count(session) == ROWS
    with app.app_context():
        assert list(blobs.current.entries(jobs.AREA)) == []


def test_what_the_worker_imports_is_told_as_done_by_a_job(
    app: Flask, admin: Api, session: Session
) -> None:
    send(admin)
    work(app)
    audit = select(AuditRecord.actor_id, AuditRecord.via).where(
        AuditRecord.action == "client.created"
    )
    (actor_id, via), *rest = session.execute(audit).all()
    assert (via, len(rest)) == ("job", ROWS - 1)
    events = session.scalars(select(Event).where(Event.type == "client.created")).all()
    actors = [event.payload["actor"] for event in events]
    assert actors == [{"id": actor_id, "via": "job"}] * ROWS


def test_all_or_nothing_fails_whole_and_says_where(
    app: Flask, admin: Api, session: Session
) -> None:
    job_id = send(admin, bad=40).json["id"]
    assert work(app) == 1
    done = progress(admin, job_id)
    assert (done["status"], count(session)) == ("Failed", 0)
    assert done["message"].startswith("Nothing was imported; problems: 1.")
    assert (done["outcome"]["created"], done["outcome"]["updated"]) == (0, 0)
    assert [(problem["row"], problem["column"]) for problem in done["outcome"]["problems"]] == [
        (42, "email")
    ]


def test_bad_rows_are_left_out_and_a_dry_run_keeps_nothing(
    app: Flask, admin: Api, session: Session
) -> None:
    tried = send(admin, bad=7, dryRun="true", mode="skipBad").json["id"]
    assert work(app) == 1
    assert progress(admin, tried)["outcome"]["skipped"] == 1
    assert count(session) == 0
    job_id = send(admin, bad=7, mode="skipBad").json["id"]
    assert work(app) == 1
    assert progress(admin, job_id)["outcome"]["created"] == ROWS - 1
    assert count(session) == ROWS - 1


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_others_write_between_two_chunks(
    app: Flask, admin: Api, monkeypatch: pytest.MonkeyPatch, dry_run: str
) -> None:
    answers: list[Any] = []

    def take_the_turn(seconds: float) -> None:
        asked = Thread(target=lambda: answers.append(admin.post("/odata/Tasks", {"title": "Call"})))
        asked.start()
        asked.join()

    # Every row takes longer than a chunk may.
    clock = SimpleNamespace(monotonic=itertools.count(step=60).__next__, sleep=take_the_turn)
    monkeypatch.setattr(rows, "time", clock)
    job_id = send(admin, rows=25, mode="skipBad", dryRun=dry_run).json["id"]
    assert work(app) == 1
    assert progress(admin, job_id)["outcome"]["created"] == 25
    assert [answer.status_code for answer in answers] == [201] * 25


class Killed(BaseException):
    """What ends a worker in the middle."""


@pytest.mark.parametrize("mode", ["allOrNothing", "skipBad"])
def test_what_a_dead_worker_left_is_finished_by_another_once(
    app: Flask, admin: Api, session: Session, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = send(admin, mode=mode).json["id"]
    noted: list[int] = []
    keep = jobs.RunningImport.write_row

    def die_later(self: Any, *lease: Any, **values: Any) -> None:
        keep(self, *lease, **values)
        noted.append(values.get("done", 0))
        if len(noted) == 4:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(jobs.RunningImport, "write_row", die_later)
        with pytest.raises(Killed):
            work(app)
    assert count(session) < ROWS
    assert work(app) == 0  # the lease of the dead one still runs
    with app.app_context(), transaction():
        past = utc_now() - timedelta(seconds=1)
        db.session.execute(update(ImportJob).values(leased_until=past))
    assert work(app) == 1
    assert progress(admin, job_id)["status"] == "Completed"
    assert progress(admin, job_id)["outcome"]["created"] == ROWS
    assert count(session) == ROWS


def lease(session: Session) -> datetime:
    session.rollback()
    until = session.scalars(select(ImportJob.leased_until)).one()
    assert until is not None
    return until


def test_a_dead_worker_holds_all_or_nothing_for_a_minute(
    app: Flask, admin: Api, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = send(admin).json["id"]
    renew = jobs.RunningImport.renew
    held: list[datetime] = []

    def die_later(self: Any, rows: int) -> None:
        renew(self, rows)
        held.append(lease(session))
        if len(held) == 3:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(rows, "CHUNK", 10)
        patched.setattr(jobs, "RENEWED_AFTER", timedelta(0))
        patched.setattr(jobs.RunningImport, "renew", die_later)
        with pytest.raises(Killed):
            work(app)
    assert held[-1] <= utc_now() + timedelta(minutes=1)
    if session.connection().dialect.name == "postgresql":  # where others may write meanwhile
        assert held == sorted(set(held))
    assert (work(app), count(session)) == (0, 0)
    with time_machine.travel(utc_now() + timedelta(seconds=61), tick=True):
        assert work(app) == 1
    done = progress(admin, job_id)
    assert (done["status"], done["outcome"]["created"], count(session)) == ("Completed", ROWS, ROWS)


@pytest.mark.only_on("postgresql")
def test_who_lost_the_lease_of_all_or_nothing_writes_nothing(
    app: Flask, admin: Api, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(admin)
    begin = jobs.RunningImport.begin

    def lose_later(self: Any, status: str, *lease: Any, **values: Any) -> None:
        begin(self, status, *lease, **values)
        if status == "Writing":
            self.job["leased_until"] -= timedelta(seconds=30)

    monkeypatch.setattr(jobs.RunningImport, "begin", lose_later)
    with pytest.raises(LostError):
        work(app)
    assert count(session) == 0


def test_an_import_is_its_users_and_ends_with_the_account(
    app: Flask, admin: Api, sign_in: Callable[..., Api], session: Session
) -> None:
    sales = sign_in("Sales")
    job_id = send(sales).json["id"]
    assert admin.get(f"/api/crm/import/{job_id}").status_code == 404
    assert sales.get("/api/crm/import/999").status_code == 404
    user_id = sales.get("/api/auth/me").json["id"]
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        update_user(user_id, {"status": "disabled"})
    assert work(app) == 1
    status, message = session.execute(select(ImportJob.status, ImportJob.message)).one()
    assert (status, count(session)) == ("Failed", 0)
    assert "may not sign in" in message


def test_what_imports_leave_behind_goes(
    admin: Api, app: Flask, session: Session, unit_of_work: Callable[..., Any]
) -> None:
    ended, waiting = (send(admin).json["id"] for _ in range(2))
    with unit_of_work() as writing:  # the first ended, and its worker died before the file went
        writing.execute(
            update(ImportJob)
            .where(ImportJob.id == ended)
            .values(status="Completed", finished_at=utc_now(), file_key=None)
        )
    with app.app_context():
        assert tidy_imports() == 0
    assert files(app) == 2
    with time_machine.travel(utc_now() + timedelta(hours=25), tick=True), app.app_context():
        assert tidy_imports() == 1
        assert tidy_imports() == 0
    assert files(app) == 1
    with time_machine.travel(utc_now() + timedelta(days=31), tick=True), app.app_context():
        assert tidy_imports() == 1
    session.rollback()
    assert session.scalars(select(ImportJob.id)).all() == [waiting]
    assert files(app) == 1
    work(app)
    assert files(app) == 0


def files(app: Flask) -> int:
    with app.app_context():
        return sum(1 for _ in blobs.current.entries(jobs.AREA))


# --- errors that nobody expected


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service of clients has a mistake, which shows with one name alone."""
    prepare = ClientService.prepare

    def prepare_or_fail(self: Any, change: Any) -> None:
        prepare(self, change)
        if change.values.get("name") == "Client 7":
            raise KeyError("a mistake of ours, with a secret in it")
        if change.values.get("name") == "Client 9":
            records.connection().execute(text("SELECT nothing FROM nowhere"))

    monkeypatch.setattr(ClientService, "prepare", prepare_or_fail)


def test_a_row_that_fails_unexpectedly_is_left_out_alone(
    admin: Api, session: Session, trap: None, capsys: pytest.CaptureFixture[str]
) -> None:
    admin.headers["X-Request-ID"] = "import-1"
    outcome = send(admin, rows=20, mode="skipBad").json
    assert (outcome["created"], outcome["skipped"], count(session)) == (18, 2, 18)
    message = "could not be imported: an unexpected error, which is in the log of request import-1"
    problems = [(problem["row"], problem["message"]) for problem in outcome["problems"]]
    assert problems == [(9, message), (11, message)]
    logged = "".join(capsys.readouterr())
    assert "row of an import failed" in logged and "import-1" in logged
    whole = send(admin, rows=20)
    assert (whole.status_code, count(session)) == (400, 18)
    assert whole.json["error"]["details"][0] == {"field": "row 9", "message": message}


def test_in_the_worker_too(app: Flask, admin: Api, session: Session, trap: None) -> None:
    job_id = send(admin, mode="skipBad").json["id"]
    assert (work(app), work(app)) == (1, 0)
    done = progress(admin, job_id)
    assert (done["status"], done["outcome"]["skipped"]) == ("Completed", 2)
    assert done["outcome"]["problems"][0]["message"].endswith("which is in the log")
    assert count(session) == ROWS - 2


def test_no_row_is_to_blame_when_the_database_is_away(
    app: Flask, admin: Api, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def be_away(*given: Any, **named: Any) -> Any:
        raise PoolTimeoutError("no connection is free")

    job_id = send(admin, mode="skipBad").json["id"]
    with monkeypatch.context() as patched:
        patched.setattr(ClientService, "create", be_away)
        assert send(admin, rows=20, mode="skipBad").status_code == 503
        with pytest.raises(PoolTimeoutError):
            work(app)
    waiting = progress(admin, job_id)
    assert (waiting["status"], waiting["outcome"], count(session)) == ("Writing", None, 0)


def test_an_import_that_fails_unexpectedly_is_not_begun_for_ever(
    app: Flask, admin: Api, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = send(admin).json["id"]

    def fail(*given: Any) -> Any:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(jobs, "open_table", fail)
    assert (work(app), work(app)) == (1, 0)
    done = progress(admin, job_id)
    assert (done["status"], done["message"]) == (
        "Failed", "An unexpected error ended the import; it is in the log.",
    )  # fmt: skip
    assert files(app) == 0
