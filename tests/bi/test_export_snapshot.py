"""Exports while others write: every file shows one moment, on both databases."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.bi.exports import table
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.client import Client
from tests.contract.conftest import Api
from tests.factories import make_client

CLIENTS = "/odata/Clients?$select=id,name,revenue,currency&$orderby=id"
COUNT, EACH = 60, Decimal(100_000)


@pytest.fixture
def accounts(app: Flask) -> list[int]:
    """Clients whose revenues add up to a known sum."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        return [make_client(name=f"Client {n:02d}", revenue=EACH) for n in range(COUNT)]


@pytest.fixture
def writer(app: Flask, accounts: list[int]) -> Iterator[threading.Event]:
    """Moves amounts between the first and the last client until told to stop."""
    stop, moved = threading.Event(), threading.Event()
    clients: Any = Client.__table__

    def move() -> None:
        with app.app_context():
            for _ in range(5000):
                if stop.is_set():
                    return
                with transaction() as session:
                    for key, amount in ((accounts[0], -1), (accounts[-1], 1)):
                        changed = update(clients).where(clients.c.id == key)
                        session.connection().execute(
                            changed.values(revenue=clients.c.revenue + amount)
                        )
                moved.set()

    thread = threading.Thread(target=move)
    thread.start()
    assert moved.wait(30)
    yield moved
    stop.set()
    thread.join(30)


def test_a_file_shows_one_moment(
    admin: Api, accounts: list[int], writer: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "PAGE_ROWS", 5)
    saved = admin.post("/api/bi/reports", {"name": "All", "odata": CLIENTS}).json["id"]
    seen = set()
    for _ in range(8):
        writer.clear()
        answer = admin.post(f"/api/bi/reports/{saved}/export", {"format": "json"})
        assert answer.status_code == 200, answer.text
        found = json.loads(answer.data, parse_float=Decimal)["rows"]
        assert [row["id"] for row in found] == accounts
        assert sum(Decimal(str(row["revenue"])) for row in found) == COUNT * EACH
        seen.add(str(found[0]["revenue"]))
        assert writer.wait(30)  # the writer went on meanwhile
    assert len(seen) > 1
