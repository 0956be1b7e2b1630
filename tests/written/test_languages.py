"""Languages by code, and by name in the languages that people write."""

from __future__ import annotations

import pytest

from app.written.languages import language_code, language_names


@pytest.mark.parametrize(
    ("text", "code"),
    [("de", "de"), (" DE ", "de"), ("German", "de"), ("Allemand", "de"), ("tschechisch", "cs"),
     ("de-AT", None), ("Klingonisch?", None), ("", None)],
)  # fmt: skip
def test_a_language_is_read_by_its_code_or_its_name(text: str, code: str | None) -> None:
    assert language_code(text) == code


def test_languages_are_named_in_the_language_of_the_reader() -> None:
    assert language_names("de")["pl"] == "Polnisch" and language_names("en")["pl"] == "Polish"
