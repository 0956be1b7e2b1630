"""Cleaners: from the declaration of a column to the function that checks and converts a value.

A cleaner takes what a caller gave (a typed value, or its JSON form) and returns what the row
keeps, or raises ``BadValueError`` with a text that follows the field's name. Cleaners are made
once per column, so that a request only calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import MAXYEAR, UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import BigInteger, Boolean, Column, Date, Integer, String, Text
from sqlalchemy.types import TypeEngine

from app.odata.payload_values import (
    BadValueError,
    integer_reader,
    read_boolean,
    read_date,
    read_datetime,
    read_decimal,
    read_string,
)
from app.types import ExactDecimal, JsonText, OrdinalEnum, UtcDateTime, json_text
from app.writing.formats import FORMATS

Cleaner = Callable[[Any], Any]

NULL_REFUSED = "must not be null"
BLANK_REFUSED = "must not be blank"
MAXIMUM_TAGS = 20
MAXIMUM_TAG_LENGTH = 50
MAXIMUM_CUSTOM_FIELDS_BYTES = 20 * 1024
# What a column of money cannot keep.
MONEY_LIMIT = Decimal(10) ** 13
# The text form of an instant has four digits for its year on every platform from here on.
EARLIEST_YEAR = 1000


def cleaner(column: Column[Any]) -> Cleaner:
    """The cleaner of a column: its type, length, range, allowed values, format, nullability."""
    nullable = bool(column.nullable)
    if column.name == "tags":
        return clean_tags
    if isinstance(column.type, JsonText):
        return clean_object
    allowed = _allowed(column)
    if allowed is not None:
        return _choice(allowed, nullable)
    if isinstance(column.type, String | Text):
        return _text(column, nullable)
    convert = _converter(column)

    def clean(value: Any) -> Any:
        if value is None:
            if nullable:
                return None
            raise BadValueError(NULL_REFUSED)
        return convert(value)

    return clean


def _allowed(column: Column[Any]) -> Sequence[str] | None:
    if isinstance(column.type, OrdinalEnum):
        return column.type.members
    allowed: Sequence[str] | None = column.info.get("allowed")
    return allowed


def _choice(allowed: Sequence[str], nullable: bool) -> Cleaner:
    members = frozenset(allowed)
    refusal = f"must be one of {', '.join(allowed)}"

    def clean(value: Any) -> str | None:
        if type(value) is str and value in members:
            return value
        if value is None or (isinstance(value, str) and not value.strip()):
            if nullable:
                return None
            raise BadValueError(f"{NULL_REFUSED}: it {refusal}")
        raise BadValueError(refusal)

    return clean


def _text(column: Column[Any], nullable: bool) -> Cleaner:
    length = column.info.get("maximum_length") or getattr(column.type, "length", None)
    limit = length if length is not None else float("inf")
    check = FORMATS.get(column.info.get("format", ""))

    def clean(value: Any) -> str | None:
        if value is None:
            if nullable:
                return None
            raise BadValueError(NULL_REFUSED)
        text = read_string(value)
        if not text or text.isspace():
            if nullable:
                return None
            raise BadValueError(BLANK_REFUSED)
        if len(text) > limit:
            raise BadValueError(f"must have at most {length:,} characters")
        return check(text) if check else text

    return clean


def _converter(column: Column[Any]) -> Cleaner:
    """The conversion of a value that is not null."""
    kind: TypeEngine[Any] = column.type
    if isinstance(kind, ExactDecimal):
        return _within(_decimal(kind), column.info)
    if isinstance(kind, UtcDateTime):
        return clean_instant
    if isinstance(kind, Boolean):
        return read_boolean
    if isinstance(kind, Date):
        return clean_date
    if isinstance(kind, Integer):
        # An Identifier is a BigInteger, and no row has the key 0; one of several tables is no
        # foreign key.
        is_key = column.foreign_keys or column.name.endswith("_id")
        if isinstance(kind, BigInteger) and is_key:
            return _within(integer_reader(64), {"minimum": 1})
        bits = 64 if isinstance(kind, BigInteger) else 32
        return _within(integer_reader(bits), column.info)
    raise TypeError(f"no cleaner for {column!r}")


def _decimal(kind: ExactDecimal) -> Cleaner:
    limit = Decimal(10) ** (kind.precision - kind.scale)
    too_wide = f"must be less than {limit:,f}"
    too_fine = f"must have at most {kind.scale} decimals"
    if kind.least < kind.scale:  # an amount: how many, its currency says (app/writing/amounts.py)
        too_fine = f"must have the decimals of its currency, {kind.scale} at most"

    def clean(value: Any) -> Decimal:
        number = read_decimal(value)
        if not -limit < number < limit:
            raise BadValueError(too_wide)
        exact = kind.quantize(number if number.adjusted() >= -kind.scale else Decimal(0))
        if exact != number:
            raise BadValueError(too_fine)
        return exact

    return clean


def _within(convert: Cleaner, facets: Mapping[str, Any]) -> Cleaner:
    """``convert``, and then the bounds that ``facets`` (``minimum``, ``maximum``) set."""
    low, high = facets.get("minimum"), facets.get("maximum")
    if low is None and high is None:
        return convert
    if high is None:
        refusal = f"must be {low} or more"
    elif low is None:
        refusal = f"must be {high} or less"
    else:
        refusal = f"must be between {low} and {high}"

    def clean(value: Any) -> Any:
        number = convert(value)
        if (low is not None and number < low) or (high is not None and number > high):
            raise BadValueError(refusal)
        return number

    return clean


def clean_date(value: Any) -> date:
    """A calendar day of the years 1000 to 9999."""
    day = value if type(value) is date else read_date(value)
    if day.year < EARLIEST_YEAR:
        raise BadValueError(f"must be in the years {EARLIEST_YEAR} to {MAXYEAR}")
    return day


def clean_instant(value: Any) -> datetime:
    """An instant in UTC, to the millisecond that columns keep."""
    instant = value if isinstance(value, datetime) else read_datetime(value)
    if instant.tzinfo is None:
        raise BadValueError("must have an offset from UTC")
    if not EARLIEST_YEAR <= instant.year < MAXYEAR:
        raise BadValueError(f"must be after the year {EARLIEST_YEAR} and before {MAXYEAR}")
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def clean_tags(value: Any) -> list[str]:
    """Labels without repetition, in the order given; null is no labels."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise BadValueError("must be a list of strings")
    labels = []
    for label in value:
        text = read_string(label).strip()
        if not text:
            raise BadValueError("must not contain a blank label")
        if len(text) > MAXIMUM_TAG_LENGTH:
            raise BadValueError(f"must have labels of at most {MAXIMUM_TAG_LENGTH} characters")
        labels.append(text)
    unique = list(dict.fromkeys(labels))
    if len(unique) > MAXIMUM_TAGS:
        raise BadValueError(f"must have at most {MAXIMUM_TAGS} labels")
    return unique


def clean_object(value: Any) -> dict[str, Any]:
    """A JSON object of the caller's own fields; null is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadValueError("must be an object")
    if value:
        _check_json(value, depth=0)
        try:
            size = len(json_text(value).encode())
        except orjson.JSONEncodeError:
            raise BadValueError("must contain JSON values of a sane size only") from None
        if size > MAXIMUM_CUSTOM_FIELDS_BYTES:
            raise BadValueError("must have at most 20 KB as JSON")
    return value


_DEEPEST = 20
# A longer one, as it is answered, could not be sent back (app/json_body.py).
_LONGEST_NUMBER = 100


def _check_json(value: Any, depth: int) -> None:
    """Refuse what no column of both databases can keep, or what would be costly to write."""
    if depth > _DEEPEST:
        raise BadValueError(f"must be nested at most {_DEEPEST} deep")
    if isinstance(value, str):
        read_string(value)
    elif isinstance(value, Decimal):
        if len(format(read_decimal(value), "f")) > _LONGEST_NUMBER:
            raise BadValueError("is out of range")
    elif isinstance(value, dict):
        for name, inner in value.items():
            read_string(name)
            _check_json(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_json(inner, depth + 1)
