"""The SQL functions and the collation that queries use on SQLite; every connection gets them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from app.odata.sql import (
    sqlite_collections as collections,
    sqlite_numbers as numbers,
    sqlite_texts as texts,
    sqlite_times as times,
)
from app.odata.sql.percentiles import Percentile
from app.odata.sql.text_values import SQLITE
from app.odata.syntax.literals import base64url

_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, numbers.add),
    "subtract": (2, numbers.subtract),
    "multiply": (2, numbers.multiply),
    "divide": (2, numbers.divide),
    "truncate": (2, numbers.truncate),
    "modulo": (2, numbers.modulo),
    "negate": (1, numbers.negate),
    "round": (1, numbers.round_half_up),
    "floor": (1, numbers.floor),
    "ceiling": (1, numbers.ceiling),
    "round_double": (1, numbers.round_double),
    "floor_double": (1, numbers.floor_double),
    "ceiling_double": (1, numbers.ceiling_double),
    "quotient": (2, numbers.quotient),
    "remainder": (2, numbers.remainder),
    "to_integer": (1, numbers.to_integer),
    "to_decimal": (1, numbers.to_decimal),
    "whole": (1, numbers.whole),
    "double_to_decimal": (1, numbers.double_to_decimal),
    "double_text": (1, numbers.double_text),
    "single_text": (1, numbers.single_text),
    "lower": (1, str.lower),
    "upper": (1, str.upper),
    "fold": (1, texts.fold),
    "substring": (2, texts.substring),
    "substring_of_length": (3, texts.substring_of_length),
    "matches": (2, texts.matches),
    "number_texts": (2, texts.number_texts),
    "base64url": (1, base64url),
    "members_hassubset": (2, collections.has_subset),
    "members_hassubsequence": (2, collections.has_subsequence),
    "members_same": (2, collections.same),
    "members_contains": (2, collections.contains),
    "members_startswith": (2, collections.starts_with),
    "members_endswith": (2, collections.ends_with),
    "members_indexof": (2, collections.index_of),
    "add_to_instant": (2, times.add_to_instant),
    "add_to_date": (2, times.add_to_date),
    "between_instants": (2, times.between_instants),
    "between_dates": (2, times.between_dates),
    "duration_text": (1, times.duration_text),
    **{name: (1, read) for name, read in SQLITE.items()},
}


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arguments none of which is null; null else."""
    return lambda *arguments: None if None in arguments else function(*arguments)


def register(connection: sqlite3.Connection) -> None:
    """Give a connection the functions ``odata_...`` and the collation ``odata_decimal``."""
    for name, (arguments, function) in _FUNCTIONS.items():
        of_values = _of_values(function)
        connection.create_function(f"odata_{name}", arguments, of_values, deterministic=True)
    connection.create_aggregate("odata_sum", 1, numbers.Sum)  # type: ignore[arg-type]
    connection.create_aggregate("odata_percentile", 3, Percentile)  # type: ignore[arg-type]
    connection.create_collation("odata_decimal", numbers.compare_decimals)
