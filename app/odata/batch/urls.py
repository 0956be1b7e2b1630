"""The URL of a request in a batch: absolute, path-absolute or relative, made a path and a query."""

from __future__ import annotations

import re
from typing import NamedTuple

from app.errors import InvalidQueryError, UriTooLongError
from app.odata.batch.parts import BatchEdge, Part
from app.odata.syntax.path import read_path

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
