"""A worker that dies anywhere in a job: the next one ends it, and nothing is done twice."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from app.bi.exports.jobs import run_exports
from app.clock import utc_now
from app.container import bulk
from app.db.engines import read_engine, transaction
from app.extensions import Model, db
from app.http.security import acting_as
from app.importing import rows, submission
from app.importing.jobs import run_imports
from app.models.bulk_run import BulkRun
from app.models.client import Client
from app.models.event import Event
from app.models.import_job import ImportJob
from app.models.report import ReportExport
from tests.contract.conftest import Api, sign_in
from tests.db.refusing import Refusals, cut
from tests.factories import make_client, make_user

__all__ = ["sign_in"]
# So many records has a job, and at so many of its calls of the database its worker dies.
RECORDS, DEATHS = 12, 8
_numbers = count()


@dataclass
class Bed:
    """An application whose database can be cut off from it, and an administrator."""

    app: Flask
    api: Api
    refusals: Refusals


@pytest.fixture
def bed(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bed]:
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 5)
    monkeypatch.setattr(rows, "CHUNK", 5)
    monkeypatch.setattr(bulk, "AT_ONCE", 5)
    monkeypatch.setattr(bulk, "PIECE", 5)
    app, refusals = make_app(), Refusals()
    api = sign_in("Admin", app)
    with app.app_context():
        for engine in db.engines.values():
            refusals.attach(engine)
    yield Bed(app, api, refusals)
    refusals.disarm()


def begin_import(bed: Bed, mode: str) -> Callable[[], None]:
    number = next(_numbers)
    lines = [f"Client {number}-{row},c{number}-{row}@b.example" for row in range(RECORDS)]
    file = io.BytesIO(("name,email\n" + "\n".join(lines)).encode())
    form = {"type": "client", "mode": mode, "file": (file, "many.csv")}
    made = bed.api.client.post("/api/crm/import", data=form, headers=bed.api.headers)
    assert made.status_code == 202, made.text

    def check() -> None:
        told = bed.api.get(f"/api/crm/import/{made.json['id']}").json
        assert (told["status"], told["done"]) == ("Completed", RECORDS), told
        assert (told["outcome"]["created"], told["outcome"]["problemCount"]) == (RECORDS, 0)
        named = Client.name.startswith(f"Client {number}-")
        keys = select(Client.id).where(named)
        assert number_of(select(func.count()).where(named)) == RECORDS
        created = (Event.type == "client.created") & Event.entity_id.in_(keys)
        assert number_of(select(func.count()).where(created)) == RECORDS

    return check


def begin_bulk(bed: Bed) -> Callable[[], None]:
    with transaction():
        user = make_user("Admin")
    with acting_as(user), transaction():
        keys = [make_client() for _ in range(RECORDS)]
    with acting_as(user), transaction():
        run_id = bulk.start_run("Client", keys, {"name": "tag", "value": "vip"})

    def check() -> None:
        with acting_as(user), transaction():
            assert bulk.get_run(run_id)["counts"] == {"done": RECORDS}
        changed = (Event.type == "client.updated") & Event.entity_id.in_(keys)
        assert number_of(select(func.count()).where(changed)) == RECORDS

    return check


def begin_export(bed: Bed) -> Callable[[], None]:
    made = bed.api.post("/api/bi/reports/1/export", {"format": "csv", "background": True})
    assert made.status_code == 202, made.text

    def check() -> None:
        told = bed.api.get(made.json["url"])
        assert told.json["status"] == "done", told.text

    return check


JOBS: dict[str, tuple[Callable[[Bed], Callable[[], None]], Callable[[], int], type[Model]]] = {
    "import": (lambda bed: begin_import(bed, "skipBad"), run_imports, ImportJob),
    "import, all or nothing": (
        lambda bed: begin_import(bed, "allOrNothing"), run_imports, ImportJob,
    ),
    "bulk change": (begin_bulk, bulk.run_bulk, BulkRun),
    "export": (begin_export, run_exports, ReportExport),
}  # fmt: skip


@pytest.mark.costly(0)
@pytest.mark.requirement("OPS-10")
@pytest.mark.parametrize("job", JOBS)
def test_a_job_whose_worker_dies_is_ended_by_the_next(bed: Bed, job: str) -> None:
    begin, work, table = JOBS[job]
    with bed.app.app_context():
        check = begin(bed)
        bed.refusals.arm(0, cut)
        assert work() == 1
        calls = bed.refusals.calls
        check()
        assert calls > DEATHS
        for death in range(DEATHS):
            number = 1 + death * (calls - 1) // DEATHS
            bed.refusals.disarm()
            check = begin(bed)
            bed.refusals.arm(number, cut, lasts=True)
            with suppress(Exception):
                work()
            bed.refusals.disarm()
            assert bed.refusals.refused is not None
            with transaction() as session:
                leased = update(table).where(table.leased_until.is_not(None))  # type: ignore[attr-defined]
                session.execute(leased.values(leased_until=utc_now()))
            while work():
                continue
            check()


def number_of(statement: Any) -> int:
    with read_engine().connect() as connection:
        return int(connection.execute(statement).scalar_one())
