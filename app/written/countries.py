"""Countries as people write them: by code, or by name in the languages that files come in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain

from babel import Locale

from app.models.searched import search_text

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl")
# Names in use that are not the one of the language.
_USUAL = {
    "usa": "US", "u s a": "US", "united states of america": "US", "america": "US", "uk": "GB",
    "u k": "GB", "great britain": "GB", "grossbritannien": "GB", "england": "GB",
    "scotland": "GB", "wales": "GB", "northern ireland": "GB", "holland": "NL",
    "czech republic": "CZ", "brd": "DE", "hongkong": "HK", "macedonia": "MK", "turkey": "TR",
    "ivory coast": "CI", "south korea": "KR", "russia": "RU",
}  # fmt: skip


def country_code(text: str) -> str | None:
    """The code of ISO 3166-1 for a name or a code; None for what is neither."""
    code = text.strip().upper()
    is_code = len(code) == 2 and code.isascii() and code.isalpha()
    if is_code and code.lower() not in _USUAL:
        return code
    name = _plain(text)
    # The data of a language is large: one that comes late is read where none before has the name.
    candidates = chain((_USUAL,), map(_codes_of, LANGUAGES))
    return next((codes[name] for codes in candidates if name in codes), None)


@cache
def country_names(language: str) -> Mapping[str, str]:
    """The codes of countries with their names in a language."""
    return {
        code: name
        for code, name in Locale(language).territories.items()
        if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
    }


@cache
def _codes_of(language: str) -> Mapping[str, str]:
    """The names of a language in their plain form, with their codes."""
    codes: dict[str, str] = {}
    for code, name in country_names(language).items():
        codes.setdefault(_plain(name), code)
    return codes


# What CLDR names beside countries.
_NO_COUNTRIES = frozenset(("EU", "EZ", "UN", "XA", "XB", "ZZ", "QO"))


def _plain(name: str) -> str:
    return search_text(name).strip()
