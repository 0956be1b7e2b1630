"""Server-sent events as a client reads them (HTML standard, 9.2.6): only their data is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.ai.provider.errors import MALFORMED, ProviderError

LONGEST_LINE = 256_000
# An answer of 4,000 tokens is some 1 MB of events.
MOST_BYTES = 16_000_000


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
            raise ProviderError(MALFORMED)
        *whole, rest = held.split(b"\n")
        held = bytearray(rest)
        yield from map(_text, whole)
    if held:
        yield _text(held)


def _text(line: bytes | bytearray) -> str:
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ProviderError(MALFORMED) from error
