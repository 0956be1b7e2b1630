"""Keys as addresses write them, with parentheses and without."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from app.odata.binding.paths import key_filter, key_of, parts_of, segment_literal
from app.odata.model import edm
from tests.odata.bookshop import AUTHOR

GUID = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (edm.INT64, "5", 5),
        (edm.INT64, "007", 7),
        (edm.INT64, "5.0", None),
        (edm.INT64, "9223372036854775808", None),
        (edm.INT64, "five", None),
        (edm.STRING, "O'Neil", "O'Neil"),
        (edm.STRING, "5", "5"),
        (edm.GUID, GUID, UUID(GUID)),
        (edm.GUID, "5", None),
        (edm.DECIMAL, "1.50", Decimal("1.50")),
        (edm.DATE, "2026-01-31", date(2026, 1, 31)),
        (edm.DATE, "2026-02-30", None),
        (edm.DATETIME, "2026-01-31T09:00:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
    ],
)
def test_a_segment_is_a_key_as_its_literal_is_without_quotes(
    type_: edm.PrimitiveType, text: str, value: object
) -> None:
    literal = segment_literal(edm.Property(name="key", type=type_, attribute="key"), text, 3)
    assert (None if literal is None else literal.value) == value
    assert literal is None or literal.offset == 3


def test_a_key_of_several_parts_is_a_tuple() -> None:
    assert (key_of([5]), key_of(["de", 5])) == (5, ("de", 5))
    assert (parts_of(5), parts_of(("de", 5))) == ((5,), ("de", 5))


def test_an_entity_is_found_by_the_filter_of_its_key() -> None:
    assert key_filter(AUTHOR, 5) == "id eq 5"
