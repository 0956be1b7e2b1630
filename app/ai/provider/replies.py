"""One reply of the model, put together from the chunks that a server sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.ai.provider.errors import BROKE_OFF, FAILED, FILTERED, MALFORMED, ProviderError

DONE = "[DONE]"
# Tools are asked for a few at a time, with a few words each.
MOST_CALLS = 8
LONGEST_ARGUMENTS = 20_000
LONGEST_TEXT = 60_000


@dataclass
class Call:
    """A tool that the model wants used; ``arguments`` is the JSON text as it wrote it."""

    key: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Reply:
    """What the model has said; complete when ``read`` has ended.

    ``finish``: ``stop``, ``tool_calls`` or ``length``. Tokens are None where the server is silent.
    """

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None

    def read(self, events: Iterable[str]) -> Iterator[str]:
        """Take the events of a stream in; yields the words as they come.

        Raises: ProviderError, an event is none, tells of an error, or the stream broke off.
        """
        is_done = False
        for data in events:
            if data.strip() == DONE:
                is_done = True
                break
            yield from self._take(_object(data), "delta")
        if not (is_done or self.finish):
            raise ProviderError(BROKE_OFF)
        self._check()

    def read_whole(self, body: bytes) -> Iterator[str]:
        """Take in an answer that did not come as a stream.

        Raises: ProviderError.
        """
        reply = _object(body)
        yield from self._take(reply, "message")
        if not reply.get("choices"):
            raise ProviderError(MALFORMED)
        self._check()

    def _take(self, chunk: Mapping[str, Any], name: str) -> Iterator[str]:
        if chunk.get("error"):
            raise ProviderError(FAILED)
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            choices = []
        for choice in choices[:1]:
            said = _mapping(choice).get(name)
            for piece in _list(_mapping(said).get("tool_calls")):
                self._take_call(_mapping(piece))
            words = _mapping(said).get("content")
            if isinstance(words, str) and words:
                self.text += words
                yield words
            finish = _mapping(choice).get("finish_reason")
            if isinstance(finish, str):
                self.finish = finish
        if len(self.text) > LONGEST_TEXT:
            raise ProviderError(BROKE_OFF)

    def _take_call(self, piece: Mapping[str, Any]) -> None:
        """The name comes first, the arguments in pieces; a call is known by its place."""
        index = piece.get("index")
        if not isinstance(index, int):
            index = len(self.calls)
        if not 0 <= index < MOST_CALLS:
            raise ProviderError(MALFORMED)
        while len(self.calls) <= index:
            self.calls.append(Call())
        call = self.calls[index]
        function = _mapping(piece.get("function"))
        call.key = call.key or _string(piece.get("id"))
        call.name = call.name or _string(function.get("name"))
        call.arguments += _string(function.get("arguments"))
        if len(call.arguments) > LONGEST_ARGUMENTS:
            raise ProviderError(MALFORMED)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, Mapping):
            self.input_tokens = _count(usage.get("prompt_tokens"), self.input_tokens)
            self.output_tokens = _count(usage.get("completion_tokens"), self.output_tokens)

    def _check(self) -> None:
        if self.finish == "content_filter":
            raise ProviderError(FILTERED)
        self.calls = [call for call in self.calls if call.name]
        for number, call in enumerate(self.calls, 1):
            call.key = call.key or f"call_{number}"


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ProviderError(MALFORMED) from error
    if not isinstance(value, Mapping):
        raise ProviderError(MALFORMED)
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any, known: int | None) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 10_000_000 else known
