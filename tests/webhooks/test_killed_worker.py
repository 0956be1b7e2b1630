"""A worker that dies at any step between an event and its delivery: none is lost (DUR-13, 14)."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.auth.api_keys import create_api_key
from app.clock import utc_now
from app.db.engines import transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.models.event import Event
from app.models.webhook import WebhookDelivery
from app.webhooks.deliverer import deliverer
from app.webhooks.endpoints import register_endpoint, send_test
from app.webhooks.fan_out import fan_out
from bench.kills import run_out_leases
from bench.services import Place, service, signal_group
from tests.db.refusing import Fault, Refusals, cut, cut_after_commit
from tests.receivers import Receiver, receiver, status
from tests.waiting import until


def state(place: Place) -> tuple[str, str]:
    with place.app.app_context(), transaction() as session:
        row = session.execute(select(WebhookDelivery.status, WebhookDelivery.message_id)).one()
        return row.status, row.message_id


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-14")
def test_message_of_a_killed_worker_comes_again_with_the_same_id() -> None:
    with receiver() as there, service(WEBHOOK_ALLOW_PRIVATE="1") as place:
        there.answers["/hook"] = hang_once(there)
        with place.app.app_context(), transaction(), acting_as(system_caller("cli")):
            endpoint, _ = register_endpoint(url=there.url("/hook"), patterns=["client.*"])
            send_test(endpoint)
        worker = place.start_worker()
        until(lambda: there.taken, 60)
        signal_group(worker, signal.SIGKILL)
        worker.wait()
        assert state(place)[0] == "pending"
        run_out_leases(place)
        place.start_worker()
        until(lambda: state(place)[0] == "succeeded", 60)
        assert [taken.message_id for taken in there.taken] == [state(place)[1]] * 2
        assert len({taken.body for taken in there.taken}) == 1


def hang_once(there: Receiver) -> Callable[[BaseHTTPRequestHandler], None]:
    """Takes the first message without a word, and answers the others."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        if len(there.taken) == 1:
            there.closing.wait(60)
        else:
            status(200)(request)

    return answer


MOST_CALLS = 60


@pytest.mark.requirement("DUR-13", "DUR-14")
@pytest.mark.parametrize("fault", [cut, cut_after_commit], ids=["undone", "committed"])
def test_a_worker_that_dies_at_any_step_loses_no_event(
    make_app: Callable[..., Flask], fault: Fault
) -> None:
    """``committed``: what was done up to the step is kept, where that is a COMMIT."""
    app = make_app(WEBHOOK_ALLOW_PRIVATE=True, WEBHOOK_RETRY_SCHEDULE=(0,) * 20)
    refusals = Refusals()
    with receiver() as there, app.app_context():
        with transaction(), acting_as(system_caller("cli")):
            register_endpoint(url=there.url(), patterns=["client.created"])
            headers = {"X-API-Key": create_api_key(name="kills", role="Admin").key}
        for engine in db.engines.values():
            refusals.attach(engine)
        died_at = []
        for number in range(1, MOST_CALLS):
            answer = app.test_client().post("/odata/Clients", json={"name": "A"}, headers=headers)
            assert answer.status_code == 201
            refusals.arm(number, fault, only="COMMIT" if fault is cut_after_commit else "")
            work()
            refusals.disarm()
            deliverer.unbind(app)  # all that it had in memory dies with it
            if refusals.refused is None:
                break
            died_at.append(refusals.refused.split()[0])
            end_leases()
            until(lambda: work() or not pending(), 20)
            deliverer.unbind(app)
        assert refusals.refused is None and {"COMMIT"} <= set(died_at)
        if fault is cut:
            assert {"SELECT", "INSERT", "UPDATE"} <= set(died_at)
        with transaction() as session:
            statement = select(WebhookDelivery.event_id, WebhookDelivery.message_id)
            owed = session.execute(statement).all()
            placed = select(Event.id, Event.position).order_by(Event.position)
            places = [place for _, place in session.execute(placed)]
            wanted = select(Event.id).where(Event.type == "client.created")
            events = set(session.execute(wanted).scalars())
        assert sorted(event for event, _ in owed) == sorted(events)
        assert places == list(range(1, len(places) + 1))
        assert {taken.message_id for taken in there.taken} == {message for _, message in owed}


def work() -> None:
    """What the loops of a worker do, one after the other."""
    deliver = deliverer.current.run
    for portion in (fan_out, deliver, deliver, deliver):
        with suppress(Exception):
            portion()


def pending() -> bool:
    with transaction() as session:
        statement = select(WebhookDelivery.id).where(WebhookDelivery.status == "pending")
        return session.execute(statement).first() is not None


def end_leases() -> None:
    with transaction() as session:
        session.execute(update(WebhookDelivery).values(leased_until=utc_now()))
