"""The requests of a batch as plain values, the same for both forms; where each goes, and what the
edge does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from flask import Response
from werkzeug.datastructures import Headers

from app.errors import ApiError, InvalidQueryError, TooLargeError, UriTooLongError
from app.odata.syntax.path import read_path

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


_ABSOLUTE = re.compile(r"https?://([^/?#]*)(/[^?#]*)?", re.IGNORECASE)
# First segments that are the service's own, whatever a request of the batch is called.
SYSTEM_RESOURCES = ("batch", "crossjoin", "all", "entity", "root", "id", "metadata", "async")


class Address(NamedTuple):
    """``path`` below the service root and ``query``, both percent-encoded."""

    path: str
    query: str


def address_of(part: Part, roots: tuple[str, ...], edge: BatchEdge) -> Address:
    """Where a request goes.

    Args:
        roots: addresses of the service, absolute or path-absolute, a slash at the end of each.
    Raises: InvalidQueryError, not to this service, or to its ``$batch``; UriTooLongError.
    """
    url = part.url
    if len(url) > edge.longest_url:
        raise UriTooLongError(f"The address has more than {edge.longest_url} bytes.")
    if "#" in url:
        raise InvalidQueryError("The URL of a request has no fragment.")
    hosts = (*edge.hosts(), *(match[1] for root in roots if (match := _ABSOLUTE.match(root))))
    absolute = _ABSOLUTE.match(url)
    if absolute is not None:
        _require_ours(absolute[1], hosts)
        url = url[absolute.end(1) :] or "/"
    elif "://" in url.partition("?")[0]:
        raise InvalidQueryError("The URL of a request is one of HTTP, or relative.")
    if url.startswith("/"):
        if "Host" in part.headers:
            _require_ours(part.headers["Host"], hosts)
        url = _below_root(url, roots)
    path, _, query = url.partition("?")
    if read_path(path).text.strip("/").partition("/")[0].lower() == "$batch":
        raise InvalidQueryError("A batch has no batches in it.")
    return Address(path, query)


def _require_ours(host: str, hosts: tuple[str, ...]) -> None:
    if host.lower() not in {alias.lower() for alias in hosts}:
        raise InvalidQueryError("A request of a batch stays within this service.")


def _below_root(url: str, roots: tuple[str, ...]) -> str:
    for root in sorted(roots, key=len, reverse=True):
        match = _ABSOLUTE.match(root)
        path = root[match.end(1) :] if match else root
        if url.startswith(path):
            return url[len(path) :]
        if url.partition("?")[0] == path.rstrip("/"):
            return url[len(path) - 1 :]
    raise InvalidQueryError("A request of a batch stays below the root of this service.")
