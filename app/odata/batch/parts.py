"""The requests of a batch as plain values, the same for both forms, and what the edge does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from flask import Response
from werkzeug.datastructures import Headers

from app.errors import ApiError, TooLargeError

# What names a request (ABNF ``request-id``); some clients use more of what a header can hold.
REQUEST_ID = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True)
class Part:
    """One request.

    ``url`` is as written, ``body`` the bytes as they would come alone. ``depends_on`` are ids of
    requests and groups before it; ``condition`` the text of ``if``. ``problem`` is why it cannot
    be tried: its answer (Protocol 11.7).
    """

    method: str
    url: str
    headers: Headers
    body: bytes = b""
    id: str | None = None
    depends_on: tuple[str, ...] = ()
    condition: str | None = None
    problem: ApiError | None = None


@dataclass(frozen=True)
class Unit:
    """What is done whole or not at all: one request, or the requests of a group."""

    parts: tuple[Part, ...]
    group: str | None = None  # its name; of a change set, which has none, the empty text


@dataclass(frozen=True)
class Result:
    """The answers to a unit, one for each part.

    ``failed`` when it was undone, because of the answer at ``cause``.
    """

    unit: Unit
    answers: tuple[Response, ...]
    failed: bool = False
    cause: int = 0


@dataclass(frozen=True)
class BatchEdge:
    """What the edge does with requests, for those of a batch.

    ``refused`` makes the answer to what a part raised, given its method and path; it runs after the
    part was undone. ``charge`` counts requests against the caller's limit, and raises.
    """

    refused: Callable[[Exception, str, str], Response]
    charge: Callable[[int], None]
    most: int = 100
    longest_url: int = 16_384
    hosts: Callable[[], tuple[str, ...]] = field(default=tuple)


def refuse_too_many(count: int, most: int) -> None:
    """Check the number of requests.

    Raises: TooLargeError.
    """
    if count > most:
        raise TooLargeError(f"A batch has {most} requests at most, this one has more.")
