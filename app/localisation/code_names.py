"""Codes by their names in the languages that files come in, and by their signs: ``1.234,50 €``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

from babel import Locale

from app.models.searched import search_text
from app.writing.formats import currencies

# Names in use that are not the one of the language.
_USUAL = {
    "usa": "US", "u s a": "US", "united states of america": "US", "america": "US", "uk": "GB",
    "u k": "GB", "great britain": "GB", "grossbritannien": "GB", "england": "GB",
    "scotland": "GB", "wales": "GB", "northern ireland": "GB", "holland": "NL",
    "czech republic": "CZ", "brd": "DE", "hongkong": "HK", "macedonia": "MK", "turkey": "TR",
    "ivory coast": "CI", "south korea": "KR", "russia": "RU",
}  # fmt: skip
# What CLDR names beside countries.
_NO_COUNTRIES = frozenset(("EU", "EZ", "UN", "XA", "XB", "ZZ", "QO"))
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl")
# The codes of a list with their names in a language.
NamesIn = Callable[[str], Mapping[str, str]]


def code_named(name: str, names_in: NamesIn) -> str | None:
    """The code that has this name in one of the languages; None for what has none.

    What Babel knows of a language is large: it is read where none before has the name.
    """
    plain = plain_name(name)
    by_language = (_codes_by_name(names_in, language) for language in LANGUAGES)
    return next((codes[plain] for codes in by_language if plain in codes), None)


def plain_name(name: str) -> str:
    """A name without case, accents and punctuation."""
    return search_text(name).strip()


@cache
def _codes_by_name(names_in: NamesIn, language: str) -> Mapping[str, str]:
    codes: dict[str, str] = {}
    for code, name in names_in(language).items():
        codes.setdefault(plain_name(name), code)
    return codes


def language_code(text: str) -> str | None:
    """The code of ISO 639-1 for a name or a code; None for what is neither, and for a region."""
    code = text.strip().lower()
    return code if code in language_names(LANGUAGES[0]) else code_named(text, language_names)


@cache
def language_names(language: str) -> Mapping[str, str]:
    """The codes of languages with their names in a language."""
    return {code: name for code, name in Locale(language).languages.items() if len(code) == 2}


UNKNOWN_COUNTRY = "is no country that is known: write its name, such as Austria"


def country_code(text: str) -> str | None:
    """The code of ISO 3166-1 for a name or a code; None for what is neither."""
    code = text.strip().upper()
    is_code = len(code) == 2 and code.isascii() and code.isalpha()
    if is_code and code.lower() not in _USUAL:
        return code
    return _USUAL.get(plain_name(text)) or code_named(text, country_names)


@cache
def country_names(language: str) -> Mapping[str, str]:
    """The codes of countries with their names in a language."""
    return {
        code: name
        for code, name in Locale(language).territories.items()
        if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
    }


# Sign -> the currencies that are written with it; where there are several, it says only so much.
_SIGNS = {
    "€": ("EUR",), "£": ("GBP",), "zł": ("PLN",), "kč": ("CZK",), "ft": ("HUF",), "fr": ("CHF",),
    "sfr": ("CHF",), "₹": ("INR",), "₽": ("RUB",), "₺": ("TRY",), "₪": ("ILS",), "₩": ("KRW",),
    "₴": ("UAH",), "lei": ("RON",), "us$": ("USD",), "a$": ("AUD",), "c$": ("CAD",),
    "r$": ("BRL",), "$": ("USD", "CAD", "AUD", "NZD", "MXN", "SGD", "HKD"),
    "¥": ("JPY", "CNY"), "kr": ("SEK", "NOK", "DKK", "ISK"),
}  # fmt: skip
_BEFORE = re.compile(r"^\s*([^\W\d_]{0,4}\.?\$?|\W)\s*(?=[-+(]?[\d.,])")
_BEHIND = re.compile(r"(?<=[\d.,)-])\s*([^\W\d_]{1,4}\.?|\W)\s*$")


def read_currency(text: str) -> tuple[str, ...]:
    """The currencies that a sign or a code stands for; none where it stands for nothing."""
    sign = unicodedata.normalize("NFKC", text).strip().rstrip(".").casefold()
    if sign.upper() in currencies():
        return (sign.upper(),)
    return _SIGNS.get(sign, ())


def without_currency(text: str) -> tuple[str, tuple[str, ...]]:
    """An amount without the sign or code beside it, and the currencies that this stands for."""
    for pattern in (_BEHIND, _BEFORE):
        match = pattern.search(text)
        if match and (known := read_currency(match[1])):
            return (text[: match.start()] + text[match.end() :]).strip(), known
    return text, ()
