"""Literals of every kind: the value that each text stands for, and what is no literal."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from decimal import Decimal
from typing import Any

import pytest

from app.odata.errors import QueryError, UnsupportedError
from app.odata.syntax.literals import literal_text, to_duration
from app.odata.syntax.nodes import Literal, LiteralKind
from app.odata.syntax.options import parse_filter

_CEST = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("written", "kind", "value"),
    [
        ("null", "null", None),
        ("tRUe", "boolean", True),
        ("false", "boolean", False),
        ("0123456789", "integer", 123456789),
        ("+42", "integer", 42),
        ("-9223372036854775808", "integer", -(2**63)),
        ("9223372036854775807", "integer", 2**63 - 1),
        ("9223372036854775808", "decimal", Decimal(2**63)),
        ("3.140", "decimal", Decimal("3.140")),
        ("-0.5", "decimal", Decimal("-0.5")),
        ("1e-101", "double", 1e-101),
        ("-0.314E+1", "double", -3.14),
        ("3.14f", "double", 3.14),
        ("INF", "double", math.inf),
        ("-INF", "double", -math.inf),
        ("''", "string", ""),
        ("'O''Neil'", "string", "O'Neil"),
        ("'50% _ \\ \U0001f600'", "string", "50% _ \\ \U0001f600"),
        ("2012-09-03", "date", dt.date(2012, 9, 3)),
        ("2012-09-03T13:52Z", "datetime", dt.datetime(2012, 9, 3, 13, 52, tzinfo=dt.UTC)),
        (
            "2012-08-31t18:19:22.1234567z",
            "datetime",
            dt.datetime(2012, 8, 31, 18, 19, 22, 123456, tzinfo=dt.UTC),
        ),
        ("2012-09-03T14:53+02:00", "datetime", dt.datetime(2012, 9, 3, 14, 53, tzinfo=_CEST)),
        ("2012-09-03T14:53 02:00", "datetime", dt.datetime(2012, 9, 3, 14, 53, tzinfo=_CEST)),
        ("1972-06-30T23:59:60Z", "datetime", dt.datetime(1972, 7, 1, tzinfo=dt.UTC)),
        ("11:22", "timeofday", dt.time(11, 22)),
        ("11:22:33.4444444", "timeofday", dt.time(11, 22, 33, 444444)),
        ("duration'P1D'", "duration", dt.timedelta(days=1)),
        (
            "DURATION'-P6DT23H59M59.9999S'",
            "duration",
            -dt.timedelta(days=6, hours=23, minutes=59, seconds=59, microseconds=999900),
        ),
        (
            "01234567-89ab-cdef-0123-456789ABCDEF",
            "guid",
            uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"),
        ),
        ("binary''", "binary", b""),
        ("binary'Zg=='", "binary", b"f"),
        ("binary'Zm8'", "binary", b"fo"),
        ("binary'_-8='", "binary", b"\xff\xef"),
    ],
)
def test_value_of_a_literal(written: str, kind: LiteralKind, value: Any) -> None:
    found = parse_filter(written)
    assert isinstance(found, Literal)
    assert (found.kind, found.value, type(found.value)) == (kind, value, type(value))
    assert parse_filter(literal_text(value, kind)) == found


def test_decimal_keeps_the_digits_that_were_written() -> None:
    found = parse_filter("3.140")
    assert isinstance(found, Literal)
    assert str(found.value) == "3.140"


def test_not_a_number_is_a_double() -> None:
    found = parse_filter("NaN")
    assert isinstance(found, Literal)
    assert isinstance(found.value, float)
    assert math.isnan(found.value)


@pytest.mark.parametrize(
    ("written", "value", "type_name"),
    [
        ("Sales.Pattern'Yellow'", "Yellow", "Sales.Pattern"),
        ("Sales.Pattern'Solid,Yellow,-32'", "Solid,Yellow,-32", "Sales.Pattern"),
        ("Priority'High'", "High", "Priority"),
    ],
)
def test_enumeration_literal(written: str, value: str, type_name: str) -> None:
    assert parse_filter(written) == Literal(value, "enum", type_name=type_name)


@pytest.mark.parametrize(
    "shape",
    [
        "point(1 2 10.0 -3.14e0)",
        "LineString(142.1 64.1,3.14 2.78)",
        "Polygon((1 1,1 1),(1 1,2 2,3 3,1 1))",
        "MultiPoint()",
        "MultiLineString((142.1 64.1,3.14 2.78),(142.1 64.1,3.14 2.78))",
        "MultiPolygon(((1 1,1 1),(1 1,2 2,3 3,1 1)))",
        "GeometryCollection(Point(1 2),GeometryCollection(Point(3 4)),Point(5 6))",
    ],
)
def test_geo_literal(shape: str) -> None:
    text = f"SRID=4326;{shape}"
    assert parse_filter(f"geography'{text}'") == Literal(text, "geo", type_name="geography")


@pytest.mark.parametrize("text", ["Point(1 2)", "SRID=0;Circle(1 2)", "SRID=0;Point(1 2)x"])
def test_malformed_geo_literal_is_refused_at_its_text(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_filter(f"geography'{text}'")
    assert caught.value.offset == 10


@pytest.mark.parametrize(
    "written",
    [
        "2024-02-30",
        "2024-13-01",
        "2011-12-31T24:00Z",
        "2024-01-01T10:00:00+25:00",
        "0001-01-01T00:00+02:00",
        "24:00:00",
        "23:60",
        "1e400",
        "9" * 201,
        ".1",
        "42.",
        "-0.314e1e2",
        "0x1F",
        "5L",
        "01234g67-89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-456789abcdef",
        "2024-01-01T10:00:00",
        "'O'Neil'",
        "X'1a2B'",
        "binary'A'",
        "binary'Zh'",
        "binary'Zg='",
        "binary'+/+/'",
        "duration''",
        "duration'P'",
        "duration'PT'",
        "duration'P1DT'",
        "duration'+P1D'",
        "duration'P1Y'",
        "duration'P999999999DT24H'",
    ],
)
def test_what_is_no_literal_is_refused(written: str) -> None:
    with pytest.raises(QueryError):
        parse_filter(f"a eq {written}")


@pytest.mark.parametrize("written", ["0000-01-01", "-10000-04-01", "10000-01-01T00:00Z"])
def test_dates_that_the_databases_cannot_hold_are_refused(written: str) -> None:
    with pytest.raises(QueryError, match="dates run from") as caught:
        parse_filter(written)
    assert not isinstance(caught.value, UnsupportedError)


def test_bare_duration_is_a_string_that_can_be_promoted() -> None:
    assert parse_filter("'P1D'") == Literal("P1D", "string")
    assert to_duration("P1D") == dt.timedelta(days=1)
