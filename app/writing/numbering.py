"""Running numbers, taken from a row of ``counters`` inside the transaction that uses them.

The row stays locked until the transaction ends: a number of a failed transaction is given again,
so a series has no gaps. The price is that transactions of one series end one after another, so a
number is taken as late as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.db import records

# One atomic statement, the same on both databases.
_NEXT = text(
    "INSERT INTO counters (name, value) VALUES (:name, 1)"
    " ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING counters.value"
)


def next_number(name: str) -> int:
    """The next number of the counter ``name``, from 1."""
    return int(records.connection().execute(_NEXT, {"name": name}).scalar_one())


def running_number(prefix: str) -> str:
    """``C-000001``: the next number under a prefix."""
    return f"{prefix}-{next_number(prefix):06d}"


def document_number(series: str, year: int) -> str:
    """``INV-2026-00007``: the next number of a series of invoices in a year."""
    return f"{series}-{year}-{next_number(f'invoice:{series}:{year}'):05d}"


def document_number_to_be(series: str, year: int) -> str:
    """The number that the next document of a series would get, if none takes it before."""
    name = f"invoice:{series}:{year}"
    value = records.connection().execute(_STANDS, {"name": name}).scalar() or 0
    return f"{series}-{year}-{value + 1:05d}"


_STANDS = text("SELECT value FROM counters WHERE name = :name")
# Where the counter stands, after ``value`` at least.
_RAISE = text(
    "INSERT INTO counters (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value ="
    " CASE WHEN counters.value > excluded.value THEN counters.value"
    " ELSE excluded.value END RETURNING value"
)


def raise_counter(name: str, value: int) -> int:
    """Let the running number ``name`` go on after ``value`` at least; returns where it stands."""
    raised = records.connection().execute(_RAISE, {"name": name, "value": value})
    return int(raised.scalar_one())


def number_all(rows: Sequence[dict[str, Any]], attribute: str, prefix: str) -> None:
    """Number the rows that have no number; numbers go on after those of the others."""
    counts = (_count(row.get(attribute), prefix) for row in rows)
    value = raise_counter(prefix, max(counts, default=0))
    for row in rows:
        if row.get(attribute) is None:
            value += 1
            row[attribute] = f"{prefix}-{value:06d}"
    raise_counter(prefix, value)


def _count(number: object, prefix: str) -> int:
    """The 7 of ``C-000007``; 0 of a number of another form."""
    digits = str(number or "").removeprefix(f"{prefix}-")
    return int(digits) if digits.isdecimal() and len(digits) < 18 else 0
