"""Primitive literals: how each kind is written, the value that its text stands for, the text of a
value; and the shape of a query, which is its text with the literals taken out.

The lexer and the shape use the same patterns and the same conversions, so
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


# --- the shape of a query, and the literals beside it. Two queries that differ only in literals
# have the same shape, so a plan made for one serves the other with other parameters
# (docs/adr/0019). The place of a literal in the list is the ``slot`` of the ``Literal`` that the
# parser makes of it. This runs on every request, the parser only when no plan is cached.

# A marker is NUL, the sign of a number, and a code. NUL cannot be in a query, so a shape says
# unmistakably which kinds of literal stand where. What the grammar allows for one value of a
# kind and sign (and for decimals, of a scale) it must allow for every other.
_MARKERS: t.Final[dict[str, str]] = {
    "string": "\0s",
    "date": "\0D",
    "datetime": "\0T",
    "timeofday": "\0O",
    "guid": "\0g",
}
# A regular expression is found fast if it begins with a set of characters. So the first one is
# taken, and then looked back at: is it a digit, or a sign and a digit comes next?
_AFTER_FIRST: t.Final[dict[str, str]] = {
    "[0-9A-Fa-f]": "(?<=[0-9A-Fa-f])",
    "[0-9]": "(?<=[0-9])",
    "-?[0-9]": "(?:(?<=[0-9])|(?<=-)[0-9])",
    "[+-]?[0-9]": "(?:(?<=[0-9])|(?<=[+-])[0-9])",
}
_LIFTED_AFTER_FIRST: t.Final = (
    "(?:(?<=')(?P<string>"
    + STRING[1:]
    + ')|(?<=")'
    + JSON_STRING[1:]
    + r"|(?<![\w.].)(?:"
    + "|".join(
        f"(?P<{kind}>{_AFTER_FIRST[first]}{rest})" for kind, (first, rest) in UNQUOTED.items()
    )
    + "))"
)
_LIFTED: t.Final = re.compile("['\"+\\-0-9]" + _LIFTED_AFTER_FIRST)
_LIFTED_OR_GUID: t.Final = re.compile("['\"+\\-0-9A-Fa-f]" + _LIFTED_AFTER_FIRST)
# Text that has one of these is its own shape: here a literal is not a value but decides the
# meaning ('Edm.String' may name a type, $levels a depth), is part of a search word, or cannot be
# told from its neighbours without parsing (10:20 in a case).
_KEPT_WHOLE: t.Final = re.compile(r"(?:cast|isof|case)\(|search|levels", re.IGNORECASE)


def is_kept_whole(text: str) -> bool:
    """Whether no literal of this option may be lifted."""
    return "(" in text and _KEPT_WHOLE.search(text) is not None


def shape(text: str) -> tuple[str, list[LiteralValue]]:
    """The shape of one option's text, and the values of its literals in the order written.

    Says nothing about whether the text is right: a wrong one has a shape that no plan was made
    for, and then the parser tells what is wrong.
    Raises: QueryError, a literal that has no value, such as 2024-02-30.
    """
    literals: list[LiteralValue] = []
    if is_kept_whole(text):
        return text, literals

    def lift(match: re.Match[str]) -> str:
        kind, written, offset = match.lastgroup, match[0], match.start()
        if kind is None:  # a JSON string may be the name of a member
            return written
        if kind == "string" and offset and _is_word(text[offset - 1]):
            if not _has_duration_prefix(text, offset):
                return written  # binary'..', geography'..', an enum literal
            literals.append(to_duration(written[1:-1], offset - len("duration")))
            return "\0P"
        value, _ = CONVERTERS[kind](written, offset)
        literals.append(value)
        return _number_marker(written, value) if kind == "number" else _MARKERS[kind]

    # Only a guid may begin with a letter, and it has four dashes.
    pattern = _LIFTED if text.count("-") < 4 else _LIFTED_OR_GUID
    return pattern.sub(lift, text), literals


def _number_marker(written: str, value: LiteralValue) -> str:
    sign = written[0] if written[0] in "+-" else ""
    if isinstance(value, int):
        return f"\0{sign}i"
    if isinstance(value, Decimal):
        return f"\0{sign}d{-t.cast(int, value.as_tuple().exponent)}"
    return f"\0{sign}f"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _has_duration_prefix(text: str, quote: int) -> bool:
    start = quote - len("duration")
    return (
        start >= 0
        and text[start:quote].lower() == "duration"
        and not (start and (_is_word(text[start - 1]) or text[start - 1] == "."))
    )


def check_characters(text: str, option: str | None = None) -> None:
    """Raise QueryError if ``text`` has a NUL: no value in the database can have one."""
    if "\0" in text:
        raise QueryError("the character NUL is not allowed", text.index("\0"), option)
