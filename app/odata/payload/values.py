"""Values of a JSON body, and what is wrong with it: each reader takes what the JSON reader gave and
returns a value. Each problem has its path, so that one answer tells all.

Numbers arrive as ``int`` and ``Decimal``, never as float (contract P15). An enumeration's value is
the name of its member, or a number where flags are combined; a complex value is an object by
property name, as it is kept in a JSON column. Source: OData JSON Format 4.01, 7.1 (primitive
values) and the ABNF of literals.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache, partial, reduce
from operator import or_
from typing import Any, TypeVar

from app.errors import MOST_DETAILS, Detail, ValidationError
from app.http.json_body import NO_NAME
from app.http.schema_fields import BadValueError
from app.odata.errors import suggestion
from app.odata.model import edm
from app.odata.syntax.literals import INT64_MAX, INT64_MIN, to_binary, to_duration


class Problems:
    """The problems found in one body; ``path`` is in wire spelling: ``LineItems[2].quantity``.

    Args:
        most: so many are told.
    """

    def __init__(self, most: int = MOST_DETAILS) -> None:
        self.details: list[Detail] = []
        self._most = most

    def add(self, path: str, message: str) -> None:
        """Note a problem; the reading goes on."""
        if len(self.details) < self._most:
            self.details.append(Detail(path, message))

    def add_unknown(self, path: str, name: str, known: Iterable[str], owner: str) -> None:
        """Note that ``owner`` has no ``name``; the nearest name is looked for while it is told."""
        if len(self.details) < self._most:
            self.add(path, f"is not a property of {owner}{suggestion(name, known)}")

    def raise_any(self) -> None:
        """Refuse the body when something was found.

        Raises: ValidationError, with a detail for every problem.
        """
        if self.details:
            raise ValidationError(self.details)


def join_path(path: str, name: str) -> str:
    """``billingAddress`` and ``city`` -> ``billingAddress.city``."""
    return f"{path}.{name}" if path else name


Reader = Callable[[Any], Any]
Value = TypeVar("Value")


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?", re.ASCII)
_OFFSET = r"(?:[Zz]|[+-](?:0\d|1[0-4]):[0-5]\d)"
_INSTANT = re.compile(rf"{_DATE.pattern}[Tt]{_TIME.pattern}{_OFFSET}", re.ASCII)
_DURATION = re.compile(
    r"[+-]?P(?:\d{1,9}D)?"
    r"(?:T(?=\d)(?:\d{1,9}H)?(?:\d{1,9}M)?(?:\d{1,9}(?:\.\d{1,12})?S)?)?(?<!P)",
    re.ASCII,
)
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?", re.ASCII)
_NOT_FINITE = {"INF": "Infinity", "-INF": "-Infinity"}
# A decimal wider than this is no amount, and rounding it would be slow.
_WIDEST_EXPONENT = 400
_MILLISECOND = 1000


def read_string(value: Any) -> str:
    """Text; PostgreSQL cannot keep NUL, and half a surrogate pair is no character."""
    if not isinstance(value, str):
        raise BadValueError("must be a string")
    if "\x00" in value:
        raise BadValueError("must not contain the character NUL")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise BadValueError("contains half of a surrogate pair")
    return value


def read_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadValueError("must be true or false")
    return value


def read_decimal(value: Any) -> Decimal:
    """A number, exactly as written."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise BadValueError("must be a number")
    return _finite(value if isinstance(value, Decimal) else Decimal(value))


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite() or abs(number.adjusted()) > _WIDEST_EXPONENT:
        raise BadValueError("is out of range")
    return number


def _number_in_text(value: Any) -> Any:
    """A number or, as the client declared by ``IEEE754Compatible``, a string of one."""
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value):
        raise BadValueError("must be a number")
    return Decimal(value)


