"""Dates as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from babel import localedata
from babel.dates import format_date
from hypothesis import given, settings, strategies as st

from app.localisation.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    AmbiguousDateError,
    NoDateError,
    date_readings,
    read_date,
    read_instant,
)

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe")
DAYS = st.dates(date(1000, 1, 1), date(9999, 12, 30))


@settings(max_examples=2 * settings().max_examples)
@given(DAYS, st.sampled_from("-./"))
def test_a_day_is_read_or_asked_for(day: date, sign: str) -> None:
    for order, text in (
        (DAY_FIRST, f"{day.day}{sign}{day.month:02}{sign}{day.year:04}"),
        (MONTH_FIRST, f"{day.month}{sign}{day.day}{sign}{day.year:04}"),
    ):
        days = set(date_readings(text).values())
        if sign == "." and order == MONTH_FIRST:
            continue
        assert read_date(text, order) == day
        if len(days) == 2:
            with pytest.raises(AmbiguousDateError, match="could be two dates: write "):
                read_date(text)
        else:
            assert read_date(text) == day
    assert read_date(f"{day.year:04}{sign}{day.month}{sign}{day.day:02}") == day


def test_points_are_put_between_day_and_month_in_this_order_by_every_locale() -> None:
    for locale in localedata.locale_identifiers():
        text = format_date(date(2026, 4, 25), "dd.MM.y", locale=locale)
        short = str(format_date(date(2026, 4, 25), "short", locale=locale))
        assert not short.startswith(("4.25.", "04.25.")), (locale, text)


@pytest.mark.parametrize(
    "text", ["", "soon", "31.02.2026", "2026-13-01", "1/2/26", "04.13.2026", "1-2.2026", "2026"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(NoDateError):
        read_date(text)


@settings(max_examples=2 * settings().max_examples)
@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2090, 1, 1)).map(
        lambda at: at.replace(microsecond=0)
    ),
    st.sampled_from(ZONES),
)
def test_a_local_time_is_its_instant_or_asked_for(local: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    instants = {
        at.astimezone(UTC) for fold in (0, 1)
        if (at := local.replace(tzinfo=zone, fold=fold)).astimezone(UTC).astimezone(zone)
        .replace(tzinfo=None, fold=0) == local
    }  # fmt: skip
    for text in (local.isoformat(), local.isoformat(" ")):
        if len(instants) == 1:
            assert {read_instant(text, zone)} == instants
        else:
            with pytest.raises(NoDateError):
                read_instant(text, zone)
    aware = local.replace(tzinfo=UTC)
    assert read_instant(aware.isoformat(), zone) == aware
