"""Column types that behave the same on SQLite and PostgreSQL, to the byte of what is read back."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import orjson
from sqlalchemy import (
    TEXT,
    VARCHAR,
    BigInteger,
    DateTime,
    Dialect,
    Integer,
    Numeric,
    Row,
    SmallInteger,
    String,
    Text,
    Uuid,
)
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

# Digits behind the point that amounts of money keep (docs/adr/0014).
MONEY_SCALE = 3
# Row identifiers: 64 bits everywhere (SQLite's INTEGER PRIMARY KEY is 64 bits wide).
# A row of a statement whose columns nobody has told the type checker.
AnyRow = Row[*tuple[Any, ...]]

Identifier = BigInteger().with_variant(Integer, "sqlite")


def string(length: int) -> TypeEngine[str]:
    """Text of at most ``length`` characters, ordered by code point on both databases."""
    return String(length).with_variant(VARCHAR(length, collation="C"), "postgresql")


def text() -> TypeEngine[str]:
    """Text without a limit in the database, ordered by code point on both databases."""
    return Text().with_variant(TEXT(collation="C"), "postgresql")


class ExactDecimal(TypeDecorator[Decimal]):
    """A decimal number without binary floating point: NUMERIC, or a scaled integer on SQLite.

    SQLite's own NUMERIC keeps fractions as floats; the integer of the smallest unit (cents for
    scale 2) compares, sums and sorts exactly (docs/adr/0014).

    Args:
        least: digits behind the point that are always written; all of ``scale`` by default. Money
            has three, and its third is written where it is not 0 (docs/adr/0014).
    """

    impl = Numeric
    cache_ok = True

    def __init__(self, precision: int, scale: int, least: int | None = None) -> None:
        super().__init__(precision, scale)
        self.precision = precision
        self.scale = scale
        self.least = scale if least is None else least
        self.limit = Decimal(10) ** (precision - scale)
        self._unit = Decimal(1).scaleb(-scale)
        self._coarse = Decimal(1).scaleb(-self.least)

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(Numeric(self.precision, self.scale))

    def quantize(self, value: Decimal) -> Decimal:
        """``value`` rounded half up (away from zero) to the scale, in the digits it is written."""
        exact = value.quantize(self._unit, ROUND_HALF_UP)
        if self.least == self.scale:
            return exact
        coarse = exact.quantize(self._coarse, ROUND_HALF_UP)
        return coarse if coarse == exact else exact

    def widened(self, precision: int) -> ExactDecimal:
        """The type of a sum of such numbers: written alike, with more digits before the point."""
        return ExactDecimal(precision, self.scale, self.least)

    def process_bind_param(self, value: Decimal | int | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        exact = self.quantize(Decimal(value))
        return int(exact.scaleb(self.scale)) if dialect.name == "sqlite" else exact

    def process_literal_param(self, value: Decimal | int | None, dialect: Dialect) -> str:
        return "NULL" if value is None else str(self.process_bind_param(value, dialect))

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        if value is None:
            return None
        if dialect.name == "sqlite":
            value = Decimal(int(value)).scaleb(-self.scale)
        return self.quantize(Decimal(value))


class UtcDateTime(TypeDecorator[datetime]):
    """An instant in UTC to the millisecond; on SQLite sortable ISO 8601 text with ``Z``."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(24))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        return iso_instant(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if dialect.name == "sqlite":
            return datetime.fromisoformat(value)
        return value.astimezone(UTC)  # type: ignore[no-any-return]  # psycopg gives datetime


class JsonText(TypeDecorator[Any]):
    """A JSON value kept as the compact text that was written (``json``, never ``jsonb``)."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text())
        return dialect.type_descriptor(_PostgresJson())

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else orjson.loads(value)


class _PostgresJson(UserDefinedType[str]):
    """PostgreSQL's ``json``, given and taken as text: ``JsonText`` does the parsing.

    A subclass of SQLAlchemy's JSON would be replaced by the dialect's own, which encodes the text
    once more. The driver hands ``json`` over as text (app/db/engines.py): no float is ever made.
    """

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        return "JSON"


class OrdinalEnum(TypeDecorator[str]):
    """An enumeration whose order matters, kept as the position of its member (0, 1, 2 ...)."""

    impl = SmallInteger
    cache_ok = True

    def __init__(self, name: str, members: Sequence[str]) -> None:
        super().__init__()
        self.name = name
        self.members = tuple(members)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> int | None:
        return None if value is None else self.members.index(value)

    def process_literal_param(self, value: str | None, dialect: Dialect) -> str:
        return "NULL" if value is None else str(self.members.index(value))

    def process_result_value(self, value: int | None, dialect: Dialect) -> str | None:
        return None if value is None else self.members[value]


def iso_instant(value: datetime) -> str:
    """``2024-01-31T09:05:00.000Z``: the one text form of an instant, in columns and in JSON."""
    instant = value if value.tzinfo is UTC else value.astimezone(UTC)
    return instant.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def json_text(value: Any) -> str:
    """Compact JSON of plain values, Decimals as exact numbers, datetimes as ``iso_instant``."""
    return orjson.dumps(
        value, default=_json_default, option=orjson.OPT_PASSTHROUGH_DATETIME
    ).decode()


def _json_default(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, datetime):
        return iso_instant(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


class Guid(TypeDecorator[uuid.UUID]):
    """Edm.Guid: UUID, or on SQLite its text in lower case with dashes; both sort alike."""

    impl = Uuid
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(36))
        return dialect.type_descriptor(Uuid())

    def process_bind_param(self, value: uuid.UUID | None, dialect: Dialect) -> Any:
        return str(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> uuid.UUID | None:
        return uuid.UUID(value) if isinstance(value, str) else value
