"""Collections within collections for SQLite: arrays of texts and null, as JSON."""

from __future__ import annotations

from collections import Counter

import orjson


def has_subset(whole: str | None, part: str | None) -> bool | None:
    """Whether each member of ``part`` stands in ``whole`` at least as often."""
    if whole is None or part is None:
        return None
    return not Counter(orjson.loads(part)) - Counter(orjson.loads(whole))


def has_subsequence(whole: str | None, part: str | None) -> bool | None:
    """Whether the members of ``part`` stand in ``whole`` in their order, others between them."""
    if whole is None or part is None:
        return None
    rest = iter(orjson.loads(whole))
    return all(member in rest for member in orjson.loads(part))
