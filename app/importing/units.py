"""Units as price lists have them: by code, or by what documents and people write for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from app.invoices.einvoice import codes
from app.invoices.texts import LANGUAGES, units
from app.localisation.data_files import data_beside


def unit_code(text: str) -> str | None:
    """The code of UN/ECE Recommendation 20 or 21 for a unit; None where it is not known.

    A code in capitals is that code, else words come first: ``STK`` is a stick, ``Stk.`` a piece.
    """
    known, plain = codes.unit_codes(), _plain(text)
    if text in known:
        return text
    return _codes().get(plain) or (plain.upper() if plain.upper() in known else None)


@cache
def _codes() -> Mapping[str, str]:
    """What is written -> its code; of those that are written alike the first."""
    known: dict[str, str] = {}
    for language in LANGUAGES:
        for code, word in units(language).items():
            known.setdefault(_plain(word), code)
    for code, words in data_beside(__file__, "units.toml").items():
        for word in words:
            known.setdefault(_plain(word), code)
    return known


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()
