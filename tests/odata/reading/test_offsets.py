"""Parts of instants that are written with an offset: instants are kept in UTC."""

from __future__ import annotations

import pytest

from tests.odata.reading.conftest import Client

FUNCTIONS = (
    "year", "month", "day", "hour", "minute", "second", "date", "time", "totaloffsetminutes",
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("offset", ["%2B02:00", "-05:30", "%2B00:01"])
def test_a_literal_with_another_offset_is_refused(
    client: Client, function: str, offset: str
) -> None:
    for address in (
        f"Items?$filter={function}(2024-01-01T00:00:00{offset}) ne null",
        f"Items?$orderby={function}(2024-01-01T00:00:00{offset})",
        f"Items?$compute={function}(@t) as x&@t=2024-01-01T00:00:00{offset}",
    ):
        error = client.refused(address)
        assert error["status"] == 400
        assert f"{function} takes instants in UTC" in error["message"]


@pytest.mark.parametrize("offset", ["Z", "%2B00:00", "-00:00"])
def test_one_in_utc_is_not(client: Client, offset: str) -> None:
    refused = client.refused("Items?$filter=hour(2024-01-01T05:00:00%2B02:00) eq 5&$top=1")
    assert refused["status"] == 400
    for function, value in (("hour", 5), ("day", 1), ("totaloffsetminutes", 0)):
        address = f"Items?$filter={function}(2024-01-01T05:00:00{offset}) eq {value}&$top=1"
        assert len(client.get(address)["value"]) == 1


def test_instants_are_compared_whatever_their_offset(client: Client) -> None:
    text = "2024-01-01T02:00:00%2B02:00 eq 2024-01-01T00:00:00Z"
    assert len(client.get(f"Items?$filter={text}&$top=1")["value"]) == 1
