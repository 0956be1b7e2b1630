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


def index_of(whole: str | None, part: str | None) -> int | None:
    """Where the members of ``part`` stand in ``whole`` one behind the other; -1 if nowhere."""
    if whole is None or part is None:
        return None
    there, part_items = orjson.loads(whole), orjson.loads(part)
    places = range(len(there) - len(part_items) + 1)
    return next((at for at in places if there[at : at + len(part_items)] == part_items), -1)


def contains(whole: str | None, part: str | None) -> bool | None:
    """Whether the members of ``part`` stand in ``whole`` one behind the other."""
    index = index_of(whole, part)
    return None if index is None else index >= 0


def starts_with(whole: str | None, part: str | None) -> bool | None:
    """Whether the first members of ``whole`` are those of ``part``."""
    if whole is None or part is None:
        return None
    part_items = orjson.loads(part)
    return bool(orjson.loads(whole)[: len(part_items)] == part_items)


def ends_with(whole: str | None, part: str | None) -> bool | None:
    """Whether the last members of ``whole`` are those of ``part``."""
    if whole is None or part is None:
        return None
    there, part_items = orjson.loads(whole), orjson.loads(part)
    return bool(there[max(len(there) - len(part_items), 0) :] == part_items)


def same(left: str | None, other: str | None) -> bool | None:
    """Whether both have the same members in the same order."""
    if left is None or other is None:
        return None
    return bool(orjson.loads(left) == orjson.loads(other))
