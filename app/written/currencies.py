"""Currencies as people write them beside an amount: ``1.234,50 €``, ``$1,200``, ``CHF 1'200``."""

from __future__ import annotations

import re
import unicodedata

from app.writing.formats import currencies

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
