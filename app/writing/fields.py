"""From the declaration of a column to the marshmallow field that reads a value for it.

A field takes what a caller gave, a typed value or its JSON form, and gives what the row keeps. What
it refuses it says in words that follow the name of the field. Schemas of entities are made of these
fields (``RowRules.schema``), and REST bodies that name properties of an entity take theirs from it
(``RowRules.field``), so that a type, a length, a range and a format are said in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import MAXYEAR, UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import BigInteger, Boolean, Column, Date, Integer, String

from app.db.types import ExactDecimal, JsonText, OrdinalEnum, UtcDateTime, json_text
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import BadValueError, Field
from app.http.schema_parts import Instant, JsonBoolean
from app.odata.payload.values import (
    integer_reader,
    read_date,
    read_decimal,
    read_string,
)
from app.writing.formats import FORMATS

NULL_REFUSED = "must not be null"
BLANK_REFUSED = "must not be blank"
MAXIMUM_TAGS = 20
MAXIMUM_TAG_LENGTH = 50
MAXIMUM_CUSTOM_FIELDS_BYTES = 20 * 1024
# What a column of money cannot keep.
MONEY_LIMIT = Decimal(10) ** 13
# The text form of an instant has four digits for its year on every platform from here on.
EARLIEST_YEAR = 1000


def field_of(column: Column[Any], **options: Any) -> Field:
    """The field of a column: its type, length, range, allowed values, format, nullability.

    Args:
        options: of the field, such as ``required``, ``data_key`` and ``metadata``.
    """
    kind, facets = column.type, column.info
    options = {"allow_none": bool(column.nullable), **options}
    if column.name == "tags":
        return Labels(**options)
    if isinstance(kind, JsonText):
        return CustomFields(**options)
    allowed = kind.members if isinstance(kind, OrdinalEnum) else facets.get("allowed")
    if allowed is not None:
        return Choice(allowed, any_case="any_case" in facets, **options)
    if isinstance(kind, String):
        length = facets.get("maximum_length") or kind.length
        check = FORMATS.get(facets.get("format", ""))
        return Text(length, check, lines="lines" in facets or None, **options)
    if isinstance(kind, UtcDateTime):
        return Moment(**options)
    if isinstance(kind, Boolean):
        return JsonBoolean(**options)
    if isinstance(kind, Date):
        return Day(**options)
    low, high = facets.get("minimum"), facets.get("maximum")
    bits = 64 if isinstance(kind, BigInteger) else 32
    # An Identifier is a BigInteger, and no row has the key 0; one of several tables is no foreign
    # key.
    if bits == 64 and (column.foreign_keys or column.name.endswith("_id")):
        low, high = 1, None
    if low is not None or high is not None:
        options["validate"] = validate.Range(low, high)
    if isinstance(kind, ExactDecimal):
        return Number(kind, **options)
    if isinstance(kind, Integer):
        return WholeNumber(bits, **options)
    raise TypeError(f"no field for {column!r}")


def has_one_line(column: Column[Any]) -> bool:
    """Whether a text is one line: a short one that is not said to have several."""
    length = column.info.get("maximum_length") or getattr(column.type, "length", None)
    return length is not None and length <= validate.LONGEST_LINE and "lines" not in column.info


def described(column: Column[Any]) -> str:
    """What a column says of itself, and of which years its days or instants may be."""
    last = {Date: MAXYEAR, UtcDateTime: MAXYEAR - 1}.get(type(column.type))
    years = "" if last is None else f" Of the years {EARLIEST_YEAR} to {last}."
    return f"{column.doc or ''}{years}"


def _none_if_blank(value: Any) -> Any:
    return None if isinstance(value, str) and validate.is_blank(value) else value


class Text(fields.String):
    """Text in the form that ``check`` gives it; blank is null, or refused where null is."""

    def __init__(
        self,
        length: int | None,
        check: Callable[[str], str] | None,
        *,
        lines: bool | None = None,
        **options: Any,
    ) -> None:
        message = None if length is None else f"must have at most {length:,} characters"
        super().__init__(
            validate=validate.Length(max=length, error=message, lines=lines) if length else None,
            pre_load=_none_if_blank if options.get("allow_none") else None,
            post_load=check,
            **options,
        )

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        text = read_string(value)
        if validate.is_blank(text):
            raise BadValueError(BLANK_REFUSED)
        return text


class Choice(fields.String):
    """One of some texts, with ``any_case`` in any spelling of these; blank is null."""

    def __init__(self, allowed: Sequence[str], *, any_case: bool, **options: Any) -> None:
        self.allowed = tuple(allowed)
        self._refusal = f"must be one of {', '.join(allowed)}"
        self._spelling = {name.lower() if any_case else name: name for name in allowed}
        self._fold = str.lower if any_case else str
        super().__init__(
            error_messages={"null": f"{NULL_REFUSED}: it {self._refusal}"},
            pre_load=_none_if_blank,
            # For the description of the API: with any case there are more values than these.
            validate=None if any_case else validate.OneOf(allowed),
            **options,
        )

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        if value is None:  # it was blank
            raise self.make_error("null")
        text = self._spelling.get(self._fold(value)) if isinstance(value, str) else None
        if text is None:
            raise BadValueError(self._refusal)
        return text


class Number(fields.Decimal):
    """An exact number that the column of ``kind`` keeps as it is."""

    def __init__(self, kind: ExactDecimal, **options: Any) -> None:
        super().__init__(**options)
        self._kind = kind

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Decimal:
        number, kind = read_decimal(value), self._kind
        if not -kind.limit < number < kind.limit:
            raise BadValueError(f"must be less than {kind.limit:,f}")
        exact = kind.quantize(number if number.adjusted() >= -kind.scale else Decimal(0))
        if exact == number:
            return exact
        if (
            kind.least < kind.scale
        ):  # an amount: how many, its currency says (writing/validation.py)
            raise BadValueError(f"must have the decimals of its currency, {kind.scale} at most")
        raise BadValueError(f"must have at most {kind.scale} decimals")


class WholeNumber(fields.Integer):
    """A whole number of so many bits."""

    def __init__(self, bits: int, **options: Any) -> None:
        super().__init__(**options)
        self._read = integer_reader(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        number: int = self._read(value)
        return number


class Day(fields.Date):
    """A calendar day of the years 1000 to 9999."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> date:
        day = value if type(value) is date else read_date(value)
        if day.year < EARLIEST_YEAR:
            raise BadValueError(f"must be in the years {EARLIEST_YEAR} to {MAXYEAR}")
        return day


