"""The SQL functions and the collation that queries use on SQLite; every connection gets them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from inspect import signature
from typing import Any

from app.odata.sql import (
    sqlite_collections as collections,
    sqlite_numbers as numbers,
    sqlite_texts as texts,
    sqlite_times as times,
)
from app.odata.sql.aggregates import Percentile
from app.odata.sql.text_values import SQLITE
from app.odata.syntax.literals import base64url

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in (
        numbers.divide, numbers.truncate, numbers.modulo, numbers.negate, numbers.round_double,
        numbers.floor_double, numbers.ceiling_double, numbers.quotient, numbers.remainder,
        numbers.to_integer, numbers.to_decimal, numbers.whole, numbers.double_to_decimal,
        numbers.double_text, numbers.single_text, str.lower, str.upper, texts.fold,
        texts.substring, texts.substring_of_length, texts.matches, texts.number_texts, base64url,
        times.add_to_instant, times.add_to_date, times.between_instants, times.between_dates,
        times.duration_text,
    )},
    "add": numbers.add,
    "subtract": numbers.subtract,
    "multiply": numbers.multiply,
    "round": numbers.round_half_up,
    "floor": numbers.floor,
    "ceiling": numbers.ceiling,
    "members_same": collections.same,
    "members_contains": collections.contains,
    "members_startswith": collections.starts_with,
    "members_endswith": collections.ends_with,
    "members_indexof": collections.index_of,
    "members_hassubset": collections.has_subset,
    "members_hassubsequence": collections.has_subsequence,
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
    connection.create_aggregate("odata_percentile", 3, Percentile)  # type: ignore[arg-type]
    connection.create_collation("odata_decimal", numbers.compare_decimals)
