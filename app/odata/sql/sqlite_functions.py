"""The SQL functions and the collation that queries use on SQLite; every connection gets them.

Collections are arrays of texts and null, as JSON. Of texts SQLite itself knows ASCII only. An
instant is ``2024-01-31T09:05:00.000Z``, a date ``2024-01-31``, a duration whole microseconds.
No argument is null.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from inspect import signature
from typing import Any, TypeVar

import orjson
import re2  # type: ignore[import-untyped]

from app.db.types import iso_instant
from app.odata.sql import sqlite_numbers as numbers
from app.odata.sql.aggregates import Percentile
from app.odata.sql.text_values import SQLITE
from app.odata.syntax.literals import base64url

Value = TypeVar("Value")


def _of_arrays(compute: Callable[[list[Any], list[Any]], Value]) -> Callable[[str, str], Value]:
    """A function of two arrays that are given as JSON."""
    return lambda whole, part: compute(orjson.loads(whole), orjson.loads(part))


@_of_arrays
def has_subset(whole: list[Any], part: list[Any]) -> bool:
    """Whether each member of ``part`` stands in ``whole`` at least as often."""
    return not Counter(part) - Counter(whole)


@_of_arrays
def has_subsequence(whole: list[Any], part: list[Any]) -> bool:
    """Whether the members of ``part`` stand in ``whole`` in their order, others between them."""
    rest = iter(whole)
    return all(member in rest for member in part)


def _index_of(whole: list[Any], part: list[Any]) -> int:
    """Where the members of ``part`` stand in ``whole`` one behind the other; -1 if nowhere."""
    places = range(len(whole) - len(part) + 1)
    return next((at for at in places if whole[at : at + len(part)] == part), -1)


index_of = _of_arrays(_index_of)
contains = _of_arrays(lambda whole, part: _index_of(whole, part) >= 0)
starts_with = _of_arrays(lambda whole, part: whole[: len(part)] == part)
ends_with = _of_arrays(lambda whole, part: whole[max(len(whole) - len(part), 0) :] == part)
same = _of_arrays(lambda whole, part: whole == part)


_FIRST_MARK, _LAST_MARK = "\u0300", "\u036f"


def fold(text: str) -> str:
    """``text`` without case and accents: what searches compare."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(
        character for character in decomposed if not _FIRST_MARK <= character <= _LAST_MARK
    )
    return bare.upper().lower()


def substring(text: str, start: int) -> str:
    """From ``start`` (negative: from the end) on."""
    return text[start:] if start >= 0 else text[max(len(text) + start, 0) :]


def substring_of_length(text: str, start: int, length: int) -> str:
    """At most ``length`` characters (code points) from ``start`` on."""
    return substring(text, start)[: max(length, 0)]


def matches(text: str, pattern: str) -> bool:
    """Whether ``pattern`` (made by app/odata/sql/patterns.py) occurs in ``text``."""
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


# In JSON: a name of those between bars, and the number behind it; in PostgreSQL's syntax, too.
NUMBER_BEHIND = '("(?:{})": *)(-?[0-9][-+.0-9eE]*)'


def number_texts(json: str, names: str) -> str:
    """JSON whose numbers behind any of ``names``, with bars between, are strings."""
    return re.sub(NUMBER_BEHIND.format(names), r'\1"\2"', json)


_MICROSECOND = timedelta(microseconds=1)


def add_to_instant(instant: str, microseconds: int) -> str | None:
    """An instant moved by a duration, cut to the millisecond; null beyond the years 1 to 9999."""
    try:
        return iso_instant(datetime.fromisoformat(instant) + timedelta(microseconds=microseconds))
    except OverflowError:
        return None


def add_to_date(day: str, microseconds: int) -> str | None:
    """The day on which a duration ends that begins at 00:00 of ``day``; null as above."""
    try:
        moved = datetime.fromisoformat(day) + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    return moved.date().isoformat()


def between_instants(later: str, earlier: str) -> int:
    """Microseconds from ``earlier`` to ``later``."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) // _MICROSECOND


def between_dates(later: str, earlier: str) -> int:
    """Microseconds from 00:00 of one day to 00:00 of another."""
    return (date.fromisoformat(later) - date.fromisoformat(earlier)) // _MICROSECOND


def duration_text(microseconds: int) -> str:
    """``PT93784.5S``: a dayTimeDuration needs no greater unit."""
    seconds = (Decimal(abs(microseconds)) / 1_000_000).normalize()
    return f"{'-' if microseconds < 0 else ''}PT{seconds:f}S"


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in (
        numbers.divide, numbers.truncate, numbers.modulo, numbers.negate, numbers.round_double,
        numbers.floor_double, numbers.ceiling_double, numbers.quotient, numbers.remainder,
        numbers.whole, numbers.double_to_decimal,
        numbers.double_text, numbers.single_text, str.lower, str.upper, fold,
        substring, substring_of_length, matches, number_texts, base64url,
        add_to_instant, add_to_date, between_instants, between_dates,
        duration_text,
    )},
    "add": numbers.add,
    "subtract": numbers.subtract,
    "multiply": numbers.multiply,
    "round": numbers.round_half_up,
    "floor": numbers.floor,
    "ceiling": numbers.ceiling,
    "members_same": same,
    "members_contains": contains,
    "members_startswith": starts_with,
    "members_endswith": ends_with,
    "members_indexof": index_of,
    "members_hassubset": has_subset,
    "members_hassubsequence": has_subsequence,
    **SQLITE,
}  # fmt: skip


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arguments none of which is null; null else."""
    return lambda *arguments: None if None in arguments else function(*arguments)


def register(connection: sqlite3.Connection) -> None:
    """Give a connection the functions ``odata_...`` and the collation ``odata_decimal``."""
    for name, function in _FUNCTIONS.items():
        arguments = len(signature(function).parameters)
        of_values = _of_values(function)
        connection.create_function(f"odata_{name}", arguments, of_values, deterministic=True)
    connection.create_aggregate("odata_sum", 1, numbers.Sum)  # type: ignore[arg-type]
    products = numbers.SumOfProducts
    connection.create_aggregate("odata_sum_of_products", 3, products)  # type: ignore[arg-type]
    connection.create_aggregate("odata_percentile", 3, Percentile)  # type: ignore[arg-type]
    connection.create_collation("odata_decimal", numbers.compare_decimals)
