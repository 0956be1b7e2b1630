"""A pattern finds the same by FTS5 and by LIKE, and a misspelt word leaves enough of itself."""

from __future__ import annotations

import pytest

from app.crm.search.query import (
    Either,
    Every,
    Holds,
    Pattern,
    as_typed,
    like_texts,
    match_text,
    nearly,
    read_query,
    shape,
)


def holds(pattern: Pattern, text: str) -> bool:
    """What a database decides by its index."""
    if isinstance(pattern, Holds):
        assert len(pattern.piece) >= 3  # shorter ones have no trigram
        return text.startswith(pattern.piece) if pattern.first else pattern.piece in text
    every = [holds(part, text) for part in pattern.parts]
    return all(every) if isinstance(pattern, Every) else any(every)


def misspelt(word: str) -> list[str]:
    """Every way of one error: a letter too few, too many, another, or two exchanged."""
    wrong = []
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        wrong += [f"{head}q{tail}"]
        if tail:
            wrong += [head + tail[1:], f"{head}q{tail[1:]}"]
        if len(tail) > 1:
            wrong += [head + tail[1] + tail[0] + tail[2:]]
    return wrong


@pytest.mark.parametrize("word", ["berlin", "muller", "schmidt", "maschinenbau", "nordwind"])
def test_a_word_with_one_error_is_a_candidate(word: str) -> None:
    for typed in misspelt(word):
        matches = [holds(pattern, f" acme {word} gmbh \n") for pattern in nearly(read_query(typed))]
        assert any(matches), typed


def test_short_words_and_numbers_forgive_nothing() -> None:
    for typed in ("abc", "ab cd", "de136695976", "a1b2c3d4"):
        assert list(nearly(read_query(typed))) == []


def test_patterns_are_written_for_both_databases() -> None:
    pattern = Either((Every((Holds('a"b'), Holds(" x", first=True))), Holds("50%_\\")))
    assert match_text(pattern) == '(("a""b" AND ^" x") OR "50%_\\")'
    assert list(like_texts(pattern)) == ['%a"b%', " x%", "%50\\%\\_\\\\%"]
    assert shape(pattern) == shape(
        Either((Every((Holds("y"), Holds("z", first=True))), Holds("w")))
    )


@pytest.mark.parametrize(
    ("typed", "pattern"),
    [
        ("Müller", Every((Holds("muller"),))),
        ("ab müller", Every((Holds(" ab"), Holds("muller")))),
        ("j. smith", Every((Holds("smith"),))),
        ("a b", Holds(" a b ")),
        ("--", None),
    ],
)
def test_what_was_typed_becomes_a_pattern(typed: str, pattern: Pattern | None) -> None:
    assert as_typed(read_query(typed)) == pattern
