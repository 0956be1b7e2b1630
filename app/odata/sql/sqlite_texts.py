"""Text functions for SQLite, whose own know ASCII only."""

from __future__ import annotations

import base64
import unicodedata
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

_FIRST_MARK, _LAST_MARK = "\u0300", "\u036f"


def lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def upper(text: str | None) -> str | None:
    return None if text is None else text.upper()


def fold(text: str | None) -> str | None:
    """``text`` without case and accents: what searches compare."""
    if text is None:
        return None
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(
        character for character in decomposed if not _FIRST_MARK <= character <= _LAST_MARK
    )
    return bare.upper().lower()


def substring(text: str | None, start: int | None, length: int | None = 0) -> str | None:
    """From ``start`` (negative: from the end) on; see ``substring_of_length``."""
    if text is None or start is None or length is None:
        return None
    return text[start:] if start >= 0 else text[max(len(text) + start, 0) :]


def substring_of_length(text: str | None, start: int | None, length: int | None) -> str | None:
    """At most ``length`` characters (code points) from ``start`` on."""
    rest = substring(text, start, length)
    return None if rest is None or length is None else rest[: max(length, 0)]


def matches(text: str | None, pattern: str | None) -> bool | None:
    """Whether ``pattern`` (made by app/odata/sql/patterns.py) occurs in ``text``."""
    if text is None or pattern is None:
        return None
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


def base64url(data: bytes | None) -> str | None:
    return None if data is None else base64.urlsafe_b64encode(data).decode().rstrip("=")
