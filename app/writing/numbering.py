"""Running numbers, taken from a row of ``counters`` inside the transaction that uses them.

The row stays locked until the transaction ends: a number of a failed transaction is given again,
so a series has no gaps. The price is that transactions of one series end one after another, so a
number is taken as late as possible.
"""

from __future__ import annotations

from sqlalchemy import text

from app import records

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
