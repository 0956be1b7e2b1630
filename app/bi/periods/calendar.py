"""The day that questions are about: today where the organisation is, in its fiscal year."""

from __future__ import annotations

from datetime import datetime

from app.bi.periods.spans import Calendar
from app.settings import organisation
from app.settings.days import day_of, zone


def calendar(now: datetime) -> Calendar:
    """What day it is where the organisation is."""
    return Calendar(day_of(now), organisation().defaults.fiscal_year_start, zone().key)
