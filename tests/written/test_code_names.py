"""Countries and languages by code, by name in the languages of files, and by the names in use."""

from __future__ import annotations

import pytest

from app.written.code_names import country_code, language_code, language_names


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("DE", "DE"), (" de ", "DE"), ("Germany", "DE"), ("Deutschland", "DE"), ("Allemagne", "DE"),
        ("ÖSTERREICH", "AT"), ("Oesterreich", None), ("Polska", "PL"), ("U.S.A.", "US"),
        ("uk", "GB"), ("Holland", "NL"), ("Atlantis", None), ("", None), ("European Union", None),
    ],
)  # fmt: skip
def test_a_country_is_read(text: str, code: str | None) -> None:
    assert country_code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [("de", "de"), (" DE ", "de"), ("German", "de"), ("Allemand", "de"), ("tschechisch", "cs"),
     ("de-AT", None), ("Klingonisch?", None), ("", None)],
)  # fmt: skip
def test_a_language_is_read_by_its_code_or_its_name(text: str, code: str | None) -> None:
    assert language_code(text) == code


def test_languages_are_named_in_the_language_of_the_reader() -> None:
    assert language_names("de")["pl"] == "Polnisch" and language_names("en")["pl"] == "Polish"
