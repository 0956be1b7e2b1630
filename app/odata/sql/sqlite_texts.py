"""Text functions for SQLite, whose own know ASCII only; no argument is null."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

_FIRST_MARK, _LAST_MARK = "\u0300", "\u036f"


def fold(text: str) -> str:
    """``text`` without case and accents: what searches compare."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(
        character for character in decomposed if not _FIRST_MARK <= character <= _LAST_MARK
    )
    return bare.upper().lower()


def substring(text: str, start: int) -> str:
    """From ``start`` (negative: from the end) on."""
    return text[start:] if start >= 0 else text[max(len(text) + start, 0) :]


def substring_of_length(text: str, start: int, length: int) -> str:
    """At most ``length`` characters (code points) from ``start`` on."""
    return substring(text, start)[: max(length, 0)]


def matches(text: str, pattern: str) -> bool:
    """Whether ``pattern`` (made by app/odata/sql/patterns.py) occurs in ``text``."""
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


# In JSON: a name of those between bars, and the number behind it; in PostgreSQL's syntax, too.
NUMBER_BEHIND = '("(?:{})": *)(-?[0-9][-+.0-9eE]*)'


def number_texts(json: str, names: str) -> str:
    """JSON whose numbers behind any of ``names``, with bars between, are strings."""
    return re.sub(NUMBER_BEHIND.format(names), r'\1"\2"', json)
