"""What a scene finds of the writes of its callers, while some that were cut off are still done."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
from sqlalchemy import delete, event

from app.auth.api_keys import create_api_key
from app.db.engines import primary_engine, transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.jobs.leases import LoopThreads
from app.jobs.worker import LOOPS
from app.models.event import Event
from app.models.webhook import WebhookDelivery
from app.webhooks.endpoints import register_endpoint
from bench import kills
from bench.receiver import ReceiverProcess
from bench.services import Place, service
from tests.databases import drop_database, make_database
from tests.faults.bed import look_at_kept
from tests.faults.traffic import Ledger

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.costly(0)]


@pytest.fixture(scope="module")
def receiver() -> Iterator[ReceiverProcess]:
    process = ReceiverProcess()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def place(receiver: ReceiverProcess) -> Iterator[Place]:
    """A service whose worker runs in this process, an endpoint for its clients."""
    address = make_database("business_platform_test_kept")
    with service(database=address, WEBHOOK_ALLOW_PRIVATE="1") as made:
        with made.app.app_context(), transaction(), acting_as(system_caller("cli")):
            register_endpoint(url=f"{receiver.url}/hook/all", patterns=["client.*"])
        loops = [loop for loop in LOOPS if loop.name.startswith("webhook")]
        threads = LoopThreads(made.app, loops)
        threads.start()
        yield made
        threads.ask_to_stop()
        assert threads.join(20) == []
    drop_database("business_platform_test_kept")


class Callers:
    """Callers who write, and note it."""

    def __init__(self, place: Place) -> None:
        self.ledger = Ledger()
        self._client = place.app.test_client()
        with place.app.app_context(), transaction(), acting_as(system_caller("cli")):
            self._headers = {"X-API-Key": create_api_key(name="kept", role="Admin").key}

    def write(self, *, is_answered: bool = True) -> None:
        name = secrets.token_hex(8)
        self.ledger.sent.add(name)
        answer = self._client.post("/odata/Clients", json={"name": name}, headers=self._headers)
        assert answer.status_code == 201
        if is_answered:
            self.ledger.created[name] = answer.json["id"]


def test_a_write_that_is_done_while_a_scene_looks_is_waited_for(
    place: Place, receiver: ReceiverProcess
) -> None:
    """Behind each statement of the look in turn."""
    for number in count(1):
        callers = Callers(place)
        callers.write()
        with done_behind(place, number, partial(callers.write, is_answered=False)) as done:
            kept = look_at_kept(place, receiver, callers.ledger)
        assert (kept.lost, kept.twice, kept.missing) == (0, 0, []), number
        if not done:
            break
    assert number > 1


@contextmanager
def done_behind(place: Place, number: int, act: Callable[[], None]) -> Iterator[list[int]]:
    """Within it ``act`` is done behind the statement ``number`` of this thread; gives whether."""
    looker, statements, done = threading.get_ident(), count(1), []

    def look(*_: Any) -> None:
        if threading.get_ident() == looker and next(statements) == number:
            done.append(number)
            other = threading.Thread(target=act)
            other.start()
            other.join()

    with place.app.app_context():
        engines = {id(engine): engine for engine in (db.engine, primary_engine())}.values()
    for engine in engines:
        event.listen(engine, "after_cursor_execute", look)
    yield done
    for engine in engines:
        event.remove(engine, "after_cursor_execute", look)


def test_an_event_that_never_comes_is_missed_and_told_where_it_is(
    place: Place, receiver: ReceiverProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kills, "DRAIN_SECONDS", 2)
    callers = Callers(place)
    callers.write()
    callers.write()
    key = max(callers.ledger.created.values())
    with place.app.app_context(), transaction() as session:
        session.execute(delete(WebhookDelivery))
        session.execute(delete(Event).where(Event.entity_id == key))
    kept = look_at_kept(place, receiver, callers.ledger)
    assert (kept.written, kept.lost, kept.twice) == (2, 0, 0)
    assert any(f", {key}, None" in missing for missing in kept.missing)
