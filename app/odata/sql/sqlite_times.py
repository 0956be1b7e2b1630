"""Arithmetic of instants, dates and durations for SQLite, which keeps the first two as text.

An instant is ``2024-01-31T09:05:00.000Z``, a date ``2024-01-31``, a duration whole microseconds.
No argument is null (sqlite_functions.py).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from app.db.types import iso_instant

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
