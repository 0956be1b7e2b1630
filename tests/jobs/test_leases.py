"""Rows of work that several workers share."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import Table, insert, select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db.engines import transaction
from app.extensions import Model, db
from app.jobs import leases

pytestmark = pytest.mark.both_databases

MAIL: Table = Model.metadata.tables["outgoing_mail"]
DUE = MAIL.c.status == "queued"


@pytest.fixture
def queued(app: Flask) -> int:
    """Thirty messages to send, the later ones due first."""
    now = utc_now()
    rows: list[dict[str, Any]] = [
        {"message_id": f"m{number}", "to": ["a@example.com"], "cc": [], "subject": "S",
         "text_body": "T", "attachments": [], "status": "queued", "attempts": 0,
         "created_at": now, "next_attempt_at": now - timedelta(seconds=number)}
        for number in range(30)
    ]  # fmt: skip
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(insert(MAIL), rows)
    return len(rows)


def test_rows_come_in_order_and_once(app: Flask, queued: int) -> None:
    with app.app_context():
        first = leases.take(MAIL, DUE, limit=3, order=(MAIL.c.next_attempt_at,))
        rest = leases.take(MAIL, DUE, limit=100, columns=("subject",))
        assert leases.take(MAIL, DUE, limit=100) == []
    assert [row["message_id"] for row in first] == ["m29", "m28", "m27"]
    assert [row["id"] for row in rest] == list(range(1, queued - 2))
    assert set(rest[0]) == {"id", "leased_until", "subject"}


def test_workers_at_the_same_time_take_different_rows(app: Flask, queued: int) -> None:
    taken: list[int] = []
    barrier = threading.Barrier(6)

    def work() -> None:
        barrier.wait()
        with app.app_context():
            while rows := leases.take(MAIL, DUE, limit=2):
                taken.extend(row["id"] for row in rows)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, queued + 1))


@pytest.mark.requirement("OPS-10")
def test_lease_of_a_worker_that_died_runs_out(app: Flask, queued: int) -> None:
    with app.app_context():
        (lost,) = leases.take(MAIL, DUE, limit=1)
        with time_machine.travel(utc_now() + timedelta(seconds=leases.LEASE_SECONDS + 1)):
            (found,) = leases.take(MAIL, DUE, limit=1)
    assert found["id"] == lost["id"]


def test_only_who_holds_the_lease_finishes(app: Flask, queued: int, session: Session) -> None:
    with app.app_context():
        (slow,) = leases.take(MAIL, DUE, limit=1)
        with time_machine.travel(utc_now() + timedelta(minutes=2)):
            (quick,) = leases.take(MAIL, DUE, limit=1)
        with transaction():
            assert not leases.finish(MAIL, slow, {"status": "failed"})
            assert leases.finish(MAIL, quick, {"status": "sent"})
    row = session.execute(select(MAIL.c.status, MAIL.c.leased_until).where(MAIL.c.id == 1)).one()
    assert tuple(row) == ("sent", None)


def test_looking_for_work_in_vain_takes_no_lock(app: Flask) -> None:
    with app.app_context(), transaction() as session:
        session.connection()  # on SQLite the only writer now
        assert leases.take(MAIL, DUE, limit=1) == []
