"""Countries as people write them: by code, or by name in the languages that files come in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from babel import Locale

from app.written.code_names import code_named, plain_name

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
    return _USUAL.get(plain_name(text)) or code_named(text, country_names)


@cache
def country_names(language: str) -> Mapping[str, str]:
    """The codes of countries with their names in a language."""
    return {
        code: name
        for code, name in Locale(language).territories.items()
        if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
    }


# What CLDR names beside countries.
_NO_COUNTRIES = frozenset(("EU", "EZ", "UN", "XA", "XB", "ZZ", "QO"))
