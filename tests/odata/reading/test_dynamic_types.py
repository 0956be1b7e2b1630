"""Types beside values that nothing declares (JSON Format 4.6.3): of ``$compute`` and ``$apply``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.odata.reading.conftest import Client

FULL = "application/json;odata.metadata=full"
NONE = "application/json;odata.metadata=none"


def row(client: Client, address: str, accept: str = "application/json", **headers: str) -> Any:
    path, _, query = address.partition("?")
    answer = client.answer(path, query, {"Accept": accept, **headers})
    assert answer.status == 200, answer.body.decode()
    return client.json(answer)["value"][0]


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("date(at)", "Date"), ("time(at)", "TimeOfDay"), ("at", "DateTimeOffset"),
        ("year(at)", "Int32"), ("price", "Decimal"), ("price mul 2", "Decimal"), ("id", "Int64"),
        ("id add 1", "Int64"), ("at sub 2020-01-01T00:00:00Z", "Duration"),
    ],
)  # fmt: skip
def test_a_computed_value_has_its_type(client: Client, expression: str, type_: str) -> None:
    address = f"Items?$compute={expression} as x&$select=id,x&$top=1&$filter=id eq 2"
    found = row(client, address)
    assert list(found)[-2:] == ["x@odata.type", "x"]
    assert found["x@odata.type"] == f"#{type_}"
    assert "id@odata.type" not in found
    assert row(client, address, FULL)["x@odata.type"] == f"#{type_}"
    assert set(row(client, address, NONE)) == {"id", "x"}
    assert row(client, address, **{"OData-MaxVersion": "4.01"})["x@type"] == f"#{type_}"


@pytest.mark.parametrize("expression", ["name", "tolower(name)", "active", "id gt 3"])
def test_what_json_tells_has_none(client: Client, expression: str) -> None:
    found = row(client, f"Items?$compute={expression} as x&$select=x&$top=1&$filter=id eq 2")
    assert set(found) == {"@odata.id", "@odata.etag", "x"}


def test_aggregates_have_types_and_declared_groups_have_none(client: Client) -> None:
    steps = (
        "groupby((active,Maker/name),aggregate(price with sum as total,at with max as last,"
        "$count as n,name with min as first))"
    )
    for more in ("", "/filter(n gt 0)"):
        address = f"Items?$apply=filter(Maker/name ne null)/{steps}{more}"
        found = row(client, address)
        types = {name: value for name, value in found.items() if "@" in name}
        assert types == {
            "total@odata.type": "#Decimal", "last@odata.type": "#DateTimeOffset",
            "n@odata.type": "#Int64",
        }  # fmt: skip
        assert set(found["Maker"]) == {"name"}
        assert not any("@" in name for name in row(client, address, NONE))


def test_an_alias_that_is_the_name_of_another_property_has_its_own_type(client: Client) -> None:
    found = row(client, "Items?$apply=aggregate($count as code,id with max as id)")
    assert found == {"code@odata.type": "#Int64", "code": 60, "id": 60}
    grouped = row(client, "Items?$apply=groupby((size,cost,made,level,at,weight,place/city))")
    assert not any("@" in name for name in [*grouped, *(grouped["place"] or ())])


def test_computed_groups_keep_their_type_through_what_follows(client: Client) -> None:
    steps = "compute(date(at) as day)/groupby((day),aggregate($count as n))/orderby(day)"
    assert row(client, f"Items?$apply={steps}&$filter=day ne null")["day@odata.type"] == "#Date"


def test_values_inside_of_what_is_expanded(client: Client) -> None:
    address = "Makers?$expand=Items($compute=date(at) as day;$select=id,day;$top=1)&$select=id"
    answer = client.answer(
        "Makers", address.partition("?")[2] + "&$filter=Items/any()", {"Accept": "*/*"}
    )
    inner = client.json(answer)["value"][0]["Items"][0]
    assert inner["day@odata.type"] == "#Date"


def test_numbers_written_as_text_keep_their_types(client: Client) -> None:
    accept = "application/json;IEEE754Compatible=true"
    found = row(client, "Items?$apply=aggregate($count as n)", accept)
    assert isinstance(found["n"], str)
    assert found["n@odata.type"] == "#Int64"


def test_only_what_is_no_number_tells_that_it_is_a_double(client: Client) -> None:
    for text, types in (("1.5", {}), ("INF", {"x@odata.type": "#Double"})):
        found = row(client, f"Items?$compute=cast({text},Edm.Double) as x&$select=x&$top=1")
        assert {name: one for name, one in found.items() if name.startswith("x@")} == types
        assert found["x"] == (1.5 if text == "1.5" else text)


def test_a_plain_list_has_no_byte_more(client: Client) -> None:
    answer = client.answer("Items", "$top=3&$expand=Maker")
    assert b"odata.type" not in answer.body
