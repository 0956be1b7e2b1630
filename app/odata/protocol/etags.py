"""Entity tags: made of the row version, compared weakly (Protocol 8.2.4; RFC 9110, 8.8.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from werkzeug.datastructures import Headers

from app.errors import PreconditionFailedError

_TAG = re.compile(r'\s*(?:(?:W/)?"(?P<opaque>[\x21\x23-\x7e\x80-\U0010ffff]*)"|\*)\s*(?:,|$)')


def format_etag(version: int) -> str:
    """The weak tag of a row version: ``W/"5"``; weak, because one row has many representations."""
    return f'W/"{version}"'


@dataclass(frozen=True)
class Precondition:
    """The tags of ``If-Match`` or ``If-None-Match``, without their quotes and ``W/``."""

    tags: frozenset[str] = frozenset()
    any: bool = False

    def matches(self, version: int | None) -> bool:
        """Whether an existing entity of this version is meant; None: the entity has no version."""
        return self.any or (version is not None and str(version) in self.tags)

    @property
    def version(self) -> int | None:
        """The one version that is meant; None when there are several or none that could be."""
        if self.any or len(self.tags) != 1:
            return None
        (tag,) = self.tags
        return int(tag) if tag.isascii() and tag.isdigit() and len(tag) <= 18 else None


def parse_precondition(header: str | None) -> Precondition | None:
    """The tags of a header; None when it was not sent.

    A text that is no list of tags matches nothing: the request was conditional, and a condition
    that cannot be understood must not count as fulfilled.
    """
    if header is None:
        return None
    tags: set[str] = set()
    position = 0
    while position < len(header):
        match = _TAG.match(header, position)
        if match is None:
            return Precondition()
        if match["opaque"] is None:
            return Precondition(any=True)
        tags.add(match["opaque"])
        position = match.end()
    return Precondition(frozenset(tags))


def unconditional(headers: Headers | Mapping[str, str]) -> Headers:
    """The headers of a request without its conditions: they were met, or concern something else."""
    plain = Headers(headers)
    plain.remove("If-Match")
    plain.remove("If-None-Match")
    return plain


def refuse_tags(precondition: Precondition | None) -> None:
    """Check ``If-Match`` against what has no tag: a collection, a number, an operation.

    Raises: PreconditionFailedError, the client names a tag that cannot be its.
    """
    if precondition is not None and not precondition.any:
        raise PreconditionFailedError(
            "What is addressed has no ETag: If-Match can only be * here, or be left out."
        )


def refuse_stale(precondition: Precondition | None, version: int | None) -> None:
    """Check ``If-Match`` against the entity as it stands.

    Raises: PreconditionFailedError, the client has seen another version.
    """
    if precondition is not None and not precondition.matches(version):
        raise PreconditionFailedError(
            "The record was changed by somebody else meanwhile: read it again, then repeat."
        )
