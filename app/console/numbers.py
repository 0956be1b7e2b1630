"""Numbers as people type them: ``1234.5``, ``1,234.50``, ``1.234,50``, ``1 234,5``."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_SPACES = re.compile("[\\s'\u00a0\u202f\u2019]")
_GROUP = 3


class NoNumberError(ValueError):
    """What was typed is no number; the text says so."""


def typed_number(text: str) -> Decimal:
    """The number that was typed; the last of comma and point begins the decimals.

    Raises: NoNumberError, it is none, or could be two: ``1,234``.
    """
    plain = _SPACES.sub("", text)
    comma, point = plain.rfind(","), plain.rfind(".")
    if comma >= 0 and point < 0 and plain.count(",") == 1 and len(plain) - comma - 1 == _GROUP:
        without = plain.replace(",", "")
        raise NoNumberError(f"could be two numbers: write {without} or {plain.replace(',', '.')}")
    if comma > point:
        grouping, mark = ".", ","
    else:
        grouping, mark = ",", "."
    if plain.count(mark) > 1:  # 1,234,567: groups and no decimals
        grouping, mark = mark, grouping
    try:
        number = Decimal(plain.replace(grouping, "").replace(mark, "."))
    except InvalidOperation:
        raise NoNumberError("must be a number") from None
    if not number.is_finite():
        raise NoNumberError("must be a number")
    return number
