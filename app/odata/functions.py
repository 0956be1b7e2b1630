"""The functions of expressions: the one list that parser, SQL, capabilities and docs are made of.

To add one whose value is an expression of its arguments is to add an entry here. Those without SQL
need more than that, and have code under their name in ``binding/calls.py``. Source: URL Conventions
4.01, 5.1.1.5 to 5.1.1.11.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from dataclasses import dataclass

# These take arguments of their own kind: syntax/parser.py, binding/casts.py.
OWN_SYNTAX: t.Final = ("cast", "isof", "case")


@dataclass(frozen=True)
class Overload:
    """One way to call a function.

    Args:
        parameters: the family of each argument (``edm.PrimitiveType``); ``length`` is an
            integer of 0 or more, ``collection`` a collection of anything.
        result: a primitive type of the EDM.
        sqlite, postgresql: the value; ``{0}`` stands for the first argument, and alone for itself.
            Operators of a template are in parentheses. Empty where code makes it.
    """

    parameters: tuple[str, ...]
    result: str
    sqlite: str = ""
    postgresql: str = ""


@dataclass(frozen=True)
class Function:
    """A canonical function.

    Args:
        takes_collections: the standard has it for collections, too.
        takes_utc: its value depends on the offset of an instant, which is not kept.
        is_offered: it is more than parsed.
    """

    overloads: tuple[Overload, ...]
    takes_collections: bool = False
    takes_utc: bool = False
    is_offered: bool = True

    @property
    def counts(self) -> list[int]:
        """How many arguments it takes, the least number first."""
        return sorted({len(overload.parameters) for overload in self.overloads})

    def overload(self, *families: str) -> Overload:
        """The one that takes arguments of these families."""
        return next(
            overload
            for overload in self.overloads
            if tuple(family_of(parameter) for parameter in overload.parameters) == families
        )


def family_of(parameter: str) -> str:
    """The family of an argument that stands for a parameter."""
    return "integer" if parameter == "length" else parameter


_TEXT, _BOOLEAN, _INT32, _DECIMAL = "Edm.String", "Edm.Boolean", "Edm.Int32", "Edm.Decimal"
_INSTANT = "Edm.DateTimeOffset"
# PostgreSQL's positions are Int32; a text is never that long. ``least`` and ``greatest`` pass over
# nulls there.
_POSITION = "CAST(least(greatest({1}, -1000000000), 1000000000) AS INTEGER)"
_LENGTH = "CAST(least(greatest({2}, 0), 1000000000) AS INTEGER)"
_REST = (
    f"(CASE WHEN {{1}} >= 0 THEN substr({{0}}, {_POSITION} + 1)"
    f" WHEN {{1}} < 0 THEN right({{0}}, - {_POSITION}) END)"
)
# What ``trim`` takes away: the blanks of Unicode that are one character each.
_BLANKS = (
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
    0x205F, 0x3000,
)  # fmt: skip
_BLANKS_OF_SQLITE = f"char({', '.join(map(str, _BLANKS))})"
_BLANKS_OF_POSTGRESQL = "E'" + "".join(rf"\u{blank:04x}" for blank in _BLANKS) + "'"
_UTC = "{0} AT TIME ZONE 'UTC'"


def _overload(
    parameters: str, result: str, sqlite: str = "", postgresql: str | None = None
) -> Overload:
    return Overload(tuple(parameters.split()), result, sqlite, postgresql or sqlite)


def _plain(
    parameters: str, result: str, sqlite: str = "", postgresql: str | None = None
) -> Function:
    return Function((_overload(parameters, result, sqlite, postgresql),))


def _match() -> Function:
    both = (_overload("text text", _BOOLEAN), _overload("collection collection", _BOOLEAN))
    return Function(both, takes_collections=True)


def _part(name: str, start: int, length: int, *others: str) -> Function:
    """A part of an instant, whose text has it at ``start``, or of a date or a time of day."""

    def overload(parameter: str, at: int, moment: str) -> Overload:
        return _overload(
            parameter, _INT32, f"CAST(substr({{0}}, {at}, {length}) AS INTEGER)",
            f"CAST(trunc(extract({name} FROM {moment})) AS BIGINT)",
        )  # fmt: skip

    time_at = start - len("2024-01-31T")
    return Function(
        (
            overload("instant", start, _UTC),
            *(overload(other, time_at if other == "time" else start, "{0}") for other in others),
        ),
        takes_utc=True,
    )


def _fraction() -> Function:
    """Seconds behind the point: three digits of an instant are kept, six of a time of day."""

    def overload(parameter: str, at: int, digits: int, moment: str) -> Overload:
        return _overload(
            parameter, _DECIMAL, f"(('0.' || substr({{0}}, {at}, {digits})) COLLATE odata_decimal)",
            f"round(mod(extract(second FROM {moment}), 1), {digits})",
        )  # fmt: skip

    return Function((overload("instant", 21, 3, _UTC), overload("time", 10, 6, "{0}")))


def _rounding(name: str, decimal: str, double: str) -> Function:
    """Whole numbers stay as they are, of whatever width."""
    return Function((
        _overload("integer", "Edm.Int64", "{0}"),
        _overload("decimal", _DECIMAL, f"(odata_{name}({{0}}) COLLATE odata_decimal)", decimal),
        _overload("double", "Edm.Double", f"odata_{name}_double({{0}})", double),
    ))  # fmt: skip


def _not_offered(parameters: str, result: str) -> Function:
    return Function((_overload(parameters, result),), is_offered=False)


FUNCTIONS: t.Final[Mapping[str, Function]] = {
    "concat": Function(
        (_overload("text text", _TEXT, "({0} || {1})", '(({0} || {1}) COLLATE "C")'),),
        takes_collections=True,
    ),
    "contains": _match(),
    "endswith": _match(),
    "indexof": Function(
        (
            _overload("text text", _INT32, "(instr({0}, {1}) - 1)", "(strpos({0}, {1}) - 1)"),
            _overload("collection collection", _INT32),
        ),
        takes_collections=True,
    ),
    "length": Function(
        (_overload("text", _INT32, "length({0})"), _overload("collection", _INT32)),
        takes_collections=True,
    ),
    "startswith": _match(),
    "substring": Function(
        (
            _overload("text integer", _TEXT, "odata_substring({0}, {1})", _REST),
            _overload(
                "text integer length", _TEXT, "odata_substring_of_length({0}, {1}, {2})",
                f"(CASE WHEN {{2}} IS NOT NULL THEN substr({_REST}, 1, {_LENGTH}) END)",
            ),
        ),
        takes_collections=True,
    ),
    "matchespattern": _plain("text text", _BOOLEAN),
    "tolower": _plain(
        "text", _TEXT, "odata_lower({0})", '(lower({0} COLLATE "und-x-icu") COLLATE "C")'
    ),
    "toupper": _plain(
        "text", _TEXT, "odata_upper({0})", '(upper({0} COLLATE "und-x-icu") COLLATE "C")'
    ),
    "trim": _plain(
        "text", _TEXT, f"trim({{0}}, {_BLANKS_OF_SQLITE})", f"btrim({{0}}, {_BLANKS_OF_POSTGRESQL})"
    ),
    "hassubset": _plain("collection collection", _BOOLEAN),
    "hassubsequence": _plain("collection collection", _BOOLEAN),
    "date": Function(
        (
            _overload(
                "instant", "Edm.Date", "substr({0}, 1, 10)",
                "CAST({0} AT TIME ZONE 'UTC' AS DATE)",
            ),
            _overload("date", "Edm.Date", "{0}"),
        ),
        takes_utc=True,
    ),
    "day": _part("day", 9, 2, "date"),
    "fractionalseconds": _fraction(),
    "hour": _part("hour", 12, 2, "time"),
    "maxdatetime": _plain(
        "", _INSTANT, "'9999-12-31T23:59:59.999Z'",
        "CAST('9999-12-31T23:59:59.999Z' AS TIMESTAMPTZ)",
    ),
    "mindatetime": _plain(
        "", _INSTANT, "'0001-01-01T00:00:00.000Z'",
        "CAST('0001-01-01T00:00:00.000Z' AS TIMESTAMPTZ)",
    ),
    "minute": _part("minute", 15, 2, "time"),
    "month": _part("month", 6, 2, "date"),
    "now": _plain("", _INSTANT),
    "second": _part("second", 18, 2, "time"),
    "time": Function(
        (
            _overload(
                "instant", "Edm.TimeOfDay", "(substr({0}, 12, 12) || '000')",
                "CAST({0} AT TIME ZONE 'UTC' AS TIME)",
            ),
        ),
        takes_utc=True,
    ),
    "totaloffsetminutes": Function(
        (_overload("instant", _INT32, "(CASE WHEN {0} IS NOT NULL THEN 0 END)"),), takes_utc=True
    ),
    "totalseconds": _plain(
        "duration", _DECIMAL,
        "(odata_multiply(CAST({0} AS TEXT), '0.000001') COLLATE odata_decimal)",
        "({0} * 0.000001)",
    ),
    "year": _part("year", 1, 4, "date"),
    "ceiling": _rounding("ceiling", "ceil({0})", "ceil({0})"),
    "floor": _rounding("floor", "floor({0})", "floor({0})"),
    "round": _rounding(
        "round", "round({0})",
        "(trunc({0}) + CASE WHEN abs({0} - trunc({0})) >= 0.5 THEN sign({0}) ELSE 0 END)",
    ),
    "geo.distance": _not_offered("geo geo", "Edm.Double"),
    "geo.intersects": _not_offered("geo geo", _BOOLEAN),
    "geo.length": _not_offered("geo", "Edm.Double"),
    "isdefined": _not_offered("any", _BOOLEAN),  # Data Aggregation 4.0
}  # fmt: skip
