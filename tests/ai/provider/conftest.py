"""A scripted OpenAI-compatible server on loopback, and the service that is set to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest
from flask import Flask

from app.ai import answering
from app.ai.provider import completions
from app.extensions import configuration
from tests.ai.conftest import index
from tests.contract.conftest import Api, sign_in
from tests.kb.test_search import ARTICLES, make
from tests.receivers import Receiver, receiver

__all__ = ["Api", "index", "sign_in"]

PATH = "/v1/chat/completions"
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class ModelServer:
    """Says what the script says, one answer a request; the last one again and again."""

    receiver: Receiver
    script: list[Answer] = field(default_factory=list)
    asked: int = 0

    @property
    def base_url(self) -> str:
        return self.receiver.url("/v1")

    @property
    def requests(self) -> list[Any]:
        """The bodies of the requests so far."""
        return [taken.json for taken in self.receiver.at(PATH)]

    def says(self, *answers: Answer | str) -> None:
        """What it answers from now on; a text is a whole answer."""
        self.script = [says(one) if isinstance(one, str) else one for one in answers]
        self.asked = 0

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        one = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        one(request)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server that has nothing to say yet."""
    with receiver() as listening:
        made = ModelServer(listening)
        listening.answers[PATH] = made.answer
        yield made


@pytest.fixture
def make_ai(
    make_app: Callable[..., Flask], server: ModelServer, short_pauses: None
) -> Callable[..., Flask]:
    """Applications that ask the scripted server."""

    def make(**settings: Any) -> Flask:
        return make_app(**asking(server) | settings)

    return make


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are short."""
    monkeypatch.setattr(completions, "PAUSES", (0.01, 0.01))


@pytest.fixture
def ai(
    app: Flask, server: ModelServer, short_pauses: None, sign_in: Callable[..., Api]
) -> Iterator[Api]:
    """An administrator of a service with a model: the shared one, to which it is given."""
    plain = configuration.of(app)
    answering.init_app(app, replace(plain, **asking(server)))
    yield sign_in("Admin")
    answering.init_app(app, plain)


def asking(server: ModelServer) -> dict[str, Any]:
    """The settings of a service that asks the scripted server."""
    return {"AI_BASE_URL": server.base_url, "AI_API_KEY": "key-1", "AI_MODEL": "tiny"}


@pytest.fixture
def articles(ai: Api, index: Callable[[], None]) -> dict[str, int]:
    """Three articles, published and found."""
    keys = {name: make(ai, name) for name in ARTICLES}
    index()
    return keys


def says(text: str, *, finish: str = "stop", usage: tuple[int, int] | None = (100, 20)) -> Answer:
    """A streamed answer, word by word."""
    words = text.split(" ")
    chunks = [delta(word if place == 0 else f" {word}") for place, word in enumerate(words)]
    return stream(*chunks, delta(None, finish=finish), *([usage_of(*usage)] if usage else []))


def calls(*wanted: tuple[str, Any], text: str = "") -> Answer:
    """A streamed answer that asks for tools; the arguments come in pieces."""
    chunks = [delta(text)] if text else []
    for place, (name, arguments) in enumerate(wanted):
        written = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        half = len(written) // 2
        head = {"index": place, "id": f"c{place}", "type": "function",
                "function": {"name": name, "arguments": ""}}  # fmt: skip
        chunks.append(call(head))
        for part in (written[:half], written[half:]):
            chunks.append(call({"index": place, "function": {"arguments": part}}))
    return stream(*chunks, delta(None, finish="tool_calls"), usage_of(50, 10))


def stream(*chunks: Any, done: bool = True) -> Answer:
    """Events as servers send them, with a comment and an empty one among them."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        begin(request)
        request.wfile.write(b": hello\n\n")
        for chunk in chunks:
            send(request, orjson.dumps(chunk))
        if done:
            send(request, b"[DONE]")
        request.close_connection = True

    return answer


def begin(request: BaseHTTPRequestHandler) -> None:
    """The headers of a stream."""
    request.send_response(200)
    request.send_header("Content-Type", "text/event-stream; charset=utf-8")
    request.send_header("Connection", "close")
    request.end_headers()


def send(request: BaseHTTPRequestHandler, data: bytes) -> None:
    """One event."""
    request.wfile.write(b"data: " + data + b"\r\n\r\n")
    request.wfile.flush()


def delta(text: str | None, finish: str | None = None) -> dict[str, Any]:
    """A chunk with words."""
    said = {"content": text} if text is not None else {}
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def call(piece: dict[str, Any]) -> dict[str, Any]:
    """A chunk with a piece of a tool call."""
    return {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]}


def usage_of(read: int, written: int) -> dict[str, Any]:
    """The chunk with what was used; it has no choices."""
    return {"choices": [], "usage": {"prompt_tokens": read, "completion_tokens": written}}