def integer_reader(low: int, high: int) -> Reader:
    """A reader of whole numbers within limits; ``5.0`` is the whole number 5."""

    def read_integer(value: Any) -> int:
        if isinstance(value, Decimal):
            value = _whole(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadValueError("must be a whole number")
        if not low <= value <= high:
            raise BadValueError(f"must be between {low} and {high}")
        return value

    return read_integer


def _whole(value: Decimal) -> int:
    if not value.is_finite() or value != value.to_integral_value():
        raise BadValueError("must be a whole number")
    if value.adjusted() > 20:
        raise BadValueError("is out of range")
    return int(value)


read_int64 = integer_reader(INT64_MIN, INT64_MAX)


def read_double(value: Any) -> float:
    """A binary floating-point number; ``"INF"`` and ``"-INF"`` are strings in JSON.

    ``"NaN"`` is one, too, and refused: SQLite keeps none, and nothing could find it again.
    """
    if value == "NaN":
        raise BadValueError("must be a number; NaN is not kept")
    if isinstance(value, str) and value in _NOT_FINITE:
        return float(_NOT_FINITE[value])
    number = float(read_decimal(value))
    if number in (float("inf"), float("-inf")):
        raise BadValueError("is out of range")
    return number


def _text_reader(
    pattern: re.Pattern[str],
    convert: Callable[[str], Value],
    form: str,
    problem: str = "is out of range",
) -> Callable[[Any], Value]:
    """A reader of texts of one form; ``problem`` is said of those that stand for no value."""

    def read(value: Any) -> Value:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise BadValueError(f"must be {form}")
        try:
            return convert(value)
        except (ValueError, OverflowError):
            raise BadValueError(problem) from None

    return read


def _to_instant(text: str) -> datetime:
    """In UTC and to the millisecond that columns keep."""
    instant = datetime.fromisoformat(text.upper())
    whole = instant.microsecond // _MILLISECOND * _MILLISECOND
    return instant.replace(microsecond=whole).astimezone(UTC)


read_date = _text_reader(
    _DATE, date.fromisoformat, "a date such as 2024-01-31", "is no date of the calendar"
)
read_datetime = _text_reader(
    _INSTANT,
    _to_instant,
    "a date and time with offset such as 2024-01-31T09:30:00Z",
    "is no date and time of the calendar",
)
read_time_of_day = _text_reader(
    _TIME, time.fromisoformat, "a time such as 09:30:00", "is no time of the day"
)
# Days, hours, minutes, seconds: a month has no fixed length and is no part of the type.
read_duration = _text_reader(
    _DURATION, lambda text: to_duration(text.removeprefix("+")), "a duration such as P1DT2H30M"
)
read_guid = _text_reader(_GUID, uuid.UUID, "a GUID such as 123e4567-e89b-12d3-a456-426614174000")
# The padding may be left out.
read_binary = _text_reader(
    _BASE64URL, to_binary, "bytes in base64url", "must be bytes in base64url"
)


def read_geography(value: Any) -> Any:
    """A shape as GeoJSON (RFC 7946); coordinates are not looked at."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadValueError("must be GeoJSON with a type and coordinates")
    if not isinstance(value.get("coordinates", value.get("geometries")), list):
        raise BadValueError("must be GeoJSON with a type and coordinates")
    return value


READERS: Mapping[str, Reader] = {
    "Edm.String": read_string,
    "Edm.Boolean": read_boolean,
    **{
        type_.name: integer_reader(*type_.limits)
        for type_ in edm.PRIMITIVES.values()
        if type_.limits is not None
    },
    "Edm.Decimal": read_decimal,
    "Edm.Double": read_double,
    "Edm.Single": read_double,
    "Edm.Date": read_date,
    "Edm.DateTimeOffset": read_datetime,
    "Edm.TimeOfDay": read_time_of_day,
    "Edm.Duration": read_duration,
    "Edm.Guid": read_guid,
    "Edm.Binary": read_binary,
    **{type_.name: read_geography for type_ in edm.GEOGRAPHY.values()},
}
# The same where the body's media type says IEEE754Compatible=true (JSON Format 3.2).
TEXT_READERS: Mapping[str, Reader] = {
    **READERS,
    "Edm.Int64": lambda value: read_int64(_number_in_text(value)),
    "Edm.Decimal": lambda value: read_decimal(_number_in_text(value)),
}


# (value, path in wire spelling, problems to add to) -> the value read; meaningless when a problem
# was added.
TypedReader = Callable[[Any, str, Problems], Any]

# ``Ns.Priority'High'``: the URL form of a member, which clients send in bodies too.
_PREFIXED = re.compile(r"(?:[^\W\d]\w*\.)+[^\W\d]\w*'([^']*)'")
_TYPES = ("@type", "@odata.type")
_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)


@lru_cache(maxsize=1024)
def typed_reader(type_: edm.EdmType, text_numbers: bool = False) -> TypedReader:
    """The reader of a type.

    Args:
        text_numbers: Int64 and Decimal may come as strings (``IEEE754Compatible=true``).
    """
    if isinstance(type_, edm.PrimitiveType):
        readers = TEXT_READERS if text_numbers else READERS
        # A value of no declared type is any JSON.
        return _telling(readers.get(type_.name, lambda value: value))
    if isinstance(type_, edm.EnumType):
        return _telling(partial(read_enum, type_))
    if isinstance(type_, edm.CollectionType):
        return _collection_reader(type_, text_numbers)
    return _complex_reader(type_, text_numbers)


def read_property(
    prop: edm.Property, value: Any, path: str, problems: Problems, text_numbers: bool = False
) -> Any:
    """The value of a property; null only where the property may be null."""
    if value is None:
        if not prop.nullable or isinstance(prop.type, edm.CollectionType):
            problems.add(path, "must not be null")
        return None
    return typed_reader(prop.type, text_numbers)(value, path, problems)


def _telling(read_value: Callable[[Any], Any]) -> TypedReader:
    """A reader that notes what ``read_value`` refuses."""

    def read(value: Any, path: str, problems: Problems) -> Any:
        try:
            return read_value(value)
        except BadValueError as error:
            problems.add(path, str(error))
            return None

    return read


def read_enum(type_: edm.EnumType, value: Any) -> str | int:
    """The member's name, or the number of combined flags.

    Accepts a name, names with commas between (flags), a number also as text, the URL form.
    Raises: BadValueError, no such member.
    """
    if isinstance(value, str):
        prefixed = _PREFIXED.fullmatch(value)
        parts = [part.strip() for part in (prefixed[1] if prefixed else value).split(",")]
        numbers = [_enum_number(type_, part) for part in parts]
    else:
        numbers = [read_int64(value)]
    if None in numbers or (len(numbers) > 1 and not type_.is_flags):
        raise _no_member(type_)
    combined = reduce(or_, (number or 0 for number in numbers))
    if type_.is_flags:
        if combined < 0 or combined & ~reduce(or_, type_.members.values()):
            raise _no_member(type_)
        return combined
    (number,) = numbers
    for name, known in type_.members.items():
        if known == number:
            return name
    raise _no_member(type_)


def _enum_number(type_: edm.EnumType, text: str) -> int | None:
    if text in type_.members:
        return type_.members[text]
    return int(text) if _INTEGER.fullmatch(text) else None


def _no_member(type_: edm.EnumType) -> BadValueError:
    return BadValueError(f"must be one of {', '.join(type_.members)}")


def _collection_reader(type_: edm.CollectionType, text_numbers: bool) -> TypedReader:
    read_element = typed_reader(type_.element, text_numbers)

    def read(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            problems.add(path, "must be an array")
            return None
        read_items = []
        for index, item in enumerate(value):
            if item is None:
                problems.add(f"{path}[{index}]", "must not be null")
            else:
                read_items.append(read_element(item, f"{path}[{index}]", problems))
        return read_items

    return read


def _complex_reader(type_: edm.ComplexType, text_numbers: bool) -> TypedReader:
    properties = type_.properties

    def read(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.add(path, "must be an object")
            return None
        result = {}
        for name, item in value.items():
            if "@" in name:  # control information
                if name in _TYPES and str(item).rpartition(".")[2].lstrip("#") != type_.name:
                    problems.add(join_path(path, name), f"must be {type_.name}")
                continue
            item_path = join_path(path, name or NO_NAME)
            prop = properties.get(name)
            if prop is not None:
                if not prop.computed:
                    result[name] = read_property(prop, item, item_path, problems, text_numbers)
            elif type_.is_open:
                result[name] = item
            else:
                problems.add_unknown(item_path, name, properties, type_.name)
        return result

    return read
