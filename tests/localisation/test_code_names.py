"""Countries and languages by code, by name in the languages of files, and by the names in use."""

from __future__ import annotations

import pytest

from app.localisation.code_names import (
    country_code,
    language_code,
    language_names,
    read_currency,
    without_currency,
)


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


@pytest.mark.parametrize(
    ("text", "amount", "currencies"),
    [
        ("1.234,50 €", "1.234,50", ("EUR",)),
        ("CHF 1'200", "1'200", ("CHF",)),
        ("sFr. 5.-", "5.-", ("CHF",)),
        ("US$5", "5", ("USD",)),
        ("-£3.20", "-£3.20", ()),
        ("£-3.20", "-3.20", ("GBP",)),
        ("12 xyz", "12 xyz", ()),
        ("1200", "1200", ()),
    ],
)
def test_an_amount_is_parted_from_its_currency(
    text: str, amount: str, currencies: tuple[str, ...]
) -> None:
    assert without_currency(text) == (amount, currencies)


def test_a_sign_of_several_currencies_says_all_of_them() -> None:
    assert read_currency("kr.") == ("SEK", "NOK", "DKK", "ISK")
    assert "USD" in read_currency("$") and len(read_currency("$")) > 1
    assert read_currency("eur") == ("EUR",)
    assert read_currency("?") == ()
