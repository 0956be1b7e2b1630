"""How an answer becomes what WSGI wants: the common one in the straightest way.

Werkzeug looks at every header and takes addresses apart and together again, which for a small
answer costs as much as reading the row that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from flask import Response

_COMMON = frozenset((200, 201))
# Headers that Werkzeug may have to change. What an address of ours consists of needs no change.
_ADDRESSES = frozenset(("location", "content-location"))
# What the common answer has, as it is spelled here.
_UNCHANGED = frozenset((
    "Content-Type", "Content-Length", "OData-Version", "ETag", "Vary", "Preference-Applied",
))  # fmt: skip
_PLAIN_ADDRESS = re.compile(r"[a-z]+://[a-z0-9.:-]+/[\w/()',=:@!$*;.~%-]*", re.ASCII)


class Leaving:
    """An answer on its way out."""

    __slots__ = ("_response",)

    def __init__(self, response: Response) -> None:
        self._response = response

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Start the answer and return its body."""
        response = self._response
        body = response.response
        if (
            response.status_code in _COMMON
            and type(response) is Response
            and type(body) is list
            and len(body) == 1
            and type(body[0]) is bytes
            and environ["REQUEST_METHOD"] != "HEAD"
        ):
            headers = response.headers.to_wsgi_list()
            if _is_plain(headers):
                start_response(response.status, headers)
                return _Body(body, response.close)
        return response(environ, start_response)


class _Body(list[bytes]):
    """The whole body; ``close`` is called when it has been sent (PEP 3333)."""

    __slots__ = ("close",)

    def __init__(self, parts: Iterable[bytes], close: Callable[[], None]) -> None:
        super().__init__(parts)
        self.close = close


def _is_plain(headers: list[tuple[str, str]]) -> bool:
    """Whether the headers can leave as they are: with a length, addresses written as they go."""
    names = [name for name, _ in headers]
    if _UNCHANGED.issuperset(names):
        return "Content-Length" in names
    has_length = False
    for name, value in headers:
        lowered = name.lower()
        if lowered == "content-length":
            has_length = True
        elif lowered in _ADDRESSES and not _PLAIN_ADDRESS.fullmatch(value):
            return False
    return has_length
