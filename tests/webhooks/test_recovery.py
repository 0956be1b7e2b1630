"""What an endpoint missed is delivered after all, portion by portion, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.models.event import Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.fan_out import recover
from tests.contract.conftest import Api
from tests.factories import put_row, rows
from tests.webhooks.conftest import make_client, register


def missed(app: Flask, api: Api, clients: int) -> tuple[int, list[dict[str, Any]]]:
    """An endpoint that gets client.created, and as many events that nobody has delivered."""
    endpoint = register(api, "https://example.com/hook", "client.created")["id"]
    for _ in range(clients):
        make_client(api)
    with app.app_context(), transaction():
        for position, event in enumerate(rows(Event), 1):
            put_row(Event, event["id"], position=position)
        return endpoint, rows(Event)


def begin(app: Flask, endpoint: int, after: int, until: int, **more: Any) -> None:
    with app.app_context(), transaction():
        put_row(WebhookEndpoint, endpoint, recover_after=after, recover_until=until, **more)


def delivered(app: Flask) -> list[tuple[int, str]]:
    """Event and state of each delivery."""
    with app.app_context(), transaction():
        return [(row["event_id"], row["status"]) for row in rows(WebhookDelivery)]


def run(app: Flask) -> list[int]:
    """How many events each portion looked at."""
    looked = []
    with app.app_context():
        while count := recover():
            looked.append(count)
    return looked


def test_events_of_the_period_are_delivered_in_portions(
    app: Flask, near: Flask, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.webhooks.fan_out.RECOVERED_AT_ONCE", 2)
    endpoint, events = missed(app, api, 6)
    wanted = [event for event in events if event["type"] == "client.created"]
    before, *inside, after = wanted
    begin(app, endpoint, before["position"], inside[-1]["position"])
    looked = run(app)
    assert max(looked) == 2
    assert sum(looked) == inside[-1]["position"] - before["position"]
    assert delivered(app) == [(event["id"], "pending") for event in inside]
    assert after["id"] not in dict(delivered(app))
    with app.app_context(), transaction():
        (row,) = rows(WebhookEndpoint, id=endpoint)
        assert row["recover_after"] is None and row["recover_until"] is None


def test_what_was_given_up_is_tried_again_and_what_arrived_is_not(
    app: Flask, near: Flask, api: Api
) -> None:
    endpoint, events = missed(app, api, 3)
    last = events[-1]["position"]
    begin(app, endpoint, 0, last)
    run(app)
    with app.app_context(), transaction():
        failed, canceled, arrived = rows(WebhookDelivery)
        put_row(WebhookDelivery, failed["id"], status="failed", attempts=9)
        put_row(WebhookDelivery, canceled["id"], status="canceled", attempts=1)
        put_row(WebhookDelivery, arrived["id"], status="succeeded", attempts=1)
    begin(app, endpoint, 0, last)
    run(app)
    with app.app_context(), transaction():
        states = [(row["id"], row["status"], row["attempts"]) for row in rows(WebhookDelivery)]
    assert states == [
        (failed["id"], "pending", 0), (canceled["id"], "pending", 0),
        (arrived["id"], "succeeded", 1),
    ]  # fmt: skip


def test_an_endpoint_that_is_disabled_gets_nothing(app: Flask, near: Flask, api: Api) -> None:
    endpoint, events = missed(app, api, 1)
    begin(app, endpoint, 0, events[-1]["position"], status="disabled")
    assert run(app) == [] and delivered(app) == []


def test_a_period_without_events_is_over_at_once(app: Flask, near: Flask, api: Api) -> None:
    endpoint, events = missed(app, api, 1)
    last = events[-1]["position"]
    begin(app, endpoint, last, last + 5)
    assert run(app) == [1] and delivered(app) == []
