"""Deliveries to receivers on loopback that fail, hang, redirect, and come back.

SEC-95, SEC-97, SEC-98, SEC-99, DUR-14, DUR-16, OPS-10.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from flask import Flask
from standardwebhooks import Webhook

from tests.contract.conftest import Api
from tests.receivers import Receiver, status
from tests.waiting import until
from tests.webhooks.conftest import Run, deliveries, make_client, register, when_all


@pytest.mark.requirement("SEC-95", "DUR-16")
def test_event_arrives_signed_in_the_envelope(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url(), "client.*")
    with work(near):
        client = make_client(api, name="Čeladná Works")
        (delivery,) = when_all(api, webhook, "succeeded")
    (taken,) = there.taken
    body = Webhook(webhook["secret"]).verify(taken.body, taken.headers)
    assert set(body) == {"type", "timestamp", "data"}
    assert body["type"] == "client.created"
    data = body["data"]
    assert (data["object"]["id"], data["object"]["name"]) == (client, "Čeladná Works")
    assert (data["sequence"], data["actor"]["via"]) == (1, "jwt")
    assert taken.headers["content-type"] == "application/json"
    assert set(taken.headers) == {
        "host", "accept-encoding", "content-length", "content-type", "user-agent", "webhook-id",
        "webhook-timestamp", "webhook-signature",
    }  # fmt: skip
    assert delivery["messageId"] == taken.message_id
    assert delivery["request"]["body"].encode() == taken.body
    (attempt,) = delivery["attempts"]
    assert (attempt["statusCode"], attempt["response"]) == (200, "thanks")
    assert attempt["requestHeaders"]["webhook-signature"] == taken.headers["webhook-signature"]


@pytest.mark.requirement("SEC-97", "SEC-98")
@pytest.mark.parametrize(
    ("path", "code", "error"),
    [
        ("/fail", 500, None),
        ("/redirect", 302, "Redirects are not followed."),
        ("/cut", None, "The connection failed."),
        ("/garbage", None, "The answer was not HTTP."),
    ],
)
def test_failure_is_tried_again_by_the_schedule_and_then_given_up(
    near: Flask,
    api: Api,
    there: Receiver,
    work: Run,
    path: str,
    code: int | None,
    error: str | None,
) -> None:
    webhook = register(api, there.url(path), "client.created")
    with work(near):
        make_client(api)
        (delivery,) = when_all(api, webhook, "failed")
    assert [(item["statusCode"], item["error"]) for item in delivery["attempts"]] == [
        (code, error)
    ] * 4
    assert {taken.path for taken in there.taken} == {path}
    assert {taken.message_id for taken in there.taken} == {delivery["messageId"]}
    assert api.get(f"/api/webhooks/{webhook['id']}").json["failingSince"] is not None


def test_receiver_that_comes_back_gets_everything_once(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    def late(request: BaseHTTPRequestHandler) -> None:
        status(503 if len(there.taken) <= 2 else 204)(request)

    there.answers["/late"] = late
    webhook = register(api, there.url("/late"), "client.created")
    with work(near):
        make_client(api)
        (delivery,) = when_all(api, webhook, "succeeded")
        arrived = len(there.taken)
        make_client(api)
        when_all(api, webhook, "succeeded", 2)
    assert len(there.taken) == arrived + 1
    first, *_, last = there.taken[:arrived]
    assert first.message_id == last.message_id
    assert Webhook(webhook["secret"]).verify(last.body, last.headers)
    assert [item["statusCode"] for item in delivery["attempts"]] == [503, 503, 204]
    assert api.get(f"/api/webhooks/{webhook['id']}").json["failingSince"] is None


@pytest.mark.requirement("SEC-99")
def test_hanging_receivers_hold_up_nobody(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    for path in ("/hang", "/trickle-headers", "/trickle-body", "/endless"):
        for number in range(4):
            register(api, there.url(f"{path}?{number}"), "client.created")
    webhook = register(api, there.url("/ok"), "client.created")
    with work(near):
        for _ in range(20):
            make_client(api)
        until(lambda: len(there.at("/ok")) == 20, 25)
        there.closing.set()  # lets the hanging ones go
        when_all(api, webhook, "succeeded", 20)


def test_stopped_worker_waits_for_what_is_on_its_way(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    def slow(request: object) -> None:
        time.sleep(0.5)
        status(200)(request)  # type: ignore[arg-type]

    there.answers["/slow"] = slow
    webhook = register(api, there.url("/slow"), "client.created")
    with work(near):
        make_client(api)
        until(lambda: there.taken)
    (delivery,) = deliveries(api, webhook)
    assert delivery["status"] == "succeeded"


@pytest.mark.requirement("SEC-101")
def test_name_that_means_an_address_inside_is_never_connected_to(
    make_app: Callable[..., Flask],
    sign_in: Callable[..., Api],
    there: Receiver,
    work: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SEC-101: registered while the name meant something else, or nothing."""
    far = make_app(WEBHOOK_RETRY_SCHEDULE=(0,))
    api = sign_in("Admin", far)
    webhook = register(api, f"http://rebound.example.com:{there.port}/ok", "client.created")
    resolve = socket.getaddrinfo

    def rebound(host: Any, *given: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host == "rebound.example.com" else host, *given, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    with work(far):
        make_client(api)
        (delivery,) = when_all(api, webhook, "failed")
    assert there.connections == 0
    assert {item["error"] for item in delivery["attempts"]} == {"The address is not allowed."}
    assert {item["statusCode"] for item in delivery["attempts"]} == {None}
