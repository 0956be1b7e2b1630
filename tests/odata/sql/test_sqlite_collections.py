"""Collections within collections, as SQLite is taught them."""

from __future__ import annotations

import pytest

from app.odata.sql import sqlite_functions as collections

ALL = (
    collections.has_subset, collections.has_subsequence, collections.index_of, collections.contains,
    collections.starts_with, collections.ends_with, collections.same,
)  # fmt: skip


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        # subset, subsequence, index, contains, begins, ends, same
        ('["a","b","c"]', '["c","a"]', (True, False, -1, False, False, False, False)),
        ('["a","b","c"]', '["a","c"]', (True, True, -1, False, False, False, False)),
        ('["a","b","c"]', '["b","c"]', (True, True, 1, True, False, True, False)),
        ('["a","a"]', '["a","a"]', (True, True, 0, True, True, True, True)),
        ('["a"]', '["a","a"]', (False, False, -1, False, False, False, False)),
        ('["a",null]', "[null]", (True, True, 1, True, False, True, False)),
        ('["a"]', "[]", (True, True, 0, True, True, True, False)),
        ("[]", "[]", (True, True, 0, True, True, True, True)),
    ],
)
def test_a_collection_is_looked_for_in_another(
    whole: str, part: str, expected: tuple[object, ...]
) -> None:
    assert tuple(function(whole, part) for function in ALL) == expected
