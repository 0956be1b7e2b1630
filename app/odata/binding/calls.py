"""The canonical functions: what they take, what they give, how each database computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, Text
from sqlalchemy.types import TypeEngine

from app.dynamic import dynamic
from app.odata import edm
from app.odata.binding.protocol import Translating
from app.odata.binding.sequences import collection_call, is_collection
from app.odata.binding.subsets import within_collection
from app.odata.binding.texts import text_match
from app.odata.binding.unifying import as_day, as_time
from app.odata.binding.values import Constant, Typed, family
from app.odata.errors import QueryError, UnsupportedError
from app.odata.nodes import Call, Literal, Node
from app.odata.sql.decimals import DecimalNumber, decimal_operation
from app.odata.sql.patterns import spelled_pattern
from app.odata.sql.spelled import Predicate, Spelled, spell
from app.types import UtcDateTime

# What ``trim`` takes away: the blanks of Unicode that are one character each.
_BLANKS = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
_BLANKS += "\u200a\u2028\u2029\u202f\u205f\u3000"
_MINIMUM, _MAXIMUM = "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"


@dataclass(frozen=True)
class Function:
    """A function whose result is one expression; by the family of its first argument.

    ``parameters`` are the families that each argument may have.
    """

    parameters: tuple[tuple[str, ...], ...]
    result: edm.EdmType
    type: TypeEngine[Any]
    sqlite: str
    postgresql: str


def _function(
    parameters: str, result: edm.EdmType, type_: type[TypeEngine[Any]], sqlite: str,
    postgresql: str | None = None,
) -> Function:  # fmt: skip
    families = tuple(tuple(one.split("|")) for one in parameters.split())
    return Function(families, result, type_(), sqlite, postgresql or sqlite)


def _text(parameters: str, sqlite: str, postgresql: str) -> Function:
    return _function(parameters, edm.STRING, Text, sqlite, postgresql)


def _number(parameters: str, sqlite: str, postgresql: str | None = None) -> Function:
    return _function(parameters, edm.INT32, BigInteger, sqlite, postgresql)


# PostgreSQL's positions are Int32; a text is never that long. ``least`` and ``greatest`` pass over
# nulls there.
_POSITION = "CAST(least(greatest({1}, -1000000000), 1000000000) AS INTEGER)"
_LENGTH = "CAST(least(greatest({2}, 0), 1000000000) AS INTEGER)"
_REST = (
    f"(CASE WHEN {{1}} >= 0 THEN substr({{0}}, {_POSITION} + 1)"
    f" WHEN {{1}} < 0 THEN right({{0}}, - {_POSITION}) END)"
)
_FUNCTIONS: dict[tuple[str, int], Function] = {
    ("length", 1): _number("text", "length({0})"),
    ("indexof", 2): _number("text text", "(instr({0}, {1}) - 1)", "(strpos({0}, {1}) - 1)"),
    ("concat", 2): _text("text text", "({0} || {1})", '(({0} || {1}) COLLATE "C")'),
    ("tolower", 1): _text(
        "text", "odata_lower({0})", '(lower({0} COLLATE "und-x-icu") COLLATE "C")'
    ),
    ("toupper", 1): _text(
        "text", "odata_upper({0})", '(upper({0} COLLATE "und-x-icu") COLLATE "C")'
    ),
    ("substring", 2): _text("text integer", "odata_substring({0}, {1})", _REST),
    ("substring", 3): _text(
        "text integer integer",
        "odata_substring_of_length({0}, {1}, {2})",
        f"(CASE WHEN {{2}} IS NOT NULL THEN substr({_REST}, 1, {_LENGTH}) END)",
    ),
}
# Those that take collections, too.
_OF_COLLECTIONS = ("length", "indexof", "concat", "substring")
# Where each part begins in the text of an instant or a date, its length, PostgreSQL's name for it.
_DATE_PARTS = {"year": (1, 4), "month": (6, 2), "day": (9, 2)}
_TIME_PARTS = {"hour": (1, 2), "minute": (4, 2), "second": (7, 2)}
_PARTS = {**_DATE_PARTS, **_TIME_PARTS}


def call(translator: Translating, node: Call) -> Typed:
    """The value of a canonical function.

    Raises: QueryError, an argument is of the wrong type; UnsupportedError, the function is not
        offered.
    """
    name = node.name
    if name in ("contains", "startswith", "endswith"):
        return Typed(text_match(translator, node), edm.BOOLEAN)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(translator, node)
    if name in _OF_COLLECTIONS and is_collection(translator, node.arguments[0]):
        return collection_call(translator, node)
    function = _FUNCTIONS.get((name, len(node.arguments)))
    if function is None:
        raise UnsupportedError(f"the function {name} is not offered", node.offset)
    arguments = [
        translator.argument(argument, name, *families)
        for argument, families in zip(node.arguments, function.parameters, strict=True)
    ]
    if (name, len(arguments)) == ("substring", 3):
        _refuse_negative(translator, node.arguments[2])
    sql = Spelled(
        function.type, function.sqlite, function.postgresql, *(one.sql for one in arguments)
    )
    return Typed(sql, function.result, any(one.nullable for one in arguments))


def _refuse_negative(translator: Translating, length: Node) -> None:
    """Raise QueryError where a length is written that is less than nothing."""
    literal = translator.unaliased(length)
    if not isinstance(literal, Literal) or literal.kind != "integer":
        return
    if translator.context.parameters.decide(literal, lambda value: value < 0):
        raise QueryError("the length of a substring is 0 or more", literal.offset)


def _part(translator: Translating, node: Call) -> Typed:
    """``year`` to ``second`` of what has it, UTC."""
    takes = ("instant", "date") if node.name in _DATE_PARTS else ("instant", "time")
    value = _moment(translator, node, *takes)
    start, length = _PARTS[node.name]
    instant = family(value.type) == "instant"
    if instant and node.name in _TIME_PARTS:
        start += len("2024-01-31T")
    moment = "{0} AT TIME ZONE 'UTC'" if instant else "{0}"
    sql = Spelled(
        BigInteger(),
        f"CAST(substr({{0}}, {start}, {length}) AS INTEGER)",
        f"CAST(trunc(extract({node.name} FROM {moment})) AS BIGINT)",
        value.sql,
    )
    return Typed(sql, edm.INT32, value.nullable)


def _date(translator: Translating, node: Call) -> Typed:
    return as_day(_moment(translator, node, "instant", "date"))


def _time_of_day(translator: Translating, node: Call) -> Typed:
    return as_time(_moment(translator, node, "instant"))


def _offset(translator: Translating, node: Call) -> Typed:
    instant = _moment(translator, node, "instant")
    sql = spell(BigInteger(), "(CASE WHEN {0} IS NOT NULL THEN 0 END)", instant.sql)
    return Typed(sql, edm.INT32, instant.nullable)


def _moment(translator: Translating, node: Call, *families: str) -> Typed:
    """The argument of a function whose value depends on the offset of an instant.

    Raises: QueryError, it is a literal with an offset other than UTC: instants are kept without.
    """
    argument = translator.unaliased(node.arguments[0])
    decide = translator.context.parameters.decide
    match argument:
        case Literal(kind="datetime") if not decide(argument, _is_utc):
            message = f"{node.name} takes instants in UTC, such as 2024-05-31T10:00:00Z"
            raise QueryError(message, argument.offset)
    return translator.argument(node.arguments[0], node.name, *families)


def _is_utc(instant: datetime) -> bool:
    return not instant.utcoffset()


def _fraction(translator: Translating, node: Call) -> Typed:
    value = translator.argument(node.arguments[0], node.name, "instant", "time")
    instant = family(value.type) == "instant"
    start, digits = (21, 3) if instant else (10, 6)
    moment = "{0} AT TIME ZONE 'UTC'" if instant else "{0}"
    sql = Spelled(
        DecimalNumber(),
        f"(('0.' || substr({{0}}, {start}, {digits})) COLLATE odata_decimal)",
        f"round(mod(extract(second FROM {moment}), 1), {digits})",
        value.sql,
    )
    return Typed(sql, edm.DECIMAL, value.nullable)


def _total_seconds(translator: Translating, node: Call) -> Typed:
    value = translator.argument(node.arguments[0], node.name, "duration")
    sql = Spelled(
        DecimalNumber(),
        "(odata_multiply(CAST({0} AS TEXT), '0.000001') COLLATE odata_decimal)",
        "({0} * 0.000001)",
        value.sql,
    )
    return Typed(sql, edm.DECIMAL, value.nullable)


def _trim(translator: Translating, node: Call) -> Typed:
    value = translator.argument(node.arguments[0], node.name, "text")
    sql = Spelled(Text(), "trim({0}, {1})", "btrim({0}, {1})", value.sql, _BLANKS)
    return Typed(sql, edm.STRING, value.nullable)


def _rounding(translator: Translating, node: Call) -> Typed:
    """``round`` half away from zero, ``floor``, ``ceiling``; whole numbers stay as they are."""
    name = node.name
    value = translator.argument(node.arguments[0], name, "integer", "decimal", "double")
    kind = family(value.type)
    if kind == "integer":
        return value
    if kind == "decimal":
        return Typed(decimal_operation(name, value.sql), edm.DECIMAL, value.nullable)
    postgresql = {
        "round": "(sign({0}) * floor(abs({0}) + 0.5))", "floor": "floor({0})",
        "ceiling": "ceil({0})",
    }[name]  # fmt: skip
    sql = Spelled(Double(), f"odata_{name}_double({{0}})", postgresql, value.sql)
    return Typed(sql, edm.DOUBLE, value.nullable)


def _matches_pattern(translator: Translating, node: Call) -> Typed:
    text = translator.argument(node.arguments[0], node.name, "text")
    pattern = translator.place(node.arguments[1])
    if not isinstance(pattern, Constant) or pattern.literal.kind != "string":
        raise UnsupportedError("the pattern must be a literal", node.arguments[1].offset)
    bind = translator.context.parameters.bind
    try:
        ours = bind(pattern.literal, Text, lambda value: spelled_pattern(value)[0])
    except QueryError as error:
        raise type(error)(error.message, pattern.literal.offset) from None
    theirs = bind(pattern.literal, Text, lambda value: spelled_pattern(value)[1])
    sql = Predicate("odata_matches({0}, {1})", '(({0} COLLATE "C") ~ {2})', text.sql, ours, theirs)
    return Typed(sql, edm.BOOLEAN, text.nullable)


def _now(translator: Translating, node: Call) -> Typed:
    return Typed(dynamic("now"), edm.DATETIME, nullable=False)


def _end_of_time(translator: Translating, node: Call) -> Typed:
    instant = _MINIMUM if node.name == "mindatetime" else _MAXIMUM
    sql = Spelled(UtcDateTime(), f"'{instant}'", f"CAST('{instant}' AS TIMESTAMPTZ)")
    return Typed(sql, edm.DATETIME, nullable=False)


_SPECIAL: dict[str, Callable[[Translating, Call], Typed]] = {
    **dict.fromkeys(_PARTS, _part),
    "date": _date,
    "totaloffsetminutes": _offset,
    "time": _time_of_day,
    "fractionalseconds": _fraction,
    "totalseconds": _total_seconds,
    "trim": _trim,
    **dict.fromkeys(("round", "floor", "ceiling"), _rounding),
    "matchespattern": _matches_pattern,
    **dict.fromkeys(("hassubset", "hassubsequence"), within_collection),
    "now": _now,
    "mindatetime": _end_of_time,
    "maxdatetime": _end_of_time,
}
