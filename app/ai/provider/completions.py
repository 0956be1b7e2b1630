"""Asking the server: one exchange, tried again while nothing was said and time is left.

A reply is put together from the chunks that the server sends.
"""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import structlog

from app.ai.provider.health import (
    BROKE_OFF,
    BUSY,
    FAILED,
    FILTERED,
    MALFORMED,
    REFUSED,
    TIMED_OUT,
    UNREACHABLE,
    ProviderError,
)
from app.ai.provider.options import Options
from app.outbound.addresses import OutboundError

if TYPE_CHECKING:
    from app.outbound.client import Client, StreamedAnswer

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
        for choice in choices[:1] if isinstance(choices, list) else ():
            delta = _mapping(choice).get(name)
            pieces = _mapping(delta).get("tool_calls")
            for piece in pieces if isinstance(pieces, list) else ():
                self._take_call(_mapping(piece))
            words = _mapping(delta).get("content")
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


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any, known: int | None) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 10_000_000 else known


LONGEST_LINE = 256_000
# An answer of 4,000 tokens is some 1 MB of events.
MOST_BYTES = 16_000_000
TRIES = 3
# Seconds before the second and the third try; what Retry-After says goes before, if it is short.
PAUSES = (0.5, 2.0)
LONGEST_PAUSE = 10.0
# Who asks has the built-in answer within fifteen seconds when the model says nothing.
SILENCE = 12.0
WORTH_ANOTHER_TRY = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
# Members that not every server takes; one that names them in its refusal is asked without.
OPTIONAL = ("stream_options", "temperature", "max_tokens")
MOST_WHOLE_BYTES = 1_000_000

_log = structlog.get_logger()
Messages = Sequence[Mapping[str, Any]]


def ask(
    options: Options,
    messages: Messages,
    tools: Messages,
    reply: Reply,
    until: float,
    *,
    may_call: bool = True,
) -> Generator[str]:
    """The words of the model's reply as they come; ``reply`` has all of it at the end.

    Args:
        may_call: whether the model may ask for tools, or is to speak now.
        until: by ``time.monotonic()``; nothing lasts longer.
    Raises: ProviderError.
    """
    body: dict[str, Any] = {
        "model": options.model, "messages": list(messages), "stream": True, "temperature": 0,
        "stream_options": {"include_usage": True}, "max_tokens": options.answer_tokens,
    }  # fmt: skip
    if tools:
        body |= {"tools": list(tools), "tool_choice": "auto" if may_call else "none"}
    tries = 0
    while True:
        try:
            yield from _exchange(options, body, reply, until)
            return
        except _AnotherFormError as form:
            body = form.body
        except _AgainError as again:
            tries += 1
            pause = _pause(tries, again.after)
            if tries >= TRIES or time.monotonic() + pause > until:
                raise again.error from again
            time.sleep(pause)


class _AgainError(Exception):
    """Nothing was said yet: the same question may be asked again."""

    def __init__(self, error: ProviderError, after: float | None = None) -> None:
        super().__init__(error.reason)
        self.error = error
        self.after = after


class _AnotherFormError(Exception):
    """The server does not take the request in this form."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("another form")
        self.body = body


def _exchange(options: Options, body: dict[str, Any], reply: Reply, until: float) -> Iterator[str]:
    headers = {
        "Content-Type": "application/json", "Accept": "text/event-stream",
        "User-Agent": "business-platform",
    }  # fmt: skip
    if options.key:
        headers["Authorization"] = f"Bearer {options.key}"
    left = until - time.monotonic()
    if left <= 0:
        raise ProviderError(TIMED_OUT)
    has_begun = False
    try:
        with _client().stream(
            "POST", options.url, headers, orjson.dumps(body), seconds=left, silence=SILENCE
        ) as answer:
            if answer.status != 200:
                _refuse(answer, body)
            has_begun = True
            if "event-stream" in answer.headers.get("content-type", ""):
                yield from reply.read(event_data(answer.parts()))
            else:
                yield from reply.read_whole(answer.read(MOST_WHOLE_BYTES))
    except OutboundError as error:
        _log.warning("the model provider did not answer", problem=str(error))
        is_late = "in time" in str(error)
        problem = ProviderError(TIMED_OUT if is_late else UNREACHABLE)
        if has_begun or is_late:
            raise problem from error
        raise _AgainError(problem) from error


@cache
def _client() -> Client:
    from app.outbound.client import Client  # large: loaded by who has a model to ask

    return Client(allow_private=True)


def _refuse(answer: StreamedAnswer, body: dict[str, Any]) -> None:
    """Say why there is no answer; what the server says of it goes to the log alone."""
    refusal = answer.read(4000).decode(errors="replace")
    _log.warning("the model provider refused", status=answer.status, said=refusal[:500])
    if answer.status in (400, 422):
        for name in OPTIONAL:
            if name in body and name in refusal:
                raise _AnotherFormError(_without(body, name, refusal))
    if answer.status in WORTH_ANOTHER_TRY:
        error = ProviderError(BUSY if answer.status == 429 else FAILED)
        raise _AgainError(error, _seconds(answer.headers.get("retry-after")))
    raise ProviderError(REFUSED)


def _without(body: Mapping[str, Any], name: str, refusal: str) -> dict[str, Any]:
    """The request without a member that the server does not know, or under its newer name."""
    changed = {key: value for key, value in body.items() if key != name}
    if name == "max_tokens" and "max_completion_tokens" in refusal:
        changed["max_completion_tokens"] = body[name]
    return changed


def _pause(tries: int, after: float | None) -> float:
    pause = PAUSES[min(tries, len(PAUSES)) - 1] * random.uniform(0.75, 1.25)
    if after is None:
        return pause
    return after if after <= LONGEST_PAUSE else float("inf")


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() and len(header) < 6 else None


def event_data(parts: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, its lines joined; comments and other fields are passed over.

    An event that is not ended by an empty line still counts: some servers end so.
    Raises: ProviderError, a line or the whole is longer than any answer, or is no UTF-8.
    """
    data: list[str] = []
    for line in _lines(parts):
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                data.append(value.removeprefix(" "))
        elif data:
            yield "\n".join(data)
            data.clear()
    if data:
        yield "\n".join(data)


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """Lines without their ends, which are CR LF or LF; nobody sends the CR that is allowed too."""
    buffer = bytearray()
    total = 0
    for part in parts:
        total += len(part)
        buffer += part
        if total > MOST_BYTES or len(buffer) > LONGEST_LINE:
            raise ProviderError(MALFORMED)
        *whole, rest = buffer.split(b"\n")
        buffer = bytearray(rest)
        yield from map(_text, whole)
    if buffer:
        yield _text(buffer)


def _text(line: bytes | bytearray) -> str:
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ProviderError(MALFORMED) from error
