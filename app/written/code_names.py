"""Codes by their names in the languages that files come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from app.models.searched import search_text

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
