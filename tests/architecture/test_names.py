"""A local is called after the thing that it holds, not ``one``, ``found`` or ``given``."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.architecture.names import EMPTY_WORDS, empty_names

# Where there are still some: the most of each word. They only go down.
ROOMS = ("app.ai.context", "app.ai.figures", "app.ai.references", "app.bi.questions")
MOST = {"found": 74, "given": 1, "made": 9, "one": 364, "place": 14, "shown": 2, "told": 175}
# Columns of a table, and what is written into them.
COLUMNS = {("app.models.kb_use", "found"), ("app.models.kb_use", "shown"),
           ("app.kb.usage", "shown"), ("app.kb.search", "found")}  # fmt: skip


def test_locals_say_what_they_are() -> None:
    rest = {(module, word) for module, word in empty_names() if not module.startswith(ROOMS)}
    assert rest == COLUMNS


@pytest.mark.parametrize("word", EMPTY_WORDS)
def test_no_more_locals_are_called(word: str) -> None:
    counts = Counter(word for module, word in empty_names() if module.startswith(ROOMS))
    assert counts[word] <= MOST[word], "call it after what it holds"
