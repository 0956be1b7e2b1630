"""Whatever the driver refuses, and wherever in a request: 503, nothing half done, clean afterwards.

Each call of the driver that a request makes (a statement, the commit, the rollback) is refused in
turn: a full disk, an I/O error, a lock that is held for too long, the time limit, a connection
that is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import QueuePool, func, select

from app.auth.users import create_user
from app.db.engines import read_engine, transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.models.client import Client
from app.models.event import AuditRecord, Event
from tests.db.refusing import FAULTS, Fault, Refusals

PASSWORD = "correct horse battery staple"
CLIENTS, COUNTED = Client.__table__, (Client.__table__, Event.__table__, AuditRecord.__table__)
MOST_CALLS = 80


@dataclass
class Bed:
    """An application whose drivers can refuse, and a caller."""

    app: Flask
    refusals: Refusals
    headers: dict[str, str]
    key: int = 0

    def send(self, method: str, path: str, body: Any = None) -> Any:
        client = self.app.test_client()
        more = {} if body is None else {"json": body}
        return client.open(path, method=method, headers=self.headers, **more)

    def rows(self) -> list[int]:
        """How many records, events and lines of audit there are."""
        with self.app.app_context(), read_engine().connect() as connection:
            counts = (select(func.count()).select_from(table) for table in COUNTED)
            return [connection.execute(statement).scalar_one() for statement in counts]

    def checked_out(self) -> list[int]:
        """Connections that nobody has given back, of each engine."""
        with self.app.app_context():
            pools = [engine.pool for engine in db.engines.values()]
        return [pool.checkedout() for pool in pools if isinstance(pool, QueuePool)]


@pytest.fixture
def bed(make_app: Callable[..., Flask]) -> Iterator[Bed]:
    app = make_app()
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username="admin", email="admin@example.com", display_name="Admin",
            password=PASSWORD, roles=["Admin"],
        )  # fmt: skip
    refusals = Refusals()
    with app.app_context():
        for engine in db.engines.values():
            refusals.attach(engine)
    body = {"username": "admin", "password": PASSWORD}
    answer = app.test_client().post("/api/auth/login", json=body)
    new_bed = Bed(app, refusals, {"Authorization": f"Bearer {answer.json['accessToken']}"})
    yield new_bed
    refusals.disarm()


def create(bed: Bed) -> Any:
    return bed.send("POST", "/odata/Clients", {"name": "Blue", "billingAddress": {"city": "Ulm"}})


def change(bed: Bed) -> Any:
    return bed.send("PATCH", f"/odata/Clients({bed.key})", {"notes": f"n{next(_numbers)}"})


def refuse(bed: Bed) -> Any:
    """A request that is refused when it has written: it is undone."""
    return bed.send("POST", "/odata/Clients", {"name": "Red", "externalId": "taken"})


def batch(bed: Bed) -> Any:
    parts = [
        {"id": str(number), "method": "POST", "url": "/odata/Contacts", "atomicityGroup": "a",
         "body": {"lastName": f"C{number}"}}
        for number in range(2)
    ]  # fmt: skip
    return bed.send("POST", "/odata/$batch", {"requests": parts})


def log_in(bed: Bed) -> Any:
    body = {"username": "admin", "password": PASSWORD}
    return bed.app.test_client().post("/api/auth/login", json=body)


def ask(bed: Bed) -> Any:
    return bed.send("POST", "/api/v1/bi/query", {"question": "how many clients are there?"})


def read(bed: Bed) -> Any:
    return bed.send("GET", "/odata/Clients?$expand=Contacts&$count=true")


_numbers = count()
REQUESTS = {
    "create": create, "change": change, "refused": refuse, "batch": batch, "sign-in": log_in,
    "question": ask, "read": read,
}  # fmt: skip
# At each of their steps each fault; at the steps of the others one after the other, to save time.
EVERY_FAULT = ("create", "batch")


def outcome(answer: Any) -> int:
    """The status of an answer; in a batch that of the part that failed, else of the first."""
    parts = answer.json.get("responses") if answer.is_json else None
    statuses = [int(part["status"]) for part in parts or ()]
    if not statuses:
        return int(answer.status_code)
    return next((status for status in statuses if status >= 400 and status != 424), statuses[0])


@dataclass
class Step:
    """One call of a request that a fault refuses."""

    bed: Bed
    send: Callable[[Bed], Any]
    usual: int
    lasts: bool

    def problems(self, number: int, name: str, fault: Fault) -> list[Any] | None:
        """What is wrong with the answer and with what is left; None where there is no such call."""
        bed = self.bed
        before = bed.rows()
        bed.refusals.arm(number, fault, lasts=self.lasts)
        answer = self.send(bed)
        bed.refusals.disarm()
        asked = bed.refusals.refused
        status = outcome(answer)
        if asked is None:
            assert status == self.usual
            return None
        differences: list[Any] = []
        is_unchanged = bed.rows() == before
        # What nobody waits for may fail unseen; a read that takes too long is to be narrowed.
        expected = (503, 400) if name == "time limit" else (503,)
        if status != self.usual and not (status in expected and is_unchanged):
            differences.append((status, answer.text[:200], is_unchanged))
        if bed.checked_out() != [0, 0]:
            differences.append(("kept", bed.checked_out()))
        if (again := outcome(self.send(bed))) != self.usual:
            differences.append(("afterwards", again))
        return [(name, number, asked[:80], *problem) for problem in differences]


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_refusal_at_every_step_is_a_503_and_leaves_a_clean_connection(
    bed: Bed, request_: str, lasts: bool
) -> None:
    with bed.app.app_context():
        faults = list(FAULTS[db.engine.dialect.name].items())
    taken = bed.send("POST", "/odata/Clients", {"name": "Green", "externalId": "taken"})
    assert taken.status_code == 201
    bed.key = taken.json["id"]
    send = REQUESTS[request_]
    step = Step(bed, send, outcome(send(bed)), lasts)
    wrong: list[Any] = []
    for number in range(1, MOST_CALLS):
        is_whole = request_ in EVERY_FAULT and not lasts
        chosen = faults if is_whole else [faults[number % len(faults)]]
        for name, fault in chosen:
            if (problems := step.problems(number, name, fault)) is None:
                assert not wrong, "\n".join(map(str, wrong))
                return
            wrong += problems
    pytest.fail("there is no end of calls")
