"""Every language says the same things."""

from __future__ import annotations

import string

import pytest

from app.invoices.texts import LANGUAGES, language_of, texts_for


def places(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_places(language: str) -> None:
    words, english = texts_for(language).words, texts_for("en").words
    assert words.keys() == english.keys()
    assert {name: places(text) for name, text in words.items()} == {
        name: places(text) for name, text in english.items()
    }
    assert all(text.strip() == text and text for text in words.values())


def test_a_region_is_written_in_its_language_and_others_in_english() -> None:
    assert (language_of("de-AT"), language_of("pl_PL"), language_of("ja")) == ("de", "pl", "en")


def test_values_are_put_in_as_they_are() -> None:
    assert texts_for("en")("labels.contact", name="{x} <b>") == "Attn. {x} <b>"
