"""The journal: in the order of commits, and without a gap that a reader could fall into."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db import records
from app.db.engines import transaction
from app.models.event import Event
from app.webhooks.fan_out import fan_out
from tests.contract.conftest import Api
from tests.webhooks.conftest import make_client


def number_all(app: Flask) -> None:
    with app.app_context():
        while fan_out():
            pass


def read(api: Api, **query: Any) -> dict[str, Any]:
    options = "&".join(f"{name}={value}" for name, value in query.items())
    answer = api.get(f"/api/events?{options}")
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json
    return page


def test_events_are_read_in_pages_from_a_cursor_on(app: Flask, admin: Api) -> None:
    clients = [make_client(admin, name=f"Client {number}") for number in range(5)]
    number_all(app)
    first = read(admin, types="client.created", limit=2)
    assert [item["entityId"] for item in first["items"]] == clients[:2]
    assert first["hasMore"] is True
    rest = read(admin, types="client.created", after=first["next"])
    assert [item["entityId"] for item in rest["items"]] == clients[2:]
    assert (rest["hasMore"], rest["gap"]) == (False, False)
    end = read(admin, types="client.*", after=rest["next"])
    assert (end["items"], end["next"]) == ([], rest["next"])
    make_client(admin)
    number_all(app)
    assert len(read(admin, after=end["next"])["items"]) == 1


def test_event_shows_what_webhooks_deliver(app: Flask, admin: Api) -> None:
    client = make_client(admin, name="Čeladná", revenue=1234567.89)
    admin.patch(f"/odata/Clients({client})", {"name": "Other"})
    number_all(app)
    created, updated = read(admin, types="client.created,client.updated")["items"]
    assert created["id"].startswith("evt_")
    assert created["data"]["object"]["name"] == "Čeladná"
    assert '"revenue":1234567.89' in admin.get("/api/events?types=client.created").text
    assert updated["data"]["previous"]["name"] == "Čeladná"
    assert (created["data"]["sequence"], updated["data"]["sequence"]) == (1, 2)
    assert created["requestId"] and created["timestamp"].endswith("Z")
    assert [item["id"] for item in read(admin, after=created["id"])["items"]] == [updated["id"]]


@pytest.mark.parametrize(
    "query",
    ["after=x", "after=evt_unknown", "after=-1", "after=" + "9" * 19, "types=client.maid",
     "types=x.*", "limit=0", "limit=1001", "limit=x", "before=1", "after=1.5", "after=٣"],
)  # fmt: skip
@pytest.mark.only_on("sqlite")
def test_questions_that_are_none_are_refused(admin: Api, query: str) -> None:
    answer = admin.get(f"/api/events?{query}")
    assert answer.status_code == 400
    field = answer.json["error"]["details"][0]["field"]
    assert field.partition("[")[0] == query.partition("=")[0]


@pytest.mark.only_on("sqlite")
def test_managers_do_not_see_the_events_of_the_administration(
    app: Flask, admin: Api, sign_in: Callable[..., Api]
) -> None:
    manager = sign_in("Manager")
    make_client(admin)
    number_all(app)
    kinds = {item["type"].partition(".")[0] for item in read(manager)["items"]}
    assert kinds == {"client"}
    assert {"client", "user"} <= {item["type"].partition(".")[0] for item in read(admin)["items"]}


@pytest.mark.only_on("sqlite")
def test_reader_who_was_away_too_long_is_told(app: Flask, admin: Api) -> None:
    make_client(admin)
    number_all(app)
    old = read(admin, limit=1)["next"]
    for _ in range(3):
        make_client(admin)
    number_all(app)
    with app.app_context(), transaction() as session:
        session.connection().execute(delete(Event).where(Event.position <= int(old) + 1))
    assert read(admin, after=old)["gap"] is True
    assert read(admin)["gap"] is False


def add_event(app: Flask, name: str, wait: Callable[[], object]) -> None:
    """An event whose transaction waits between the row and its commit."""
    with app.app_context(), transaction():
        records.insert(
            Event,
            {"key": f"evt_{name}", "created_at": utc_now(), "type": "client.created",
             "entity": "Client", "entity_id": 1, "sequence": 1, "payload": {"object": {}}},
        )  # fmt: skip
        wait()


@pytest.mark.only_on("postgresql")
def test_event_that_commits_late_comes_later_and_is_not_lost(
    app: Flask, admin: Api, session: Session
) -> None:
    number_all(app)
    begin = read(admin)["next"]
    inserted, committed = threading.Event(), threading.Event()
    late = threading.Thread(
        target=add_event,
        args=(app, "late", lambda: (inserted.set(), committed.wait(10))),
    )
    late.start()
    assert inserted.wait(10)
    add_event(app, "quick", lambda: None)
    number_all(app)
    page = read(admin, after=begin)
    assert [item["id"] for item in page["items"]] == ["evt_quick"]
    committed.set()
    late.join()
    number_all(app)
    assert [item["id"] for item in read(admin, after=page["next"])["items"]] == ["evt_late"]
    late_id, quick_id = (
        session.scalars(select(Event.id).where(Event.key == f"evt_{name}")).one()
        for name in ("late", "quick")
    )
    assert late_id < quick_id  # the smaller id came later


def test_reader_beside_writers_and_several_workers_misses_nothing(app: Flask, admin: Api) -> None:
    written: list[str] = []
    done = threading.Event()

    def write(thread: int) -> None:
        for number in range(25):
            name = f"{thread}_{number}"
            add_event(app, name, lambda: None)
            written.append(f"evt_{name}")

    def number() -> None:
        while not done.is_set():
            with app.app_context():
                fan_out()

    writers = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    workers = [threading.Thread(target=number) for _ in range(2)]
    number_all(app)
    cursor, seen = read(admin)["next"], []
    for thread in [*writers, *workers]:
        thread.start()
    while any(thread.is_alive() for thread in writers):
        page = read(admin, after=cursor, limit=7)
        cursor = page["next"]
        seen += [item["id"] for item in page["items"]]
    done.set()
    for thread in workers:
        thread.join()
    number_all(app)
    while (page := read(admin, after=cursor))["items"]:
        cursor = page["next"]
        seen += [item["id"] for item in page["items"]]
    assert sorted(seen) == sorted(written)
