"""What ends a job while it runs: a right that its owner loses; not a store that is away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from flask import Flask

from app.auth.rights import callers_of
from app.auth.users import update_user
from app.bi.exports.jobs import run_exports
from app.bi.exports.mailing import send_due_reports
from app.blobs import blobs
from app.clock import utc_now
from app.container import bulk
from app.db import records
from app.db.engines import transaction
from app.errors import ServiceUnavailableError
from app.extensions import Model
from app.http.security import acting_as, system_caller
from app.importing import rows as import_rows, submission
from app.importing.jobs import run_imports
from app.jobs.leases import leave_if_stopping
from app.models.bulk_run import BulkItem
from app.models.event import OutgoingMail
from app.models.import_job import ImportJob
from app.models.report import ReportExport, SavedReport
from tests.bi.conftest import business
from tests.contract.conftest import Api, sign_in
from tests.factories import make_client, put_row, rows
from tests.importing.test_jobs import send

__all__ = ["business", "sign_in"]
# Begins the job of a person, and returns what tells how it ended.
Begin = Callable[[Api, int], Callable[[], Any]]


def begin_import(mode: str) -> Begin:
    def begin(api: Api, user_id: int) -> Callable[[], Any]:
        assert send(api, mode=mode).status_code == 202
        return lambda: rows(ImportJob)[0]["status"]

    return begin


def begin_bulk(api: Api, user_id: int) -> Callable[[], Any]:
    with transaction():
        user = callers_of(records.connection(), [user_id])[user_id]
    with acting_as(user), transaction():
        keys = [make_client() for _ in range(bulk.AT_ONCE + 2)]
    with acting_as(user), transaction():
        bulk.start_run("Client", keys, {"name": "tag", "value": "vip"})
    return lambda: rows(BulkItem)[-1]["status"]


def begin_export(api: Api, user_id: int) -> Callable[[], Any]:
    made = api.post("/api/bi/reports/1/export", {"format": "csv", "background": True})
    assert made.status_code == 202, made.text
    return lambda: rows(ReportExport)[0]["status"]


def begin_mail(api: Api, user_id: int) -> Callable[[], Any]:
    report = {"name": "Tickets", "odata": "/odata/Tickets?$select=subject"}
    key = api.post("/api/bi/reports", report).json["id"]
    schedule = {"every": "daily", "to": ["a@acme.example"], "format": "csv"}
    assert api.put(f"/api/bi/reports/{key}/schedule", schedule).status_code == 200
    with transaction():
        put_row(SavedReport, rows(SavedReport)[0]["id"], next_run_at=utc_now())
    return lambda: len(rows(OutgoingMail))


# The job: what begins it, its loop, where it looks, how it ends without the right, and with it.
JOBS: dict[str, tuple[Begin, Callable[[], int], str, Any, Any]] = {
    "import": (begin_import("skipBad"), run_imports, "importing.jobs", "Failed", "Completed"),
    "import, all or nothing": (
        begin_import("allOrNothing"), run_imports, "importing.jobs", "Failed", "Completed",
    ),
    "bulk change": (begin_bulk, bulk.run_bulk, "container.bulk", "failed", "done"),
    "export": (begin_export, run_exports, "bi.exports.jobs", "failed", "done"),
    "report by mail": (begin_mail, send_due_reports, "bi.exports.mailing", 0, 1),
}  # fmt: skip
# What happens to the account -> whether the job ends with it.
CHANGES: dict[str, tuple[dict[str, Any], bool]] = {
    "disabled": ({"status": "disabled"}, True),
    "another role": ({"roles": ["Viewer"]}, True),
    "one role more": ({"roles": ["Manager", "Sales"]}, False),
}


@pytest.mark.requirement("SEC-29")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_with_the_rights_of_its_owner(
    app: Flask, sign_in: Callable[..., Api], business: None, job: str, change: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    begin, work, module, ended, done = JOBS[job]
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 20)
    monkeypatch.setattr(import_rows, "CHUNK", 20)
    monkeypatch.setattr(bulk, "AT_ONCE", 5)
    monkeypatch.setattr(bulk, "PIECE", 5)
    values, is_lost = CHANGES[change]
    manager = sign_in("Manager")
    user_id = manager.get("/api/auth/me").json["id"]
    changes = iter([values])

    def change_once() -> None:
        leave_if_stopping()
        for wanted in changes:
            with transaction(), acting_as(system_caller("test")):
                update_user(user_id, wanted)

    with app.app_context():
        outcome = begin(manager, user_id)
        monkeypatch.setattr(f"app.{module}.leave_if_stopping", change_once)
        assert work() == 1
        assert list(changes) == []
        assert outcome() == (ended if is_lost else done)


@pytest.mark.parametrize(
    ("job", "table"),
    [("import", ImportJob), ("export", ReportExport), ("report by mail", SavedReport)],
)
def test_a_store_that_is_away_for_a_moment_ends_no_job(
    app: Flask, sign_in: Callable[..., Api], business: None, job: str, table: type[Model],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    begin, work, _, _, done = JOBS[job]
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 20)
    manager = sign_in("Manager")

    def refuse(store: Any, key: str, pieces: Iterable[bytes] = ()) -> Any:
        list(pieces)
        raise ServiceUnavailableError("The file store does not answer for a moment; try again.")

    with app.app_context():
        outcome = begin(manager, manager.get("/api/auth/me").json["id"])
        with monkeypatch.context() as away, pytest.raises(ServiceUnavailableError):
            for name in ("put", "stream"):
                away.setattr(type(blobs.current), name, refuse)
            work()
        with transaction():
            put_row(table, rows(table)[0]["id"], leased_until=None)
        assert work() == 1
        assert outcome() == done
