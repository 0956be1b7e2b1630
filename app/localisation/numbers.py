"""Numbers as people write them: ``1234.5``, ``1,234.50``, ``1.234,50``, ``12,34,567``, ``1 234,5``.

A text with one comma or point before its last three digits is two numbers: ``1.234`` is 1234 where
the point separates thousands, and 1.234 where it begins the decimals. Only signs that are known,
those of a locale or of the other cells of a column, decide; nothing is guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel import localedata

POINT, COMMA = ".", ","
SIGNS = (POINT, COMMA)
# The decimal sign that Arabic script has of its own: it is never anything else.
_ARABIC = "\u066b"
# Commas of other scripts, which may be either, as ours is.
_COMMAS = str.maketrans("\u060c\u2e41\uff0c\uff0e", ",,,.")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MINUS = re.compile("[\u2212\u2010-\u2013\ufe63\uff0d]")
_SPACES = re.compile("[ '\u00a0\u2009\u202f\u2019\u066c]")
# More digits than any column has; what is longer is no number of ours.
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Signs:
    """How numbers are written: ``decimals`` begin the decimals, ``groups`` separate thousands.

    There may be several of each: the signs of a script stand beside those of Latin digits.
    """

    decimals: frozenset[str]
    groups: frozenset[str]

    @property
    def decimal(self) -> str:
        """The sign to write: a point or a comma."""
        return COMMA if COMMA in self.decimals else POINT

    @property
    def group(self) -> str:
        """The sign to write between thousands; a narrow space where it is neither."""
        other = POINT if self.decimal == COMMA else COMMA
        return other if other in self.groups else "\u202f"


ENGLISH = Signs(frozenset(POINT), frozenset(COMMA))


class NoNumberError(ValueError):
    """What was written is no number; the text says so."""


class AmbiguousNumberError(NoNumberError):
    """What was written is two numbers; ``whole`` is without decimals, ``broken`` with three."""

    def __init__(self, whole: Decimal, broken: Decimal, sign: str) -> None:
        self.whole = whole
        self.broken = broken
        self.both = f"{whole:f} or {clear_decimals(broken, sign)}"
        super().__init__(f"could be two numbers: write {self.both}")


def readings(text: str) -> Mapping[str, Decimal]:
    """Decimal sign -> the number that ``text`` is where that begins the decimals.

    One sign where only that makes it a number, two with the same number where it does not matter,
    two with different ones where it could be two; none where it is no number.
    """
    plain = _plain(text[: 2 * _LONGEST])
    if not plain or len(plain) > _LONGEST:
        return {}
    values = {}
    for sign, pattern in _PATTERNS.items():
        if pattern.fullmatch(plain):
            digits = re.sub(f"[^-+0-9{re.escape(sign)}]", "", plain).replace(sign, ".")
            values[sign] = Decimal(digits)
    return values


def read_number(text: str, signs: Signs | None = None, places: int | None = None) -> Decimal:
    """The number that was written.

    Args:
        signs: how the writer writes numbers, as far as it is known.
        places: decimals that the value can have: with three more than it can, a reading is
            doubted, whatever the signs say.
    Raises: NoNumberError; AmbiguousNumberError, it could be two and ``signs`` do not decide.
    """
    numbers = readings(text)
    if not numbers:
        raise NoNumberError("must be a number")
    if len(set(numbers.values())) == 1:
        return next(iter(numbers.values()))
    sign = POINT if POINT in _plain(text) else COMMA
    broken, whole = numbers[sign], numbers[COMMA if sign == POINT else POINT]
    is_group = signs is not None and sign in signs.groups
    is_decimal = signs is not None and sign in signs.decimals
    if is_group and not is_decimal:
        return whole
    if is_decimal and not is_group and (places is None or places > 2):
        return broken
    raise AmbiguousNumberError(whole, broken, (signs or ENGLISH).decimal)


def shown_number(number: Decimal, signs: Signs | None = None) -> str:
    """A number as a field shows it: ``read_number`` of it with the same signs is the number."""
    signs = signs or ENGLISH
    text = format(number, "f").replace(POINT, signs.decimal)
    values = set(readings(text).values())
    return text if len(values) == 1 else f"{text}0"


def grouped_number(number: Decimal, signs: Signs | None = None, least: int | None = None) -> str:
    """``1,234.50`` in the signs of the reader.

    Args:
        least: decimals that are always written; two by default, where there are any.
    """
    signs = signs or ENGLISH
    whole, point, fraction = format(number, ",f").partition(".")
    whole = whole.replace(",", signs.group)
    if least is None:
        least = 2 if point else 0
    fraction = fraction.rstrip("0").ljust(least, "0")
    return whole + signs.decimal + fraction if fraction else whole


def clear_decimals(number: Decimal, sign: str) -> str:
    """A number with as many decimals as leave no doubt: ``1.2340`` or ``1.00``, not ``1.234``."""
    text = format(number, "f")
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{sign}{fraction.ljust(4 if len(fraction) == 3 else 2, '0')}"


def plain_sign(text: str) -> str:
    """Commas and points of other scripts as ours."""
    return text.translate(_COMMAS)


def _plain(text: str) -> str:
    """Digits of any script as ours, one kind of minus and of space, no marks of direction."""
    text = _MINUS.sub("-", _DIRECTIONS.sub("", text)).strip()
    text = _SPACES.sub(" ", plain_sign(text))
    digits = (str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)
    return "".join(digits)


def _pattern(sign: str) -> re.Pattern[str]:
    groups = "".join(each for each in (*SIGNS, " ") if each != sign)
    other = COMMA if sign == POINT else POINT
    whole = (
        r"\d+"
        rf"|[1-9]\d{{0,2}}(?P<group>[{re.escape(groups)}])\d{{3}}(?:(?P=group)\d{{3}})*"
        rf"|[1-9]\d?(?:{re.escape(other)}\d{{2}})+{re.escape(other)}\d{{3}}"  # lakhs, crores
    )
    mark = re.escape(sign)
    return re.compile(rf"[-+]?(?:(?:{whole})(?:{mark}\d*)?|{mark}\d+)", re.ASCII)


_PATTERNS = {sign: _pattern(sign) for sign in (*SIGNS, _ARABIC)}


# The language that accounts and the organisation have where nobody has chosen one: it does not
# say how its users write numbers.
UNSAID = "en"


def signs_for(language: str, own_language: str, own_country: str | None) -> Signs | None:
    """How a user writes numbers; None where that is not known.

    A language that was chosen says it, with its region or, without one, in the organisation's
    country. The one that everybody has at first says it as far as the organisation writes so too.

    Args:
        language: of the user, such as ``de`` or ``en-GB``.
        own_language: that of the organisation.
        own_country: that of the organisation, ISO 3166.
    """
    if language != UNSAID:
        return signs_of(language, own_country)
    if own_language == UNSAID and not own_country:
        return None
    own = signs_of(own_language, own_country)
    return own if own is not None and own.decimals == ENGLISH.decimals else None


@lru_cache(maxsize=128)
def signs_of(language: str, country: str | None = None) -> Signs | None:
    """The signs of a language tag; ``country`` counts where the tag has no region."""
    name = locale_of(language, country)
    if name is None:
        return None
    if name == UNSAID:
        return ENGLISH  # the data of a locale is large
    data = localedata.load(name)
    systems = {"latn", data["default_numbering_system"]}
    symbols = [data["number_symbols"].get(system, {}) for system in systems]
    return Signs(
        _those(symbols, "decimal", "currencyDecimal"), _those(symbols, "group", "currencyGroup")
    )


def locale_of(language: str, country: str | None = None) -> str | None:
    """The locale that is known for a tag, with the region or the country if it can be.

    ``en`` in ``DE`` is ``en_DE``; ``zh-XX`` is ``zh``; None for a language that is not known.
    """
    parts = language.replace("-", "_").split("_")
    has_region = any(len(part) == 2 for part in parts[1:])
    names = ["_".join(parts[:count]) for count in range(len(parts), 0, -1)]
    if country and not has_region:
        names.insert(0, f"{names[0]}_{country}")
    for name in names:
        known: str | None = localedata.normalize_locale(name)
        if known is not None:
            return known
    return None


def _those(symbols: Iterable[Mapping[str, Any]], *names: str) -> frozenset[str]:
    return frozenset(plain_sign(each[name]) for each in symbols for name in names if name in each)
