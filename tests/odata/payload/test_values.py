"""Every primitive type reads its own values exactly, and says what it expected of others."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from app.http.schema_fields import BadValueError
from app.odata.payload.values import READERS, TEXT_READERS

GUID = "123e4567-e89b-12d3-a456-426614174000"

GOOD: list[tuple[str, Any, Any]] = [
    ("String", "Ünïcode 😀 ‏עברית", "Ünïcode 😀 ‏עברית"),
    ("String", "", ""),
    ("Boolean", True, True),
    ("Byte", 255, 255),
    ("SByte", -128, -128),
    ("Int16", -32768, -32768),
    ("Int32", 2**31 - 1, 2**31 - 1),
    ("Int32", Decimal("5.0"), 5),
    ("Int32", Decimal("1E2"), 100),
    ("Int64", -(2**63), -(2**63)),
    ("Int64", 2**63 - 1, 2**63 - 1),
    ("Decimal", 5, Decimal(5)),
    ("Decimal", Decimal("0.1"), Decimal("0.1")),
    ("Decimal", Decimal("12345678901234567890.12345"), Decimal("12345678901234567890.12345")),
    ("Double", Decimal("1.5"), 1.5),
    ("Double", "INF", float("inf")),
    ("Single", "-INF", float("-inf")),
    ("Date", "2024-02-29", date(2024, 2, 29)),
    ("DateTimeOffset", "2024-01-31T09:30:00Z", datetime(2024, 1, 31, 9, 30, tzinfo=UTC)),
    ("DateTimeOffset", "2024-01-31t09:30z", datetime(2024, 1, 31, 9, 30, tzinfo=UTC)),
    ("DateTimeOffset", "2024-01-31T01:00:00+02:00", datetime(2024, 1, 30, 23, tzinfo=UTC)),
    ("DateTimeOffset", "2024-01-31T23:59:59.9999-01:00",
     datetime(2024, 2, 1, 0, 59, 59, 999000, UTC)),
    ("TimeOfDay", "23:59:59.5", time(23, 59, 59, 500000)),
    ("TimeOfDay", "07:05", time(7, 5)),
    ("Duration", "P1DT2H3M4.5S", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
    ("Duration", "-PT90M", timedelta(minutes=-90)),
    ("Duration", "P0D", timedelta(0)),
    ("Guid", GUID.upper(), uuid.UUID(GUID)),
    ("Binary", "_-8", b"\xff\xef"),
    ("Binary", "AQID", b"\x01\x02\x03"),
    ("Binary", "AQ==", b"\x01"),
    ("Binary", "", b""),
]  # fmt: skip

BAD: list[tuple[str, Any]] = [
    ("String", 5),
    ("String", True),
    ("String", ["x"]),
    ("String", "a\x00b"),
    ("String", "\ud83d"),
    ("Boolean", "true"),
    ("Boolean", 1),
    ("Byte", 256),
    ("Byte", -1),
    ("SByte", 128),
    ("Int16", 32768),
    ("Int32", 2**31),
    ("Int32", True),
    ("Int32", "5"),
    ("Int32", Decimal("5.5")),
    ("Int64", 2**63),
    ("Int64", Decimal("1E+5000")),
    ("Decimal", "1.5"),
    ("Decimal", True),
    ("Decimal", {"amount": 1}),
    ("Decimal", Decimal("NaN")),
    ("Decimal", Decimal("1E+401")),
    ("Double", "1.5"),
    ("Double", "Infinity"),
    ("Double", Decimal("1E+400")),
    ("Date", "2024-02-30"),
    ("Date", "2024-2-3"),
    ("Date", "2024-01-31T00:00:00Z"),
    ("Date", "\uff12\uff10\uff12\uff14-01-01"),
    ("Date", 20240131),
    ("DateTimeOffset", "2024-01-31"),
    ("DateTimeOffset", "2024-01-31T09:30:00"),
    ("DateTimeOffset", "2024-01-31T24:00:00Z"),
    ("DateTimeOffset", "2024-13-01T00:00:00Z"),
    ("DateTimeOffset", "0001-01-01T00:00:00+14:00"),
    ("DateTimeOffset", "2024-01-31T00:00:00+15:00"),
    ("DateTimeOffset", "2024-01-31T00:00:00+0100"),
    ("TimeOfDay", "24:00"),
    ("TimeOfDay", "9:30"),
    ("Duration", "P"),
    ("Duration", "PT"),
    ("Duration", "P1DT"),
    ("Duration", "P1Y"),
    ("Duration", "P999999999DT24H"),
    ("Duration", "1 day"),
    ("Guid", GUID.replace("-", "")),
    ("Guid", 5),
    ("Binary", "a"),
    ("Binary", "a+b/"),
    ("Binary", 5),
]


@pytest.mark.parametrize(("name", "value", "expected"), GOOD)
def test_good_values(name: str, value: Any, expected: Any) -> None:
    read = READERS[f"Edm.{name}"](value)
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_values(name: str, value: Any) -> None:
    with pytest.raises(BadValueError, match=r"^(must|is|contains) "):
        READERS[f"Edm.{name}"](value)


def test_not_a_number_is_not_kept() -> None:
    with pytest.raises(BadValueError, match="NaN is not kept"):
        READERS["Edm.Double"]("NaN")


def test_numbers_in_strings_where_the_client_declared_it() -> None:
    assert TEXT_READERS["Edm.Decimal"]("12.30") == Decimal("12.30")
    assert TEXT_READERS["Edm.Decimal"](Decimal("12.30")) == Decimal("12.30")
    assert TEXT_READERS["Edm.Int64"]("9007199254740993") == 9007199254740993
    for text in ("", "x", "0x10", " 1", "1_000", "NaN", "²", "1e99999"):
        with pytest.raises(BadValueError):
            TEXT_READERS["Edm.Decimal"](text)
    with pytest.raises(BadValueError):
        TEXT_READERS["Edm.Int32"]("5")


@given(st.datetimes(timezones=st.timezones()))
def test_any_instant_keeps_its_place_in_time(value: datetime) -> None:
    written = value.isoformat()
    offset = value.utcoffset()
    if offset is None or offset.total_seconds() % 60 or abs(offset) > timedelta(hours=14):
        return
    try:
        expected = value.astimezone(UTC)
    except OverflowError:
        return
    read = READERS["Edm.DateTimeOffset"](written)
    assert read == expected.replace(microsecond=expected.microsecond // 1000 * 1000)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_any_decimal_is_exact(value: Decimal) -> None:
    assert READERS["Edm.Decimal"](value) == value
    assert TEXT_READERS["Edm.Decimal"](format(value, "f")) == value