class Moment(Instant):
    """An instant in UTC, to the millisecond that columns keep."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> datetime:
        instant = value if isinstance(value, datetime) else super()._deserialize(value)
        if instant.tzinfo is None:
            raise BadValueError("must have an offset from UTC")
        if not EARLIEST_YEAR <= instant.year < MAXYEAR:
            raise BadValueError(f"must be after the year {EARLIEST_YEAR} and before {MAXYEAR}")
        utc = instant.astimezone(UTC)
        return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


class Labels(fields.List):
    """Labels without repetition, in the order given; null is no labels."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fields.String(), **{**options, "allow_none": True})

    def deserialize(self, value: Any, *context: Any, **options: Any) -> Any:
        return super().deserialize([] if value is None else value, *context, **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise BadValueError("must be a list of strings")
        labels = []
        for label in value:
            text = read_string(label).strip()
            validate.require_line(text)
            if not text:
                raise BadValueError("must not contain a blank label")
            if len(text) > MAXIMUM_TAG_LENGTH:
                raise BadValueError(f"must have labels of at most {MAXIMUM_TAG_LENGTH} characters")
            labels.append(text)
        unique = list(dict.fromkeys(labels))
        if len(unique) > MAXIMUM_TAGS:
            raise BadValueError(f"must have at most {MAXIMUM_TAGS} labels")
        return unique


class CustomFields(fields.Dict):
    """A JSON object of the caller's own fields; null is an empty one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_none": True})

    def deserialize(self, value: Any, *context: Any, **options: Any) -> Any:
        return super().deserialize({} if value is None else value, *context, **options)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, Any]:
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
# A longer one, as it is answered, could not be sent back (app/http/json_body.py).
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
