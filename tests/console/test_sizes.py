"""Sizes of files as people read them."""

from __future__ import annotations

import pytest

from app.console.wording import file_size

SIZES = [
    (0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 KB"), (1536, "1.5 KB"), (9_949, "9.9 KB"),
    (9_960, "10 KB"), (999_499, "999 KB"), (999_500, "1.0 MB"), (25_000_000, "25 MB"),
    (2_500_000_000, "2.5 GB"), (7_000_000_000_000, "7000 GB"),
]  # fmt: skip


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_sizes_are_counted_by_thousands(count: int, text: str) -> None:
    assert file_size(count, ".") == text
    assert file_size(count, ",") == text.replace(".", ",")
