"""Casts to types derived at any number of steps, in every option (URL Conventions 4.9, 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.odata.reading.conftest import Client

CAR, TAXI, VAN = "Workshop.Car", "Workshop.Taxi", "Workshop.Van"


def having(rows: list[dict[str, Any]], name: str) -> list[int]:
    """The keys of the rows that show a property."""
    return [row["id"] for row in rows if name in row]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (f"{CAR}/seats", {"seats": [2, 3, 5]}),
        (f"{TAXI}/seats", {"seats": [3, 5]}),
        (f"{TAXI}/SEATS", {"seats": [3, 5]}),
        (f"{TAXI}/seats,{CAR}/seats", {"seats": [2, 3, 5]}),
        (f"{CAR}/seats,{TAXI}/seats", {"seats": [2, 3, 5]}),
        (f"{TAXI}/name", {"name": [3, 5]}),
        (f"{TAXI}/name,name", {"name": [1, 2, 3, 4, 5]}),
        (f"{TAXI}/name,{VAN}/name", {"name": [3, 4, 5]}),
        (f"*,{TAXI}/seats", {"name": [1, 2, 3, 4, 5], "seats": [2, 3, 5], "load": [4]}),
        (f"{TAXI}/garage/city", {"garage": [3, 5]}),
        (f"{TAXI}/tags($top=1)", {"tags": [3, 5]}),
        (f"{TAXI}/Owner,{TAXI}/fare", {"fare": [3, 5], "name": []}),
        (f"{CAR}/{TAXI}/seats", {"seats": [3, 5]}),
    ],
)
@pytest.mark.parametrize("address", ["Vehicles?$select=id,{}", "Vehicles(1)?$expand=Kin({})"])
def test_select_shows_a_property_of_the_rows_of_the_type_before_it(
    client: Client, address: str, items: str, expected: dict[str, list[int]]
) -> None:
    nested = "Kin" in address
    body = client.get(address.format(f"$select=id,{items}" if nested else items))
    for name, keys in expected.items():
        of_one_maker = [key for key in keys if key < 4]
        assert having(body["Kin" if nested else "value"], name) == (
            of_one_maker if nested else keys
        )


@pytest.mark.parametrize(
    ("items", "value"),
    [
        (f"{TAXI}/garage/city", {"city": "city 3"}),
        (f"{TAXI}/garage/city,{CAR}/garage/street", {"street": None, "city": "city 3"}),
        (f"{TAXI}/garage($select=city),{CAR}/garage", {"street": None, "city": "city 3"}),
    ],
)
def test_parts_chosen_of_two_types_are_shown_together(
    client: Client, items: str, value: dict[str, Any]
) -> None:
    assert client.get(f"Vehicles(3)?$select={items}")["garage"] == value


@pytest.mark.parametrize(
    ("items", "listed"),
    [
        (f"{TAXI}/seats", f"{TAXI}/seats"),
        (f"{TAXI}/seats,{CAR}/seats", f"{CAR}/seats"),
        (f"{TAXI}/garage/city", f"{TAXI}/garage/city"),
        (f"{TAXI}/owner,name", f"name,{TAXI}/Owner"),
    ],
)
def test_the_context_names_the_type(client: Client, items: str, listed: str) -> None:
    context = client.get(f"Vehicles?$select={items}")["@odata.context"]
    assert context.endswith(f"$metadata#Vehicles({listed})")


def test_the_context_names_the_type_that_a_relation_is_of(client: Client) -> None:
    context = client.get(f"Vehicles?$select=id&$expand={TAXI}/Owner($select=name)")[
        "@odata.context"
    ]
    assert context.endswith(f"$metadata#Vehicles(id,{TAXI}/Owner(name))")


def test_members_chosen_by_name_win_over_all_that_there_is(client: Client) -> None:
    for items in ("tags($top=1),*", "*,tags($top=1)"):
        row = client.get(f"Vehicles/{TAXI}?$select={items}")["value"][0]
        assert (row["tags"], row["fare"]) == (["a"], 2.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (f"$select={TAXI}/load", "at position 14: Taxi has no property 'load'"),
        (f"$select={TAXI}/*", "at position 14"),
        (f"$select={VAN}/{TAXI}/fare", "at position 13: no Van is of the type Workshop.Taxi"),
        ("$select=Other.Taxi/fare", "no Vehicle is of the type Other.Taxi"),
        ("$select=Workshop.Item/name", "no Vehicle is of the type Workshop.Item"),
        (f"$select={TAXI}/Workshop.Doubled", "at position 14: Workshop.Doubled is no operation"),
        (f"$select={TAXI}/tags($top=1),{CAR}/tags", "tags is selected twice"),
        (f"$expand={VAN}/Owner", "Van has no property 'Owner'"),
        ("$expand=Other.Taxi/Owner", "no Vehicle is of the type Other.Taxi"),
        ("$filter=Other.Taxi/fare eq 1", "no Vehicle is of the type Other.Taxi"),
        ("$orderby=Other.Taxi/fare", "no Vehicle is of the type Other.Taxi"),
        ("$filter=isof(Other.Taxi)", "there is no entity type Other.Taxi"),
    ],
)
def test_what_a_type_does_not_have_is_refused(client: Client, options: str, words: str) -> None:
    refused = client.refused(f"Vehicles?{options}")
    assert (refused["status"], words in refused["message"]) == (400, True), refused["message"]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        (f"$filter={TAXI}/seats gt 3", [5]),
        (f"$filter={CAR}/seats gt 2", [3, 5]),
        (f"$filter={TAXI}/name ne null", [3, 5]),
        (f"$filter={TAXI}/garage/city eq 'city 5'", [5]),
        (f"$filter={TAXI}/tags/any(t:t eq 'a')", [3, 5]),
        (f"$filter={TAXI}/Owner/name eq 'delta'", [3]),
        (f"$filter={CAR}/{TAXI}/seats gt 0", [3, 5]),
        ("$filter=isof(Workshop.Car)", [2, 3, 5]),
        ("$filter=isof(Workshop.Taxi)", [3, 5]),
        (f"$filter={TAXI}/seats gt 0&$orderby={TAXI}/seats desc", [5, 3]),
        (f"$orderby={TAXI}/seats desc,id", [5, 3, 1, 2, 4]),
        (f"$compute={TAXI}/seats mul 2 as twice&$filter=twice gt 6", [5]),
        (f"$filter=Kin/any(v:v/{TAXI}/seats eq 3)", [1, 2, 3]),
        (f"$filter=Kin/{TAXI}/any(v:v/seats eq 3)", [1, 2, 3]),
        (f"$filter=Kin/{TAXI}/$count eq 1", [1, 2, 3]),
        (f"$apply=filter({TAXI}/seats gt 3)", [5]),
    ],
)
def test_expressions_reach_what_a_type_between_declares(
    client: Client, options: str, keys: list[int]
) -> None:
    assert client.values(f"Vehicles?{options}") == keys


@pytest.mark.parametrize(
    ("item", "keys"),
    [
        (f"{TAXI}/Owner", [3, 5]), (f"{CAR}/Owner", [2, 3, 5]), (f"{TAXI}/owner", [3, 5]),
        (f"{TAXI}/Maker", [3, 5]), (f"{CAR}/Maker($select=name)", [2, 3, 5]),
        (f"{CAR}/*", [2, 3, 5]), (f"{TAXI}/*,Maker", [3, 5]),
    ],
)  # fmt: skip
def test_expand_shows_relations_of_the_rows_of_the_type_before_it(
    client: Client, item: str, keys: list[int]
) -> None:
    name = "Maker" if "/Maker" in item else "Owner"
    assert having(client.get(f"Vehicles?$expand={item}")["value"], name) == keys


FULL = "application/json;odata.metadata=full"


def test_full_metadata_has_the_links_and_actions_of_each_type(client: Client) -> None:
    rows = client.get("Vehicles?$select=id", Accept=FULL)["value"]
    assert having(rows, "Maker@odata.navigationLink") == [1, 2, 3, 4, 5]
    assert having(rows, "Owner@odata.navigationLink") == [2, 3, 5]
    assert having(rows, "#Workshop.Wash") == [1, 2, 3, 4, 5]
    assert having(rows, "#Workshop.Hail") == [3, 5]
    taxi = rows[2]
    assert client.get(taxi["Owner@odata.navigationLink"])["name"] == "delta"
    assert taxi["Owner@odata.associationLink"].startswith(taxi["Owner@odata.navigationLink"])
    assert taxi["#Workshop.Hail"]["target"] == "Vehicles(3)/Workshop.Taxi/Workshop.Hail"
    (row, *_) = client.get(f"Vehicles/{TAXI}", Accept=FULL)["value"]
    assert {"#Workshop.Wash", "#Workshop.Hail"} <= {*row}


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ("Vehicles?$select=id,Workshop.Wash", [1, 2, 3, 4, 5]),
        ("Vehicles?$select=id,Workshop.Hail", [3, 5]),
        (f"Vehicles?$select=id,{TAXI}/Workshop.Hail", [3, 5]),
        (f"Vehicles/{TAXI}?$select=id,Workshop.Hail", [3, 5]),
        (f"Vehicles/{CAR}?$select=id,Workshop.Hail", [3, 5]),
    ],
)
def test_rows_tell_of_the_actions_of_their_type(
    client: Client, address: str, keys: list[int]
) -> None:
    name = address.rpartition("Workshop.")[2]
    assert having(client.get(address)["value"], f"#Workshop.{name}") == keys


def test_rows_tell_of_inherited_actions(client: Client) -> None:
    rows = client.get(f"Vehicles/{TAXI}?$select=id,Workshop.Wash")["value"]
    assert having(rows, "#Workshop.Wash") == [3, 5]


CHAINS = {
    "concat(filter(id le 3),aggregate($count as n))": [1, 2, 3],
    "concat(filter(isof(Workshop.Taxi)),filter(id eq 2))": [3, 5, 2],
    "join(Kin as k)/filter(k/id eq 1)": [1, 2, 3],
}


@pytest.mark.parametrize("chain", CHAINS)
def test_rows_that_are_no_entities_any_more_keep_what_their_types_add(
    client: Client, chain: str
) -> None:
    rows = [row for row in client.get(f"Vehicles?$apply={chain}")["value"] if "id" in row]
    assert [row["id"] for row in rows] == CHAINS[chain]
    plain = {row["id"]: row for row in client.get("Vehicles")["value"]}
    for row in rows:
        row.pop("k", None)
        plain[row["id"]].pop("@odata.type", None)
        assert row == plain[row["id"]]


def test_joined_rows_keep_what_their_types_add(client: Client) -> None:
    rows = client.get("Vehicles?$apply=filter(id eq 1)/join(Kin as k)&$orderby=k/id")["value"]
    assert [sorted(row["k"]) for row in rows] == [
        ["id", "name"], ["id", "name", "seats", "tags"], ["fare", "id", "name", "seats", "tags"],
    ]  # fmt: skip
