"""Streams: what was said is told again, whoever left comes back, and nobody else gets in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from app.ai import streams, turns
from app.ai.parts import Ask, Part, Text
from app.ai.provider.answering import ai_provider
from app.ai.refusals import ABOUT
from app.ai.streams import stream_places
from app.db.engines import primary_engine
from tests.ai.conftest import chat
from tests.contract.conftest import Api

pytestmark = pytest.mark.usefixtures("idle")
STREAM = "/api/ai/chat/stream"


def events_of(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    """The events of a stream: number, name, data."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line[1:])
        if "event" in lines:
            found.append((int(lines["id"]), lines["event"], orjson.loads(lines["data"])))
    return found


def read(api: Api, session_id: str, **options: Any) -> list[tuple[int, str, dict[str, Any]]]:
    query = {"sessionId": session_id, **options.pop("query", {})}
    answer = api.get(STREAM, query_string=query, **options)
    assert answer.status_code == 200, answer.text
    assert answer.content_type.startswith("text/event-stream")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["X-Accel-Buffering"] == "no"
    text = answer.text
    answer.close()
    assert text.startswith("retry: 2000\n\n")
    return events_of(text)


def said(events: list[tuple[int, str, dict[str, Any]]]) -> str:
    return "".join(data["text"] for _, name, data in events if name == "message.delta")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The assistant says "one", and then "two" when the event is set."""
    go_on = threading.Event()

    def answer(ask: Ask) -> Iterator[Part]:
        yield Text("one")
        go_on.wait(20)
        yield Text("two")

    monkeypatch.setattr(turns, "answer", answer)
    yield go_on
    go_on.set()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_finished_answer_is_told_from_the_store(api: Api) -> None:
    made = chat(api, "hello")
    events = read(api, made["sessionId"])
    assert [name for _, name, _ in events] == ["message.start", "message.delta", "message.end"]
    assert [number for number, _, _ in events] == [1, 2, 3]
    start, _, end = (data for _, _, data in events)
    assert start == {
        "sessionId": made["sessionId"], "messageId": made["messageId"], "model": "built-in",
    }  # fmt: skip
    assert end == {
        "messageId": made["messageId"], "status": "completed",
        "usage": {"inputTokens": 0, "outputTokens": 0},
    }  # fmt: skip
    assert said(events) == ABOUT


def test_without_a_place_the_latest_answer_is_told(api: Api) -> None:
    first = chat(api, "hello")
    second = chat(api, "delete all clients", sessionId=first["sessionId"])
    events = read(api, first["sessionId"])
    assert events[0][0] == 4
    assert said(events) == second["reply"]


@pytest.mark.parametrize("by_header", [False, True])
def test_a_reader_goes_on_where_it_stopped(api: Api, by_header: bool) -> None:
    made = chat(api, "hello")
    whole = read(api, made["sessionId"])
    for number, _, _ in whole[:-1]:
        options: dict[str, Any] = (
            {"headers": {"Last-Event-ID": str(number)}} if by_header
            else {"query": {"after": number}}
        )  # fmt: skip
        rest = read(api, made["sessionId"], **options)
        assert rest == whole[number:]


def test_who_has_everything_is_told_not_to_come_back(api: Api) -> None:
    made = chat(api, "hello")
    for after in (3, 99):
        answer = api.get(STREAM, query_string={"sessionId": made["sessionId"], "after": after})
        assert (answer.status_code, answer.data) == (204, b"")


def test_a_streamed_answer_grows_while_it_is_read(api: Api, slow: threading.Event) -> None:
    made = chat(api, "count", stream=True)
    assert (made["status"], made["reply"]) == ("in_progress", "")
    query = {"sessionId": made["sessionId"]}
    with api.get(STREAM, query_string=query, buffered=False) as answer:
        seen = b""
        for chunk in answer.response:
            seen += chunk
            if b'"one"' in seen and not slow.is_set():
                assert b"two" not in seen
                slow.set()
    events = events_of(seen.decode())
    assert said(events) == "one two"
    assert events[-1][1] == "message.end"
    message = api.get(f"/api/ai/sessions/{made['sessionId']}").json["messages"][-1]
    assert (message["status"], message["reply"]) == ("completed", "one two")
    assert read(api, made["sessionId"]) == events


def test_the_work_goes_on_when_the_reader_leaves(api: Api, slow: threading.Event) -> None:
    made = chat(api, "count", stream=True)
    answer = api.get(STREAM, query_string={"sessionId": made["sessionId"]}, buffered=False)
    next(iter(answer.response))
    answer.close()
    slow.set()
    path = f"/api/ai/sessions/{made['sessionId']}"
    wait_until(lambda: api.get(path).json["messages"][-1]["status"] == "completed")
    assert said(read(api, made["sessionId"])) == "one two"


def test_two_readers_of_one_stream_hear_the_same(api: Api, slow: threading.Event) -> None:
    made = chat(api, "count", stream=True)
    heard: list[Any] = []
    readers = [
        threading.Thread(target=lambda: heard.append(read(api, made["sessionId"])))
        for _ in range(2)
    ]
    for reader in readers:
        reader.start()
    slow.set()
    for reader in readers:
        reader.join(20)
    assert heard[0] == heard[1]
    assert said(heard[0]) == "one two"


@pytest.mark.parametrize("ends_before", ["ai_events", "ai_messages"])
def test_a_stream_ends_with_an_answer_that_ends_while_it_is_read(
    api: Api, app: Flask, slow: threading.Event, ends_before: str
) -> None:
    """Between the questions that a look asks the database; else it ends with the next ping."""
    started = chat(api, "count", stream=True)
    path = f"/api/ai/sessions/{started['sessionId']}"
    query = {"sessionId": started["sessionId"]}
    looks = threading.current_thread()

    def end_the_answer(_: Any, __: Any, statement: str, *___: Any) -> None:
        is_look = threading.current_thread() is looks and f"FROM {ends_before}" in statement
        if is_look and not slow.is_set():
            slow.set()
            wait_until(lambda: api.get(path).json["messages"][-1]["status"] == "completed")

    with app.app_context():
        engine = primary_engine()
    with api.get(STREAM, query_string=query, buffered=False) as answer:
        chunks = iter(answer.response)
        text = next(chunks)
        event.listen(engine, "before_cursor_execute", end_the_answer)
        try:
            began = time.monotonic()
            text += b"".join(chunks)
        finally:
            event.remove(engine, "before_cursor_execute", end_the_answer)
    assert said(events_of(text.decode())) == "one two"
    assert time.monotonic() - began < streams.PING_SECONDS / 2


def test_another_process_can_be_asked_for_the_stream(
    api: Api, slow: threading.Event, make_app: Callable[..., Flask]
) -> None:
    made = chat(api, "count", stream=True)
    threading.Timer(0.3, slow.set).start()
    elsewhere = Api(make_app().test_client(), api.headers)
    assert said(read(elsewhere, made["sessionId"])) == "one two"


def test_an_answer_can_be_canceled(api: Api, slow: threading.Event) -> None:
    made = chat(api, "count", stream=True)
    path = f"/api/ai/sessions/{made['sessionId']}"
    wait_until(lambda: "one" in api.get(path).json["messages"][-1]["reply"])
    answer = api.post(f"/api/ai/messages/{made['messageId']}/cancel")
    assert (answer.status_code, answer.json["status"], answer.json["reply"]) == (
        200, "canceled", "one",
    )  # fmt: skip
    slow.set()
    events = read(api, made["sessionId"])
    assert (said(events), events[-1][2]["status"]) == ("one", "canceled")
    assert api.post(f"/api/ai/messages/{made['messageId']}/cancel").json["status"] == "canceled"
    assert api.post("/api/ai/messages/msg_none/cancel").status_code == 404


def test_a_failure_is_told_without_its_text(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(ask: Ask) -> Iterator[Part]:
        yield Text("one")
        raise RuntimeError("secret detail")

    monkeypatch.setattr(turns, "answer", answer)
    made = chat(api, "count", stream=True)
    events = read(api, made["sessionId"])
    assert [name for _, name, _ in events][-2:] == ["error", "message.end"]
    assert (events[-2][2]["code"], events[-1][2]["status"]) == ("INTERNAL_ERROR", "failed")
    assert "secret" not in str(events)


def test_an_answer_whose_process_died_is_ended(
    api: Api, slow: threading.Event, unit_of_work: Callable[..., Any]
) -> None:
    from sqlalchemy import update

    from app.clock import utc_now
    from app.models.assistant import AiMessage

    made = chat(api, "count", stream=True)
    path = f"/api/ai/sessions/{made['sessionId']}"
    wait_until(lambda: "one" in api.get(path).json["messages"][-1]["reply"])
    with unit_of_work() as session:
        session.execute(update(AiMessage).values(leased_until=utc_now().replace(year=2020)))
    events = read(api, made["sessionId"])
    assert events[-1][2]["status"] == "failed"


def test_silence_is_broken_by_pings(
    api: Api, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "PING_SECONDS", 0.05)
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.05)
    made = chat(api, "count", stream=True)
    query = {"sessionId": made["sessionId"]}
    with api.get(STREAM, query_string=query, buffered=False) as answer:
        seen = b""
        for chunk in answer.response:
            seen += chunk
            if seen.count(b": ping\n\n") == 2:
                slow.set()
    assert said(events_of(seen.decode())) == "one two"


def test_a_ticket_opens_one_stream_once_without_headers(api: Api, client: FlaskClient) -> None:
    made, other = chat(api, "hello"), chat(api, "hello")
    answer = client.get(made["streamUrl"])
    assert answer.status_code == 200
    assert said(events_of(answer.text)) == ABOUT
    answer.close()
    again = client.get(made["streamUrl"])
    assert (again.status_code, again.json["error"]["code"]) == (401, "TOKEN_MISSING")
    ticket = other["streamUrl"].partition("&ticket=")[2]
    foreign = client.get(f"{STREAM}?sessionId={made['sessionId']}&ticket={ticket}")
    assert foreign.status_code == 401
    assert client.get(other["streamUrl"].replace("stream?", "x?")).status_code == 401
    assert client.get(f"/api/ai/sessions?ticket={ticket}").status_code == 401
    for wrong in ("", "x", "gAAAAA", ticket[:-8], "%00"):
        url = f"{STREAM}?sessionId={other['sessionId']}&ticket={wrong}"
        assert client.get(url).status_code in (400, 401), wrong
    assert client.get(other["streamUrl"]).status_code == 200


def test_a_ticket_ends_after_a_minute_and_with_its_sign_in(
    api: Api, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    from app.ai import streams

    late = chat(api, "hello")
    monkeypatch.setattr(streams, "TICKET_VALID_FOR", timedelta(seconds=-1))
    expired = chat(api, "hello")
    assert client.get(expired["streamUrl"]).status_code == 401
    assert api.post("/api/auth/logout").status_code == 204
    assert client.get(late["streamUrl"]).status_code == 401


def test_a_stream_belongs_to_its_owner(api: Api, sign_in: Callable[..., Api]) -> None:
    made = chat(api, "hello")
    answer = sign_in("Viewer").get(STREAM, query_string={"sessionId": made["sessionId"]})
    assert (answer.status_code, answer.json["error"]["code"]) == (404, "NOT_FOUND")
    for query, headers in (
        ({}, {}), ({"sessionId": made["sessionId"], "after": "x"}, {}),
        ({"sessionId": made["sessionId"]}, {"Last-Event-ID": "x"}),
        ({"sessionId": made["sessionId"], "after": -1}, {}),
    ):  # fmt: skip
        assert api.get(STREAM, query_string=query, headers=headers).status_code == 400


def test_beyond_the_places_a_reader_is_asked_to_come_back(
    api: Api, app: Flask, slow: threading.Event
) -> None:
    stream_places.bind(app, threading.BoundedSemaphore(1))
    try:
        made = chat(api, "count", stream=True)
        query = {"sessionId": made["sessionId"]}
        answer = api.get(STREAM, query_string=query, buffered=False)
        next(iter(answer.response))
        refused = api.get(STREAM, query_string=query)
        assert (refused.status_code, refused.json["error"]["code"]) == (503, "AI_UNAVAILABLE")
        assert refused.headers["Retry-After"] == "2"
        answer.close()
        slow.set()
        assert said(read(api, made["sessionId"])) == "one two"
    finally:
        stream_places.unbind(app)


def test_without_a_provider_the_built_in_assistant_answers(api: Api, app: Flask) -> None:
    assert ai_provider.of(app) is None
    assert chat(api, "hello")["reply"] == ABOUT
    assert api.get("/readyz").json["checks"]["assistant"] == "not used"
