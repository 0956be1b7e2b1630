"""A provider that is slow, cut, wrong or away: the built-in assistant answers, and says so."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.ai.answering import INSTEAD
from app.ai.provider import completions, health
from app.db.engines import primary_engine
from app.models.assistant import AiUsage
from tests.ai.conftest import chat
from tests.ai.provider.conftest import (
    Answer,
    ModelServer,
    begin,
    delta,
    says,
    send,
    stream,
)
from tests.contract.conftest import Api
from tests.receivers import cut, garbage, hang, status, trickle_headers

QUESTION = "How do I reset my password?"
LONG = "The link that arrives by mail within a few minutes"
BUILT_IN_SAYS = "Choose Forgot password on the sign-in page. [1]"


def malformed(request: BaseHTTPRequestHandler) -> None:
    """An event that is no JSON."""
    begin(request)
    send(request, b'{"choices": [{"del')
    request.close_connection = True


def no_utf8(request: BaseHTTPRequestHandler) -> None:
    """An event that is no text."""
    begin(request)
    send(request, b'{"choices": "\xff\xfe"}')
    request.close_connection = True


def endless_line(request: BaseHTTPRequestHandler) -> None:
    """A line without an end."""
    begin(request)
    while not request.server.closing.is_set():  # type: ignore[attr-defined]
        request.wfile.write(b"data: " + b"x" * 65_536)


def endless_words(request: BaseHTTPRequestHandler) -> None:
    """Words without an end."""
    begin(request)
    while not request.server.closing.is_set():  # type: ignore[attr-defined]
        send(request, b'{"choices":[{"delta":{"content":"' + b"word " * 400 + b'"}}]}')


def endless_comments(request: BaseHTTPRequestHandler) -> None:
    """Signs of life, and never a word."""
    begin(request)
    while not request.server.closing.wait(0.05):  # type: ignore[attr-defined]
        request.wfile.write(b": still here\n\n")
        request.wfile.flush()


def silent_after_a_word(request: BaseHTTPRequestHandler) -> None:
    """A word, and then nothing."""
    begin(request)
    send(request, b'{"choices":[{"delta":{"content":"Well"}}]}')
    request.server.closing.wait(60)  # type: ignore[attr-defined]


def calls_without_end(request: BaseHTTPRequestHandler) -> None:
    """More tools than anybody asks for."""
    pieces = [
        {"choices": [{"delta": {"tool_calls": [{"index": place, "function": {"name": "x"}}]}}]}
        for place in range(50)
    ]
    stream(*pieces)(request)


FAULTS: dict[str, tuple[Answer, str]] = {
    "500": (status(500, b"broken"), "the provider failed"),
    "503": (status(503, b"", Retry_After="600"), "the provider failed"),
    "odd pause": (status(503, b"", Retry_After="\u00b2"), "the provider failed"),
    "429": (status(429, b"slow down"), "the provider has too much to do"),
    "401": (status(401, b"who are you"), "the provider refused the request"),
    "404": (status(404, b"no such model"), "the provider refused the request"),
    "redirect": (status(302, Location="http://127.0.0.1:1/"), "the provider refused the request"),
    "no http": (garbage, "the provider was not reached"),
    "cut at once": (cut, "the provider was not reached"),
    "html": (status(200, b"<h1>Welcome</h1>"), "the answer could not be read"),
    "empty body": (status(200, b""), "the answer could not be read"),
    "no choices": (status(200, b"{}"), "the answer could not be read"),
    "malformed": (malformed, "the answer could not be read"),
    "no utf-8": (no_utf8, "the answer could not be read"),
    "error event": (stream({"error": {"message": "out of memory"}}), "the provider failed"),
    "list event": (stream([1, 2]), "the answer could not be read"),
    "empty": (stream(delta(None, finish="stop")), "the answer was empty"),
    "cut before a word": (stream(done=False), "the answer broke off"),
    "filtered": (stream(delta(None, finish="content_filter")), "the provider held the answer back"),
    "endless line": (endless_line, "the answer could not be read"),
    "calls without end": (calls_without_end, "the answer could not be read"),
}


@pytest.mark.requirement("OPS-20")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.only_on("sqlite")
def test_the_built_in_assistant_answers_instead(
    ai: Api, articles: dict[str, int], server: ModelServer, fault: str
) -> None:
    answer, reason = FAULTS[fault]
    server.says(answer)
    found = chat(ai, QUESTION)
    assert found["provider"] == {"status": "fallback", "reason": reason}
    assert (found["status"], found["model"]) == ("completed", "built-in")
    assert found["reply"].startswith(BUILT_IN_SAYS)
    assert found["citations"][0]["id"] == articles["password"]


@pytest.mark.parametrize(
    "broken",
    [
        stream(delta(LONG), delta(" works"), done=False),
        stream(delta(LONG), {"error": {"code": 500}}),
        endless_words,
    ],
    ids=["cut", "error", "endless"],
)
def test_what_was_said_before_it_broke_off_stays(
    ai: Api, articles: dict[str, int], server: ModelServer, broken: Answer
) -> None:
    server.says(broken)
    found = chat(ai, QUESTION)
    before, instead, after = found["reply"].partition(INSTEAD)
    assert before and instead
    assert after.removeprefix("\n\n").startswith(BUILT_IN_SAYS)
    assert found["provider"]["status"] == "fallback"
    used = found["usage"]
    assert used["inputTokens"] > 0 and used["outputTokens"] > 0
    with ai.client.application.app_context(), primary_engine().connect() as connection:
        counted = connection.execute(select(AiUsage.input_tokens, AiUsage.output_tokens)).one()
    assert tuple(counted) == (used["inputTokens"], used["outputTokens"])


@pytest.mark.requirement("OPS-20")
@pytest.mark.parametrize(
    "slow",
    [hang, trickle_headers, endless_comments, silent_after_a_word],
    ids=lambda one: one.__name__,
)
@pytest.mark.only_on("sqlite")
def test_an_answer_has_an_end(
    make_ai: Callable[..., Flask], sign_in: Callable[..., Api], articles: dict[str, int],
    ai: Api, server: ModelServer, slow: Answer,
) -> None:  # fmt: skip
    server.says(slow)
    quick = Api(make_ai(AI_TIMEOUT_SECONDS=1).test_client(), ai.headers)
    found = chat(quick, QUESTION)
    assert found["provider"] == {"status": "fallback", "reason": "no answer came in time"}
    assert BUILT_IN_SAYS in found["reply"]


@pytest.mark.only_on("sqlite")
def test_a_model_that_falls_silent_is_left(
    ai: Api, articles: dict[str, int], server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completions, "SILENCE", 0.3)
    server.says(silent_after_a_word)
    assert chat(ai, QUESTION)["provider"]["reason"] == "no answer came in time"


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503])
@pytest.mark.only_on("sqlite")
def test_what_may_pass_is_tried_again(
    ai: Api, articles: dict[str, int], server: ModelServer, code: int
) -> None:
    server.says(status(code, b""), status(code, b"", Retry_After="0"), says("An hour [1]."))
    found = chat(ai, QUESTION)
    assert (found["reply"], found["provider"]["status"]) == ("An hour [1].", "answered")
    assert len(server.requests) == 3


@pytest.mark.only_on("sqlite")
def test_what_will_not_pass_is_asked_once(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    server.says(status(401, b""))
    chat(ai, QUESTION)
    assert len(server.requests) == 1


@pytest.mark.only_on("sqlite")
def test_nothing_is_asked_again_once_a_word_came(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    server.says(stream(delta("The"), done=False), says("again"))
    chat(ai, QUESTION)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("said", "gone", "new"),
    [
        (b"Use 'max_completion_tokens' instead of 'max_tokens'", "max_tokens",
         "max_completion_tokens"),
        (b"temperature does not support 0", "temperature", None),
        (b"unknown field stream_options", "stream_options", None),
    ],
    ids=["max_tokens", "temperature", "stream_options"],
)  # fmt: skip
@pytest.mark.only_on("sqlite")
def test_a_member_that_a_server_does_not_take_is_left_out(
    ai: Api, articles: dict[str, int], server: ModelServer, said: bytes, gone: str, new: str | None
) -> None:
    server.says(status(400, said), says("An hour [1]."))
    assert chat(ai, QUESTION)["reply"] == "An hour [1]."
    assert gone not in server.requests[1]
    assert new is None or server.requests[1][new] == 1000


@pytest.mark.requirement("OPS-20")
@pytest.mark.only_on("sqlite")
def test_a_provider_that_keeps_failing_is_left_alone(
    ai: Api, articles: dict[str, int], server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.says(status(401, b""))
    for _ in range(health.FAILURES):
        chat(ai, QUESTION)
    assert ai.get("/readyz").json["checks"]["assistant"] == "provider fails"
    asked = len(server.requests)
    server.says(says("An hour [1]."))
    found = chat(ai, QUESTION)
    assert len(server.requests) == asked
    assert "left alone" in found["provider"]["reason"]
    monkeypatch.setattr(health, "REST_SECONDS", 0.0)
    assert chat(ai, QUESTION)["reply"] == "An hour [1]."
    assert ai.get("/readyz").json["checks"]["assistant"] == "ok"


@pytest.mark.only_on("sqlite")
def test_nobody_listens(make_ai: Callable[..., Flask], ai: Api, articles: dict[str, int]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        away = Api(make_ai(AI_BASE_URL=url).test_client(), ai.headers)
        found = chat(away, QUESTION)
    assert found["provider"] == {"status": "fallback", "reason": "the provider was not reached"}


def test_the_budget_of_a_day(
    make_ai: Callable[..., Flask], sign_in: Callable[..., Api], ai: Api,
    articles: dict[str, int], server: ModelServer,
) -> None:  # fmt: skip
    server.says(says("An hour [1].", usage=(60, 50)))
    app = make_ai(AI_BUDGET_TOKENS=200)
    thrifty = Api(app.test_client(), ai.headers)
    reasons = [chat(thrifty, QUESTION)["provider"]["reason"] for _ in range(3)]
    assert reasons == [None, None, "the budget of today is spent"]
    # It is counted for each caller, in the database.
    other = sign_in("Manager", app=app)
    assert chat(other, QUESTION)["provider"]["status"] == "answered"
    again = Api(make_ai(AI_BUDGET_TOKENS=200).test_client(), ai.headers)
    assert chat(again, QUESTION)["provider"]["status"] == "fallback"


def test_writers_do_not_wait_for_the_model(
    ai: Api, articles: dict[str, int], server: ModelServer
) -> None:
    seen: list[Any] = []

    def writes_meanwhile(request: BaseHTTPRequestHandler) -> None:
        other = Api(ai.client.application.test_client(), ai.headers)
        seen.append(other.post("/odata/Clients", {"name": "Acme"}).status_code)
        says("An hour [1].")(request)

    server.says(writes_meanwhile)
    first = chat(ai, QUESTION)
    chat(ai, QUESTION, sessionId=first["sessionId"])
    assert seen == [201, 201]
