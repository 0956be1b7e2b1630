"""Words of the model: every one of a type is told apart, in English and in German."""

from __future__ import annotations

import pytest

from app.container.model import container
from app.container.words import names_of_words, options_of, word_text


@pytest.mark.parametrize(
    ("word", "english", "german"),
    [("ClosedWon", "Closed Won", "Gewonnen"), ("InReview", "In Review", "In Prüfung"),
     ("G", "G export", "G Ausfuhr")],
)  # fmt: skip
def test_a_word_is_read_in_a_language(word: str, english: str, german: str) -> None:
    assert (word_text(word), word_text(word, "de")) == (english, german)


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_two_words_of_a_property_read_alike(language: str) -> None:
    for entity_set in container().sets.values():
        for property_ in entity_set.type.properties.values():
            words = options_of(property_)
            assert len({word_text(word, language) for word in words}) == len(words), property_.name
            assert not words or property_.name in names_of_words()
