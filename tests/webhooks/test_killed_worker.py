"""A worker killed between sending and writing: the message comes again, under its id (DUR-14)."""

from __future__ import annotations

import signal
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from sqlalchemy import select

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.webhook import WebhookDelivery
from app.webhooks.endpoints import register_endpoint, send_test
from bench.kills import run_out_leases
from bench.services import Place, service, signal_group
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
