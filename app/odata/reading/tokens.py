"""``$skiptoken``: where a page begins, sealed so that nobody but the service makes one, and the
links that have one: the text of a query as it came, with a token in place of an earlier one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from app.odata.errors import QueryError
from app.odata.syntax.options import OptionTexts

# Options that say nothing about which rows a query has, or in which order.
_NOT_IN_QUERY = frozenset(("skiptoken", "format"))


@dataclass(frozen=True, slots=True)
class PageStart:
    """``after``: the sort keys of the last row shown; ``remaining``: rows that ``$top`` leaves."""

    after: Sequence[Any]
    remaining: int | None


# One key, or several: the last one makes tokens, the others are still read.
SecretKey = str | Sequence[bytes]


class TokenMaker:
    """Makes and reads tokens with the keys of the service."""

    def __init__(self, secret_key: SecretKey) -> None:
        self._serializer = URLSafeSerializer(secret_key, salt="odata-skiptoken")

    def make(self, start: PageStart, fingerprint: str) -> str:
        """The token of a page of the query that ``fingerprint`` stands for."""
        return self._serializer.dumps([fingerprint, start.remaining, *start.after])

    def read(self, token: str, fingerprint: str) -> PageStart:
        """What a token says.

        Raises: QueryError, it was not made here, or for another query.
        """
        try:
            made_for, remaining, *after = self._serializer.loads(token)
        except (BadData, ValueError, TypeError):
            raise QueryError("this token was not given by the service", 0, "$skiptoken") from None
        if made_for != fingerprint:
            raise QueryError("this token belongs to another query", 0, "$skiptoken")
        return PageStart(after, remaining)


def fingerprint(path: str, options: OptionTexts) -> str:
    """A short hash of what a query asks for, literals included."""
    pairs = sorted(
        (name, text) for name, text in options.system.items() if name not in _NOT_IN_QUERY
    )
    canonical = repr((path.lstrip("/"), pairs, sorted(options.aliases.items())))
    return hashlib.blake2s(canonical.encode(), digest_size=8).hexdigest()


def without_tokens(query: str, *names: str) -> str:
    """A query string without the options of these names, such as ``skiptoken``."""
    return "&".join(pair for pair in query.split("&") if pair and _option(pair) not in names)


def _option(pair: str) -> str:
    """The name of a system query option, in whatever way it is written."""
    return pair.partition("=")[0].replace("%24", "$").lower().removeprefix("$")


def next_link(root: str, path: str, query: str, token: str, name: str = "skiptoken") -> str:
    """The address that goes on from a token.

    Args:
        root: the address of the service, with a slash at its end.
        query: without an earlier token, percent-encoded.
    """
    prefix = f"{query}&" if query else ""
    return f"{root}{path.lstrip('/')}?{prefix}${name}={token}"
