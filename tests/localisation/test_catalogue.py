"""Texts come in a language that has a catalogue, else in English."""

from __future__ import annotations

import pytest

from app.localisation.catalogue import languages, marked, text_in


@pytest.mark.parametrize(("language", "text"), [
    ("en", "You are welcome."), ("de", "Gern geschehen."), ("xx", "You are welcome."),
])  # fmt: skip
def test_a_text_comes_in_a_language_that_has_it(language: str, text: str) -> None:
    assert text_in(language, marked("You are welcome.")) == text


def test_places_are_filled_and_nothing_stays_nothing() -> None:
    assert text_in("de", "%(record)s has no e-mail address.", record="Acme").startswith("Acme hat")
    assert [text_in(language, "") for language in languages()] == ["", ""]
