"""Numbers as people write them: ``1234.5``, ``1,234.50``, ``1.234,50``, ``12,34,567``, ``1 234,5``.

A text with one comma or point before its last three digits is two numbers: ``1.234`` is 1234 where
the point separates thousands, and 1.234 where it begins the decimals. Only signs that are known,
those of a locale or of the other cells of a column, decide; nothing is guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

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
