"""Endpoints that fail: waited for as they ask, and disabled in the end (SEC-100, OPS-16)."""

from __future__ import annotations

from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest
import time_machine
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db.engines import transaction
from app.models.event import Event, OutgoingMail
from app.models.webhook import WebhookEndpoint
from app.webhooks.deliverer import due_endpoints, take_messages
from app.webhooks.delivery_pool import DeliveryPool
from app.webhooks.fan_out import fan_out
from app.webhooks.messages import JITTER, delay_after, retry_after
from tests.contract.conftest import Api
from tests.receivers import Receiver, status
from tests.waiting import until
from tests.webhooks.conftest import Run, deliveries, make_client, register, when_all

STANDARD = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)


@pytest.mark.requirement("SEC-100")
def test_gone_receiver_is_disabled_at_once_and_everybody_told(
    near: Flask, api: Api, there: Receiver, work: Run, session: Session
) -> None:
    webhook = register(api, there.url("/gone"), "client.created")
    watching = register(api, there.url("/ok"), "webhook.disabled")
    path = f"/api/webhooks/{webhook['id']}"
    with work(near):
        make_client(api)
        (delivery,) = when_all(api, webhook, "failed")
        when_all(api, watching, "succeeded")
        make_client(api)
    assert len(delivery["attempts"]) == 1
    shown = api.get(path).json
    assert shown["status"] == "disabled"
    assert shown["disabledReason"] == "The receiver answered 410: it wants no more events."
    assert len(there.at("/gone")) == 1
    (told,) = there.at("/ok")
    assert told.json["type"] == "webhook.disabled"
    assert told.json["data"]["object"]["disabledReason"] == shown["disabledReason"]
    (mail,) = session.connection().execute(select(OutgoingMail))
    assert mail.to == ["admin@example.com"]
    assert (mail.entity, mail.entity_id, mail.status) == ("Webhook", webhook["id"], "queued")
    assert webhook["url"] in mail.text_body and webhook["secret"] not in mail.text_body


def failing(near: Flask, webhook_id: int, **ago: float) -> None:
    with near.app_context(), transaction() as writing:
        writing.execute(
            update(WebhookEndpoint)
            .where(WebhookEndpoint.id == webhook_id)
            .values(failing_since=utc_now() - timedelta(**ago))
        )


@pytest.mark.requirement("OPS-16")
@pytest.mark.parametrize(("ago", "expected"), [(4.99, "active"), (5.0, "disabled")])
def test_endpoint_that_failed_for_five_days_is_disabled(
    near: Flask, api: Api, there: Receiver, work: Run, ago: float, expected: str
) -> None:
    webhook = register(api, there.url("/fail"), "client.created")
    failing(near, webhook["id"], days=ago)
    with work(near):
        make_client(api)
        until(lambda: any(item["attempts"] for item in deliveries(api, webhook)))
        shown = until(lambda: api.get(f"/api/webhooks/{webhook['id']}").json)
    assert shown["status"] == expected
    if expected == "disabled":
        assert shown["disabledReason"] == "Every attempt of the last five days failed."
        assert {item["status"] for item in deliveries(api, webhook)} <= {"canceled", "failed"}


def test_one_success_begins_the_five_days_anew(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url("/ok"), "client.created")
    failing(near, webhook["id"], days=6)
    with work(near):
        make_client(api)
        when_all(api, webhook, "succeeded")
    shown = api.get(f"/api/webhooks/{webhook['id']}").json
    assert (shown["status"], shown["failingSince"]) == ("active", None)


def test_receiver_that_asks_for_time_gets_it(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url("/busy"), "client.created")
    with work(near):
        make_client(api)
        (delivery,) = until(lambda: [item for item in deliveries(api, webhook) if item["attempts"]])
    wait = datetime.fromisoformat(delivery["nextAttemptAt"]) - datetime.fromisoformat(
        delivery["attempts"][0]["at"]
    )
    assert timedelta(seconds=119) < wait < timedelta(seconds=130)
    assert delivery["status"] == "pending"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("120", 120), (" 7 ", 7), ("0", 0), ("-5", 0), ("soon", 0), ("", 0), ("1e9", 0), ("٣", 0),
     ("9" * 5000, 86400), ("999999", 86400), ("Mon, 01 Jan 1990 00:00:00 GMT", 0),
     ("Mon, 01 Jan 2024 00:00:00 +99999999999999999", 0),
     (f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT", 0),
     (f"Mon, 01 Jan 2024 {'9' * 20}:00:00 GMT", 0),
     (f"Mon, 01 Jan {'9' * 5000} 00:00:00 GMT", 0),
     ("Fri, 31 Dec 9999 23:59:59 -2359", 86400), ("Mon, 01 Jan 0001 00:00:00 +2359", 0)],
)  # fmt: skip
def test_what_receivers_say_about_their_return(text: str, seconds: int) -> None:
    assert retry_after({"retry-after": text}, utc_now()) == timedelta(seconds=seconds)


