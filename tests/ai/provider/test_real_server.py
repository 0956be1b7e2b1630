"""A real model on a real server: the protocol as it is spoken, not the quality of its answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.ai.provider.completions import Reply, ask
from app.ai.provider.options import Options
from tests.ai.conftest import chat, index, sign_in
from tests.ai.test_streams import read, said
from tests.contract.conftest import Api
from tests.kb.test_search import ARTICLES, make
from tests.services import SERVICES

__all__ = ["index", "sign_in"]

pytestmark = [pytest.mark.needs("model"), pytest.mark.only_on("sqlite")]
URL = SERVICES["model"].url
SECONDS = 300
TOOL = {
    "type": "function",
    "function": {
        "name": "search_kb", "description": "Search the knowledge base.",
        "parameters": {
            "type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"],
        },
    },
}  # fmt: skip


def options(**changes: Any) -> Options:
    given: dict[str, Any] = {
        "url": f"{URL}/chat/completions", "model": "smollm2", "seconds": SECONDS,
        "answer_tokens": 24, "day_tokens": 0, "redacted": frozenset(),
    }  # fmt: skip
    return Options(**given | changes)


def test_words_and_tokens_arrive() -> None:
    reply = Reply()
    messages = [{"role": "user", "content": "Say hello."}]
    pieces = list(ask(options(), messages, [], reply, time.monotonic() + SECONDS))
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text
    assert reply.finish in ("stop", "length")
    assert reply.input_tokens and reply.output_tokens


def test_tools_and_their_results_are_taken() -> None:
    reply = Reply()
    call = {"id": "c1", "type": "function", "function": {"name": "search_kb", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How long does the link work?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"data": "The link works an hour."}'},
    ]
    for may_call in (True, False):
        reply = Reply()
        until = time.monotonic() + SECONDS
        list(ask(options(), messages, [TOOL], reply, until, may_call=may_call))
        assert reply.finish in ("stop", "length", "tool_calls")


def test_the_service_answers_with_it(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], index: Callable[[], None]
) -> None:
    app = make_app(
        AI_BASE_URL=URL, AI_MODEL="smollm2", AI_TIMEOUT_SECONDS=SECONDS, AI_MAX_TOKENS=40
    )
    api = sign_in("Admin", app=app)
    for name in ARTICLES:
        make(api, name)
    index()
    answer = chat(api, "How do I reset my password?")
    assert answer["provider"] == {"status": "answered", "reason": None}
    assert answer["model"] == "smollm2"
    assert answer["usage"]["inputTokens"] > 100
    assert answer["reply"]
    made = chat(api, "How do I reset my password?", stream=True)
    events = read(api, made["sessionId"])
    assert said(events)
    assert events[-1][2]["provider"]["status"] == "answered"
