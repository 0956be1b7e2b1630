"""Asking the server: one exchange, tried again while nothing was said and time is left."""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import structlog

from app.ai.provider import errors
from app.ai.provider.options import Options
from app.ai.provider.replies import Reply
from app.outbound.addresses import OutboundError

if TYPE_CHECKING:
    from app.outbound.client import Client, StreamedAnswer

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

    def __init__(self, error: errors.ProviderError, after: float | None = None) -> None:
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
        raise errors.ProviderError(errors.TIMED_OUT)
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
        problem = errors.ProviderError(errors.TIMED_OUT if is_late else errors.UNREACHABLE)
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
        error = errors.ProviderError(errors.BUSY if answer.status == 429 else errors.FAILED)
        raise _AgainError(error, _seconds(answer.headers.get("retry-after")))
    raise errors.ProviderError(errors.REFUSED)


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
    held = bytearray()
    total = 0
    for part in parts:
        total += len(part)
        held += part
        if total > MOST_BYTES or len(held) > LONGEST_LINE:
            raise errors.ProviderError(errors.MALFORMED)
        *whole, rest = held.split(b"\n")
        held = bytearray(rest)
        yield from map(_text, whole)
    if held:
        yield _text(held)


def _text(line: bytes | bytearray) -> str:
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError as error:
        raise errors.ProviderError(errors.MALFORMED) from error