def test_return_as_a_date() -> None:
    now = utc_now()
    text = format_datetime(now + timedelta(minutes=3), usegmt=False)
    assert timedelta(seconds=178) < retry_after({"retry-after": text}, now) < timedelta(seconds=181)
    assert retry_after({}, now) == timedelta(0)


def test_schedule_is_that_of_standard_webhooks_with_jitter() -> None:
    for failures, seconds in enumerate(STANDARD, start=1):
        found = {delay_after(failures, STANDARD) for _ in range(50)}
        assert len(found) > 1
        assert all(
            delay is not None and seconds <= delay.total_seconds() <= seconds * (1 + JITTER)
            for delay in found
        )
    assert delay_after(len(STANDARD) + 1, STANDARD) is None
    assert sum(STANDARD) / 3600 > 75


@pytest.mark.requirement("OPS-16")
def test_resent_message_keeps_its_id_and_has_the_whole_schedule_before_it(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    there.answers["/late"] = status(500)
    webhook = register(api, there.url("/late"), "client.created")
    with work(near):
        make_client(api)
        (failed,) = when_all(api, webhook, "failed")
        there.answers["/late"] = status(200)
        path = f"/api/webhooks/{webhook['id']}/deliveries/{failed['id']}"
        answer = api.post(f"{path}/resend")
        assert (answer.status_code, answer.json["status"]) == (202, "pending")
        (delivery,) = when_all(api, webhook, "succeeded")
        assert api.post(f"{path}/resend").status_code == 202  # delivered once more, on demand
        until(lambda: len(there.taken) == 6)
        when_all(api, webhook, "succeeded")
    assert len({taken.message_id for taken in there.taken}) == 1
    assert [item["statusCode"] for item in delivery["attempts"]] == [500] * 4 + [200]
    assert api.post(f"/api/webhooks/{webhook['id']}/deliveries/999/resend").status_code == 404
    other = register(api, there.url(), "client.created")
    wrong = f"/api/webhooks/{other['id']}/deliveries/{failed['id']}"
    assert api.get(wrong).status_code == api.post(f"{wrong}/resend").status_code == 404


@pytest.mark.requirement("OPS-16")
def test_deliveries_are_found_by_state_type_and_time(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url(), "client.*")
    with work(near):
        client = make_client(api)
        api.patch(f"/odata/Clients({client})", {"name": "Other"})
        when_all(api, webhook, "succeeded", 2)
    assert len(deliveries(api, webhook, status="succeeded", limit=1)) == 1
    assert deliveries(api, webhook, status="failed") == []
    (updated,) = deliveries(api, webhook, type="client.updated")
    assert len(deliveries(api, webhook, type="client.*")) == 2
    assert deliveries(api, webhook, since=updated["createdAt"])[0]["id"] == updated["id"]
    assert deliveries(api, webhook, until="2026-01-01T00:00:00Z") == []
    answer = api.get(f"/api/webhooks/{webhook['id']}/deliveries?status=lost")
    assert answer.status_code == 400


def test_lease_of_a_killed_worker_runs_out_and_the_message_is_sent_with_the_same_id(
    near: Flask, api: Api, there: Receiver, work: Run, session: Session
) -> None:
    webhook = register(api, there.url(), "client.created")
    make_client(api)
    with near.app_context():
        while fan_out():
            pass
        wanted = due_endpoints(DeliveryPool(lambda message: pytest.fail("not sent here")))
        with transaction() as writing:
            (lost,) = take_messages(writing.connection(), wanted)
        assert due_endpoints(DeliveryPool(lambda message: pytest.fail("not sent here"))) == []
    with time_machine.travel(utc_now() + timedelta(seconds=61)), work(near):
        until(lambda: there.taken)
        until(lambda: session.scalars(select(Event.dispatched_at)).all())
    assert there.taken[0].message_id == lost.message_id
    assert deliveries(api, webhook)[0]["status"] == "succeeded"
