"""Values as literals of a query: what the parser reads back as the same value."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

from app.odata.syntax.literals import INT64_MAX, INT64_MIN, base64url
from app.odata.syntax.nodes import LiteralKind, LiteralValue


def quoted(text: str) -> str:
    """``O'Neil`` as ``'O''Neil'``."""
    return "'" + text.replace("'", "''") + "'"


def duration_text(length: dt.timedelta) -> str:
    """A dayTimeDuration, such as ``P1DT2H0.5S`` or ``PT0S``."""
    sign = "-" if length < dt.timedelta(0) else ""
    length = abs(length)
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0") if length.microseconds else ""
    parts = (
        (f"{hours}H" if hours else "")
        + (f"{minutes}M" if minutes else "")
        + (f"{seconds}{fraction}S" if seconds or fraction else "")
    )
    days = f"{length.days}D" if length.days else ""
    return f"{sign}P{days}" + (f"T{parts}" if parts else "" if days else "T0S")


def double_text(value: float) -> str:
    """With an exponent, which tells a double from a decimal."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    text = repr(value)
    return text if "e" in text else text + "e0"


def decimal_text(value: Decimal) -> str:
    """Without an exponent; with a point where the digits alone would be an integer."""
    text = format(value, "f")
    return text if "." in text or not INT64_MIN <= int(text) <= INT64_MAX else text + ".0"


def literal_text(value: LiteralValue, kind: LiteralKind, type_name: str | None = None) -> str:
    """The literal of ``kind`` for ``value``, both as in the node Literal."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
        case Decimal():
            return decimal_text(value)
        case bytes():
            return f"binary'{base64url(value)}'"
        case dt.datetime():
            return value.isoformat().replace("+00:00", "Z")
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return f"duration'{duration_text(value)}'"
        case str():
            return (type_name or "") + quoted(value)
    return str(value)
