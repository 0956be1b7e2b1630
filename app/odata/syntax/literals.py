"""Primitive literals: how each kind is written, the value that its text stands for, and the text of
a value.

The lexer and the shape of a query (shape.py) use the same patterns and the same conversions, so
that a literal is refused with the same words whether the plan of its query is cached or not.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import math
import re
import typing as t
import uuid
from decimal import Decimal

from app.odata.errors import QueryError
from app.odata.syntax.nodes import LiteralKind, LiteralValue

NAME = r"[^\W\d]\w*+"
DOTTED_NAME = rf"{NAME}(?:\.{NAME})*+"
STRING = r"'[^']*+(?:''[^']*+)*+'"
JSON_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

_DAY = r"[0-9]{3,}+-[0-9]{2}-[0-9]{2}"
_MINUTE = r"[0-9]:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,12})?)?"

# Kind to the pattern of the beginning, up to the first digit, and the pattern of the rest. In this
# order: each would also match the beginning of a literal of an earlier kind. A sign belongs to the
# number; a blank before an offset is what is left of a plus sign that was not percent-encoded.
UNQUOTED: t.Final[dict[str, tuple[str, str]]] = {
    "guid": ("[0-9A-Fa-f]", r"[0-9A-Fa-f]{7}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w.-])"),
    "datetime": (
        "-?[0-9]",
        rf"{_DAY}[Tt][0-9]{_MINUTE}(?:[Zz]|[+ -][0-9]{{2}}:[0-9]{{2}})(?![\w.])",
    ),
    "date": ("-?[0-9]", rf"{_DAY}(?![\w.-])"),
    "timeofday": ("[0-9]", rf"{_MINUTE}(?![\w.])"),
    "number": ("[+-]?[0-9]", r"[0-9]*+(?:\.[0-9]++)?(?:[Ee][+-]?[0-9]++)?[Ff]?(?![\w.]|-[0-9])"),
}

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_MOST_DIGITS = 200
NON_FINITE = {"INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan")}
_DURATION = re.compile(
    r"(-?)P(?:([0-9]{1,9})D)?(?:T(?=[0-9])(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?"
    r"(?:([0-9]{1,9})(?:\.([0-9]{1,12}))?S)?)?",
    re.IGNORECASE,
)
# No function takes one yet, so nobody looks at its coordinates.
_GEO_TEXT = re.compile(
    r"SRID=[0-9]{1,5};(?:(?:Multi)?(?:Point|LineString|Polygon)|GeometryCollection)\(.*\)",
    re.IGNORECASE,
)
_ENUM_TEXT = re.compile(rf"(?:{NAME}|[+-]?[0-9]++)(?:,(?:{NAME}|[+-]?[0-9]++))*+")

Converted: t.TypeAlias = tuple[LiteralValue, LiteralKind]


def to_string(text: str) -> str:
    """The text between single quotes; two quotes stand for one."""
    return text[1:-1].replace("''", "'")


def convert_number(text: str, offset: int) -> Converted:
    """Int64 and its neighbours beyond it, decimals, and doubles (an exponent or the suffix f)."""
    if len(text) > _MOST_DIGITS:
        raise QueryError(f"a number has at most {_MOST_DIGITS} characters", offset)
    try:
        value = int(text)
    except ValueError:
        pass
    else:
        if INT64_MIN <= value <= INT64_MAX:
            return value, "integer"
        return Decimal(text), "decimal"
    if text[-1] not in "fF" and "e" not in text and "E" not in text:
        return Decimal(text), "decimal"
    double = float(text.rstrip("fF"))
    if double in (NON_FINITE["INF"], NON_FINITE["-INF"]):
        raise QueryError(f"{text} is out of the range of Edm.Double", offset)
    return double, "double"


def convert_date(text: str, offset: int) -> Converted:
    try:
        return dt.date.fromisoformat(text), "date"
    except ValueError:
        raise _no_such_date(text, offset) from None


def convert_datetime(text: str, offset: int) -> Converted:
    """An aware datetime in the offset that was written; digits beyond microseconds are dropped.

    Second 60 is the leap second: it is read as the first moment of the next minute.
    """
    written = text.upper().replace(" ", "+")
    leap = written.startswith(":60", written.index("T") + len("Thh:mm"))
    if leap:
        written = written.replace(":60", ":59", 1)
    try:
        value = dt.datetime.fromisoformat(written)
        if leap:
            value = value.replace(microsecond=0) + dt.timedelta(seconds=1)
        value.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise _no_such_date(text, offset) from None
    return value, "datetime"


def convert_timeofday(text: str, offset: int) -> Converted:
    try:
        return dt.time.fromisoformat(text), "timeofday"
    except ValueError:
        raise QueryError(
            f"{text} is not a time of day: 00:00:00 to 23:59:59.999999", offset
        ) from None


def to_duration(text: str, offset: int | None = None) -> dt.timedelta:
    """A dayTimeDuration such as ``-P6DT23H59M59.9999S``, to the microsecond.

    Raises: QueryError, the text is no duration.
    """
    match = _DURATION.fullmatch(text)
    if match is None or text[-1] in "Pp":
        raise QueryError(f"'{text}' is not a duration such as P1DT2H30M or PT0.5S", offset)
    sign, days, hours, minutes, seconds, fraction = match.groups()
    try:
        length = dt.timedelta(
            days=int(days or 0),
            hours=int(hours or 0),
            minutes=int(minutes or 0),
            seconds=int(seconds or 0),
            microseconds=int((fraction or "0")[:6].ljust(6, "0")),
        )
        return -length if sign == "-" else length
    except OverflowError:
        raise QueryError(f"'{text}' is longer than 999999999 days", offset) from None


def convert_prefixed(text: str, offset: int) -> tuple[LiteralValue, LiteralKind, str | None]:
    """``duration'..'``, ``binary'..'``, ``geography'..'``, ``geometry'..'`` or an enum literal.

    Returns: value, kind, and the prefix of an enum (its type) or of a geo literal.
    """
    prefix, quoted = text.split("'", 1)
    inner = quoted[:-1].replace("''", "'")
    match prefix.lower():
        case "duration":
            return to_duration(inner, offset), "duration", None
        case "binary":
            return to_binary(inner, offset), "binary", None
        case "geography" | "geometry" as space:
            if not _GEO_TEXT.fullmatch(inner):
                message = "expected a geo literal such as 'SRID=4326;Point(13.4 52.5)'"
                raise QueryError(message, offset + len(prefix) + 1)
            return inner, "geo", space
    if not _ENUM_TEXT.fullmatch(inner):
        raise QueryError(
            f"expected members of the enumeration type {prefix} between the quotes,"
            " separated by commas",
            offset + len(prefix),
        )
    return inner, "enum", prefix


def convert_json_string(text: str, offset: int) -> str:
    """A string of JSON, quotes included."""
    try:
        value = json.loads(text)
        value.encode()
    except ValueError:  # UnicodeEncodeError too: half of a surrogate pair
        raise QueryError("malformed JSON string", offset) from None
    return t.cast(str, value)


def base64url(value: bytes) -> str:
    """Without padding."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """The bytes of a text that ``base64url`` may have made, padded or not.

    Raises: binascii.Error, there are no such bytes; other characters are passed over.
    """
    bare = text.rstrip("=")
    return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))


def to_binary(text: str, offset: int | None = None) -> bytes:
    """base64url; the padding may be left out.

    Raises: QueryError, the text is none.
    """
    unpadded = text.rstrip("=")
    try:
        if len(text) - len(unpadded) not in (0, -len(unpadded) % 4):
            raise binascii.Error
        padded = unpadded.translate(_BASE64URL) + "=" * (-len(unpadded) % 4)
        value = base64.b64decode(padded, validate=True)
        if base64url(value) != unpadded:
            raise binascii.Error  # stray bits after the last byte
    except (ValueError, binascii.Error):
        raise QueryError(f"'{text}' is not base64url", offset) from None
    return value


# The other alphabet of base64 becomes something that no alphabet has.
_BASE64URL = str.maketrans("-_+/", "+/!!")


def _no_such_date(text: str, offset: int) -> QueryError:
    year = re.match(r"-?[0-9]+", text)
    if year is not None and not (len(year[0]) == 4 and year[0] != "0000"):
        return QueryError("dates run from 0001-01-01 to 9999-12-31", offset)
    return QueryError(f"there is no such date or time as {text}", offset)


CONVERTERS: t.Final[dict[str, t.Callable[[str, int], Converted]]] = {
    "string": lambda text, _: (to_string(text), "string"),
    "number": convert_number,
    "guid": lambda text, _: (uuid.UUID(text), "guid"),
    "date": convert_date,
    "datetime": convert_datetime,
    "timeofday": convert_timeofday,
}
_WHOLE: t.Final = {kind: re.compile("".join(parts)) for kind, parts in UNQUOTED.items()}


def read_whole(kind: str, text: str) -> Converted | None:
    """A text that is one unquoted literal of a kind; None where it is none.

    Raises: QueryError, it has no value, such as 2024-02-30.
    """
    return CONVERTERS[kind](text, 0) if _WHOLE[kind].fullmatch(text) else None


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
