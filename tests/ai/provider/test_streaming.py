"""The model's words in the stream of a conversation, as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest

from app.ai.open_streams import signals
from app.ai.turns import background
from tests.ai.conftest import chat
from tests.ai.provider.conftest import ModelServer, begin, calls, delta, says, send
from tests.ai.test_streams import events_of, read, said
from tests.contract.conftest import Api
from tests.receivers import status

QUESTION = "How do I reset my password?"


@pytest.fixture(autouse=True)
def idle_workers(ai: Api) -> Iterator[None]:
    """Wait for answers made in the background before the database is emptied."""
    yield
    app = ai.client.application
    pool = background.unbind(app)
    if pool is not None:
        assert pool.wait(30)
        pool.stop()
    with app.app_context():
        signals.current.ring()


def test_the_events_of_an_answer(ai: Api, articles: dict[str, int], server: ModelServer) -> None:
    server.says(calls(("search_kb", {"q": "password"})), "Choose Forgot password [1].")
    made = chat(ai, QUESTION, stream=True)
    assert (made["status"], made["model"]) == ("in_progress", "tiny")
    events = read(ai, made["sessionId"])
    assert [name for _, name, _ in events] == [
        "message.start", "tool.call", "tool.result", "tool.call", "tool.result", "message.delta",
        "citation", "message.delta", "message.delta", "message.end",
    ]  # fmt: skip
    assert said(events) == "Choose Forgot password [1]."
    assert events[0][2]["model"] == "tiny"
    end = events[-1][2]
    assert (end["status"], end["usage"]) == ("completed", {"inputTokens": 150, "outputTokens": 30})
    assert end["provider"] == {"status": "answered", "reason": None}


def test_a_fallback_is_told_at_the_end(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    server.says(status(401, b"no"))
    made = chat(ai, QUESTION, stream=True)
    events = read(ai, made["sessionId"])
    assert events[-1][2]["provider"]["status"] == "fallback"
    assert "Choose Forgot password" in said(events)
    (answer,) = [
        message
        for message in ai.get(f"/api/ai/sessions/{made['sessionId']}").json["messages"]
        if message["role"] == "assistant"
    ]
    assert (answer["model"], answer["status"]) == ("built-in", "completed")


def test_words_are_shown_before_the_answer_ends(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    go_on = threading.Event()

    def in_two_parts(request: BaseHTTPRequestHandler) -> None:
        begin(request)
        send(request, orjson.dumps(delta("Choose Forgot password on the sign-in page, and then")))
        go_on.wait(20)
        send(request, orjson.dumps(delta(" wait [1].", finish="stop")))
        send(request, b"[DONE]")

    server.says(in_two_parts)
    made = chat(ai, QUESTION, stream=True)
    answer = ai.get(
        "/api/ai/chat/stream", query_string={"sessionId": made["sessionId"]}, buffered=False
    )
    seen = ""
    for part in answer.response:
        seen += part.decode() if isinstance(part, bytes) else part
        if "sign-in" in seen:
            go_on.set()
    assert go_on.is_set()
    assert said(events_of(seen)).endswith("and then wait [1].")
    answer.close()


def test_a_canceled_answer_leaves_the_model(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    left = threading.Event()

    def talks_on(request: BaseHTTPRequestHandler) -> None:
        begin(request)
        try:
            for _ in range(2000):
                send(request, orjson.dumps(delta("and so on and on, ever further and further ")))
                time.sleep(0.01)
        except OSError:
            left.set()
            raise

    server.says(talks_on)
    made = chat(ai, QUESTION, stream=True)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not _reply(ai, made):
        time.sleep(0.05)
    canceled = ai.post(f"/api/ai/messages/{made['messageId']}/cancel")
    assert canceled.json["status"] == "canceled"
    assert left.wait(20)
    assert read(ai, made["sessionId"])[-1][2]["status"] == "canceled"


def test_two_answers_at_once(ai: Api, articles: dict[str, int], server: ModelServer) -> None:
    server.says(says("An hour [1]."))
    sessions = [chat(ai, QUESTION, stream=True)["sessionId"] for _ in range(4)]
    assert {said(read(ai, session)) for session in sessions} == {"An hour [1]."}


def _reply(api: Api, made: dict[str, Any]) -> str:
    messages = api.get(f"/api/ai/sessions/{made['sessionId']}").json["messages"]
    reply: str = messages[-1]["reply"]
    return reply
