r"""Texts of columns as values of other types: what is none of a type is null, on both databases.

Both try the text against one pattern first, so that they agree on what a value looks like; a
repetition is written ``{4,4}``, because ``{4}`` is the place of an argument in a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.types import TypeEngine

from app.db.types import iso_instant
from app.odata.sql.dialect_sql import DialectSql
from app.odata.sql.sqlite_numbers import written
from app.odata.syntax.literals import to_binary, to_duration

_LEAP = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29"
_DAY = (
    "(?!0000)([0-9]{4,4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    f"|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP})"
)
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,12})?)?"
_OFFSET = "([Zz]|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)"
_HEX = "[0-9A-Fa-f]"
_BASE64 = "[A-Za-z0-9_-]"
PATTERNS = {
    "integer": "[+-]?[0-9]{1,18}",
    "decimal": "[+-]?[0-9]{1,100}([.][0-9]{1,100})?([eE][+-]?[0-9]{1,2})?",
    "double": "(-?INF|[+-]?[0-9]{1,100}([.][0-9]{1,100})?([eE][+-]?[0-9]{1,3})?)",
    "date": _DAY,
    "instant": f"{_DAY}[Tt]{_TIME}{_OFFSET}",
    "time": _TIME,
    "duration": (
        "-?[Pp](?=[0-9Tt])([0-9]{1,9}[Dd])?"
        "([Tt](?=[0-9])([0-9]{1,9}[Hh])?([0-9]{1,9}[Mm])?([0-9]{1,9}([.][0-9]{1,12})?[Ss])?)?"
    ),
    "guid": f"{_HEX}{{8,8}}(-{_HEX}{{4,4}}){{3,3}}-{_HEX}{{12,12}}",
    # The bits behind the last byte are zero, and the padding is whole or left out.
    "binary": (f"({_BASE64}{{4,4}})*({_BASE64}[AQgw](==)?|{_BASE64}{{2,2}}[AEIMQUYcgkosw048]=?)?"),
}
_LONGEST_DURATION = 3652059 * 86_400_000_000


def _unit(letter: str, microseconds: int) -> str:
    digits = f"substring(upper(t) from '([0-9]+){letter}')"
    return f"coalesce(CAST({digits} AS BIGINT), 0) * {microseconds}"


_MICROSECONDS = " + ".join(
    (
        _unit("D", 86_400_000_000), _unit("H", 3_600_000_000), _unit("M", 60_000_000),
        "coalesce(CAST(CAST(substring(upper(t) from '([0-9]+([.][0-9]{1,6})?)[0-9]*S')"
        " AS NUMERIC) * 1000000 AS BIGINT), 0)",
    )
)  # fmt: skip
_SIGN = "(CASE WHEN t LIKE '-%' THEN -1 ELSE 1 END)"
_INSTANT = (
    "CAST(upper(regexp_replace(t, '([.][0-9]{3,3})[0-9]+', '\\1')) AS TIMESTAMP WITH TIME ZONE)"
)
_EARLIEST, _LATEST = "'0001-01-01T00:00:00Z'", "'9999-12-31T23:59:59.999Z'"
_NUMBER = "CAST(t AS NUMERIC)"
# PostgreSQL refuses numbers that a double has no place for; below the least there is zero.
_DOUBLE = (
    "CASE WHEN t LIKE '%INF' THEN CAST(replace(t, 'INF', 'Infinity') AS DOUBLE PRECISION)"
    f" WHEN abs({_NUMBER}) < 5e-324 THEN 0 WHEN abs({_NUMBER}) > 1.7976931348623157e308 THEN NULL"
    " ELSE CAST(t AS DOUBLE PRECISION) END"
)
_PADDED = "rpad(rtrim(t, '='), (length(rtrim(t, '=')) + 3) / 4 * 4, '=')"
# Family -> what PostgreSQL makes of a text that the pattern lets through.
_VALUES = {
    "integer": "CAST(t AS BIGINT)",
    "decimal": _NUMBER,
    "double": _DOUBLE,
    "date": "CAST(t AS DATE)",
    "instant": f"CASE WHEN {_INSTANT} BETWEEN {_EARLIEST} AND {_LATEST} THEN {_INSTANT} END",
    "time": "CAST(regexp_replace(t, '([.][0-9]{6,6})[0-9]+', '\\1') AS TIME)",
    "duration": (
        f"CASE WHEN {_MICROSECONDS} <= {_LONGEST_DURATION} THEN {_SIGN} * ({_MICROSECONDS}) END"
    ),
    "guid": "CAST(t AS UUID)",
    "binary": f"decode(translate({_PADDED}, '-_', '+/'), 'base64')",
}
# The families that texts are cast to.
FROM_TEXT = frozenset(("boolean", *_VALUES))


def of_text(kind: str, type_: TypeEngine[Any], text: ColumnElement[Any]) -> ColumnElement[Any]:
    """A text as a value of a family, of that type in SQL; null where it is none."""
    if kind == "boolean":
        template = "(CASE lower({{0}}) WHEN 'true' THEN {0} WHEN 'false' THEN {1} END)"
        return DialectSql(type_, template.format(1, 0), template.format("true", "false"), text)
    collation = " COLLATE odata_decimal" if kind == "decimal" else ""
    # The text stands in a select of its own: casts of casts would be written many times.
    read = f"CASE WHEN t ~ '^({PATTERNS[kind]})$' THEN {_VALUES[kind]} END"
    postgresql = f"(SELECT {read} FROM (SELECT CAST({{0}} AS TEXT) AS t OFFSET 0) AS o)"  # nosec B608
    return DialectSql(type_, f"(odata_to_{kind}({{0}}){collation})", postgresql, text)


# --- SQLite


def _read(kind: str, convert: Callable[[str], Any]) -> Callable[[str], Any]:
    pattern = re.compile(PATTERNS[kind], re.ASCII)

    def read(text: str) -> Any:
        if pattern.fullmatch(text) is None:
            return None
        try:
            return convert(text)
        except (ValueError, OverflowError):
            return None

    return read


def _to_double(text: str) -> float | None:
    number = float(text)
    return None if number in (float("inf"), float("-inf")) and "INF" not in text else number


def _to_instant(text: str) -> str:
    return iso_instant(datetime.fromisoformat(text.upper()).astimezone(UTC))


def _to_time(text: str) -> str:
    return time.fromisoformat(text).isoformat(timespec="microseconds")


def _to_duration(text: str) -> int | None:
    total = to_duration(text) // timedelta(microseconds=1)
    return total if abs(total) <= _LONGEST_DURATION else None


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "decimal": lambda text: written(Decimal(text)),
    "double": _to_double,
    "date": str,
    "instant": _to_instant,
    "time": _to_time,
    "duration": _to_duration,
    "guid": str.lower,
    "binary": to_binary,
}
SQLITE = {f"to_{kind}": _read(kind, convert) for kind, convert in _READERS.items()}
