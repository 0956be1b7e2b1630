"""Registering, changing and removing endpoints; who may, and what is refused.

SEC-90 to SEC-94, SEC-96, OPS-19.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from standardwebhooks import Webhook

from app.clock import utc_now
from app.db.types import iso_instant
from app.models.webhook import WebhookEndpoint
from tests.contract.conftest import PASSWORD, Api
from tests.outbound.test_addresses import BROKEN, INSIDE, LOOPBACK
from tests.receivers import Receiver, status
from tests.waiting import until
from tests.webhooks.conftest import Run, deliveries, make_client, register, when_all

GOOD = {"url": "https://hooks.example.com/in", "events": ["client.*"], "description": "ERP"}


def problem(answer: Any, code: str, field: str = "") -> str:
    """The message of an error, after a look at its code and field."""
    error = answer.json["error"]
    assert error["code"] == code, error
    assert field in [detail["field"] for detail in error["details"]] or not field, error
    return str(error["message"])


@pytest.mark.requirement("SEC-96")
def test_registered_endpoint_shows_its_secret_once(admin: Api, session: Session) -> None:
    answer = admin.post("/api/webhooks", GOOD)
    assert answer.status_code == 201
    made = answer.json
    assert {name: made[name] for name in GOOD} == GOOD
    assert made["status"] == "active"
    assert made["secret"].startswith("whsec_") and len(made["secret"]) >= 6 + 32
    assert answer.headers["Location"] == f"/api/v1/webhooks/{made['id']}"
    shown = admin.get(answer.headers["Location"])
    assert "secret" not in shown.json
    assert made["secret"] not in shown.text + admin.get("/api/webhooks").text
    (stored,) = session.scalars(select(WebhookEndpoint.secret))
    assert made["secret"].removeprefix("whsec_") not in stored


def test_list_has_the_newest_first_and_filters_by_status(admin: Api) -> None:
    first, second = (admin.post("/api/webhooks", GOOD).json["id"] for _ in range(2))
    assert admin.patch(f"/api/webhooks/{first}", {"status": "disabled"}).status_code == 200
    page = admin.get("/api/webhooks").json
    assert (page["total"], [item["id"] for item in page["items"]]) == (2, [second, first])
    page = admin.get("/api/webhooks?status=disabled").json
    assert [item["id"] for item in page["items"]] == [first]


def test_changes_are_kept_and_deleting_takes_everything_along(admin: Api) -> None:
    path = f"/api/webhooks/{admin.post('/api/webhooks', GOOD).json['id']}"
    changes = {"url": "https://other.example.com/", "events": ["*"], "description": None}
    changed = admin.patch(path, changes)
    assert changed.status_code == 200
    assert {name: changed.json[name] for name in changes} == changes
    assert {name: admin.get(path).json[name] for name in changes} == changes
    assert admin.post(f"{path}/test").status_code == 202
    assert admin.delete(path).status_code == 204
    for answer in (admin.get(path), admin.delete(path), admin.post(f"{path}/test")):
        assert answer.status_code == 404


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("host", LOOPBACK + INSIDE)
def test_addresses_inside_are_refused(admin: Api, host: str) -> None:
    for url in (f"http://{host}/", f"https://{host}:8443/hook"):
        answer = admin.post("/api/webhooks", {**GOOD, "url": url})
        assert answer.status_code == 400
        problem(answer, "VALIDATION_ERROR", "url")


@pytest.mark.requirement("SEC-90")
@pytest.mark.only_on("sqlite")
def test_urls_that_are_none_are_refused_and_changes_to_them_too(admin: Api) -> None:
    path = f"/api/webhooks/{admin.post('/api/webhooks', GOOD).json['id']}"
    for url in (url for url in [*BROKEN, "http://127.0.0.1/"] if "\0" not in url):
        for answer in (
            admin.post("/api/webhooks", {**GOOD, "url": url}), admin.patch(path, {"url": url}),
        ):  # fmt: skip
            assert answer.status_code == 400, url
            problem(answer, "VALIDATION_ERROR", "url")
    assert admin.get(path).json["url"] == GOOD["url"]


@pytest.mark.requirement("SEC-90")
@pytest.mark.parametrize(
    ("events", "field"),
    [
        (["invoice.payed"], "events[0]"),
        (["client.created", "nothing.*"], "events[1]"),
        (["client.cre*"], "events[0]"),
        (["**"], "events[0]"),
        ([""], "events[0]"),
        ([], "events"),
        ("client.created", "events"),
        ([1], "events[0]"),
        ([None], "events[0]"),
        (["client.created"] * 101, "events"),
        (None, "events"),
    ],
    ids=str,
)
@pytest.mark.only_on("sqlite")
def test_events_that_do_not_exist_are_named(admin: Api, events: Any, field: str) -> None:
    answer = admin.post("/api/webhooks", {**GOOD, "events": events})
    assert answer.status_code == 400
    problem(answer, "VALIDATION_ERROR", field)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"), ({"url": GOOD["url"]}, "events"), ({**GOOD, "secret": "x"}, "secret"),
        ({**GOOD, "description": "x" * 501}, "description"), ({**GOOD, "url": 5}, "url"),
    ],
    ids=str,
)  # fmt: skip
def test_other_bodies_are_refused(admin: Api, body: Any, field: str) -> None:
    answer = admin.post("/api/webhooks", body)
    assert answer.status_code == 400
    problem(answer, "VALIDATION_ERROR", field)


@pytest.mark.requirement("SEC-91")
@pytest.mark.only_on("sqlite")
def test_production_takes_https_only(make_app: Callable[..., Flask], sign_in: Any) -> None:
    api = sign_in("Admin", make_app(PRODUCTION=True, BASE_URL="https://crm.example.com"))
    assert api.post("/api/webhooks", {**GOOD, "url": "http://example.com/"}).status_code == 400
    assert api.post("/api/webhooks", GOOD).status_code == 201


@pytest.mark.parametrize("role", ["Manager", "Sales", "Accountant", "Support", "Viewer"])
@pytest.mark.only_on("sqlite")
def test_only_administrators_write_and_managers_read(
    admin: Api, sign_in: Callable[..., Api], role: str
) -> None:
    path = f"/api/webhooks/{admin.post('/api/webhooks', GOOD).json['id']}"
    caller = sign_in(role)
    reads = 200 if role == "Manager" else 403
    for address in ("/api/webhooks", path, f"{path}/deliveries", "/api/events"):
        assert caller.get(address).status_code == reads
    for answer in (
        caller.post("/api/webhooks", GOOD), caller.patch(path, {"status": "disabled"}),
        caller.delete(path), caller.post(f"{path}/test"), caller.post(f"{path}/rotate-secret"),
        caller.post(f"{path}/recover", {"since": "2026-01-01T00:00:00Z"}),
        caller.post(f"{path}/deliveries/1/resend"),
    ):  # fmt: skip
        assert answer.status_code == 403


def test_ping_arrives_whatever_the_endpoint_subscribes_to(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url("/ok?1"), "invoice.paid")
    register(api, there.url("/ok?2"), "webhook.*")
    answer = api.post(f"/api/webhooks/{webhook['id']}/test")
    assert (answer.status_code, answer.json["eventType"]) == (202, "webhook.ping")
    assert (answer.json["status"], answer.json["attempts"]) == ("pending", [])
    with work(near):
        when_all(api, webhook, "succeeded")
    (taken,) = there.taken
    assert taken.path == "/ok?1"
    assert (taken.json["type"], taken.json["data"]["object"]["id"]) == (
        "webhook.ping", webhook["id"],
    )  # fmt: skip
    assert "secret" not in taken.json["data"]["object"]


@pytest.mark.requirement("OPS-19")
def test_both_secrets_sign_for_a_day_after_a_rotation(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url(), "client.created")
    rotated = api.post(f"/api/webhooks/{webhook['id']}/rotate-secret")
    assert rotated.status_code == 200
    assert rotated.json["secret"] != webhook["secret"]
    assert rotated.json["previousSecretUntil"] > iso_instant(utc_now() + timedelta(hours=23))
    with work(near):
        make_client(api)
        when_all(api, webhook, "succeeded")
        (taken,) = there.taken
        for secret in (webhook["secret"], rotated.json["secret"]):
            assert Webhook(secret).verify(taken.body, taken.headers)
    again = api.post(f"/api/webhooks/{webhook['id']}/rotate-secret").json["secret"]
    with time_machine.travel(utc_now() + timedelta(hours=25)), work(near):
        api = Api(api.client, fresh_headers(api))
        make_client(api)
        when_all(api, webhook, "succeeded", 2)
        assert len(there.taken[1].headers["webhook-signature"].split(" ")) == 1
        assert Webhook(again).verify(there.taken[1].body, there.taken[1].headers)


def fresh_headers(api: Api) -> dict[str, str]:
    """The headers of a new session of the administrator: the clock was set forward."""
    answer = api.client.post("/api/auth/login", json={"username": "admin", "password": PASSWORD})
    return {"Authorization": f"Bearer {answer.json['accessToken']}"}


def test_disabled_endpoint_gets_nothing_until_it_is_enabled_and_recovered(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url(), "client.created")
    path = f"/api/webhooks/{webhook['id']}"
    before = iso_instant(utc_now())
    api.post(f"{path}/test")
    assert api.patch(path, {"status": "disabled"}).json["disabledReason"] == "Disabled by hand."
    (canceled,) = deliveries(api, webhook)
    assert canceled["status"] == "canceled"
    assert problem(api.post(f"{path}/test"), "INVALID_STATE", "status")
    with work(near):
        clients = {make_client(api) for _ in range(3)}
        until(lambda: len(api.get("/api/events?types=client.created").json["items"]) == 3)
        recover = {"since": before}
        assert problem(api.post(f"{path}/recover", recover), "INVALID_STATE", "status")
        assert api.patch(path, {"status": "active"}).json["disabledAt"] is None
        assert there.taken == []
        answer = api.post(f"{path}/recover", recover)
        assert (answer.status_code, answer.json["events"]) == (202, 4)
        when_all(api, webhook, "succeeded", 3)
        until(lambda: not api.get(path).json["isRecovering"])
    assert {taken.json["data"]["object"]["id"] for taken in there.taken} == clients


@pytest.mark.parametrize("lost", [1, 3])
def test_what_was_given_up_is_tried_again_and_a_period_has_its_end(
    near: Flask, api: Api, there: Receiver, work: Run, lost: int
) -> None:
    there.answers["/flaky"] = status(500)
    webhook = register(api, there.url("/flaky"), "client.created")
    path = f"/api/webhooks/{webhook['id']}"
    start = iso_instant(utc_now())
    assert api.post(f"{path}/recover", {"since": start}).json["events"] == 0
    with work(near):
        given_up = {make_client(api) for _ in range(lost)}
        when_all(api, webhook, "failed", lost)
        tries = len(there.taken)
        del there.answers["/flaky"]
        end = iso_instant(utc_now() + timedelta(milliseconds=1))
        until(lambda: iso_instant(utc_now()) > end)
        make_client(api)
        until(lambda: len(there.taken) == tries + 1)
        answer = api.post(f"{path}/recover", {"since": start, "until": end})
        assert (answer.status_code, answer.json["events"]) == (202, lost)
        when_all(api, webhook, "succeeded", lost + 1)
        until(lambda: not api.get(path).json["isRecovering"])
    assert len(there.taken) == tries + 1 + lost
    again = there.taken[-lost:]
    assert {taken.json["data"]["object"]["id"] for taken in again} == given_up


def test_a_change_that_changes_nothing_is_none(admin: Api) -> None:
    webhook = admin.post("/api/webhooks", GOOD).json
    path = f"/api/webhooks/{webhook['id']}"
    before = admin.get(path)
    same = admin.patch(path, {"description": "ERP"})
    assert (same.status_code, same.json) == (200, before.json)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "since"), ({"since": "yesterday"}, "since"), ({"since": "2026-01-01"}, "since"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "until"),
    ],
    ids=str,
)  # fmt: skip
def test_periods_that_are_none_are_refused(admin: Api, body: Any, field: str) -> None:
    webhook = admin.post("/api/webhooks", GOOD).json
    answer = admin.post(f"/api/webhooks/{webhook['id']}/recover", body)
    assert answer.status_code == 400
    problem(answer, "VALIDATION_ERROR", field)
