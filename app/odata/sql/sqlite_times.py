"""Arithmetic of instants, dates and durations for SQLite, which keeps the first two as text.

An instant is ``2024-01-31T09:05:00.000Z``, a date ``2024-01-31``, a duration whole microseconds.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from app.db.types import iso_instant

_MICROSECOND = timedelta(microseconds=1)


def add_to_instant(instant: str | None, microseconds: int | None) -> str | None:
    """An instant moved by a duration, cut to the millisecond; null beyond the years 1 to 9999."""
    if instant is None or microseconds is None:
        return None
    try:
        return iso_instant(datetime.fromisoformat(instant) + timedelta(microseconds=microseconds))
    except OverflowError:
        return None


def add_to_date(day: str | None, microseconds: int | None) -> str | None:
    """The day on which a duration ends that begins at 00:00 of ``day``; null as above."""
    if day is None or microseconds is None:
        return None
    try:
        moved = datetime.fromisoformat(day) + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    return moved.date().isoformat()


def between_instants(later: str | None, earlier: str | None) -> int | None:
    """Microseconds from ``earlier`` to ``later``."""
    if later is None or earlier is None:
        return None
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) // _MICROSECOND


def between_dates(later: str | None, earlier: str | None) -> int | None:
    """Microseconds from 00:00 of one day to 00:00 of another."""
    if later is None or earlier is None:
        return None
    return (date.fromisoformat(later) - date.fromisoformat(earlier)) // _MICROSECOND


def duration_text(microseconds: int | None) -> str | None:
    """``PT93784.5S``: a dayTimeDuration needs no greater unit."""
    if microseconds is None:
        return None
    seconds = (Decimal(abs(microseconds)) / 1_000_000).normalize()
    return f"{'-' if microseconds < 0 else ''}PT{seconds:f}S"
