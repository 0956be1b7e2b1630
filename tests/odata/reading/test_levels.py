"""``$levels``: of one relation, of everything, and as deep as any database goes."""

from __future__ import annotations

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

DEEPEST = 5


def test_everything_has_everything_related_in_it(client: Client) -> None:
    row = client.get("Items(7)?$expand=*($levels=2)&$select=id")
    related = {"Parent", "Children", "Maker"}
    for one in (row["Parent"], *row["Children"]):
        assert related <= set(one)
        assert all(related.isdisjoint(inner) for inner in one["Children"])
    assert len(row["Parent"]["Children"]) == 6
    assert all(related.isdisjoint(one) for one in row["Maker"]["Items"])


def test_one_level_of_everything_is_everything(client: Client) -> None:
    assert client.get("Items(7)?$expand=*($levels=1)") == client.get("Items(7)?$expand=*")


def test_what_is_named_beside_everything_is_expanded_as_it_says(client: Client) -> None:
    row = client.get("Items(7)?$expand=*($levels=2),Children($select=id)")
    assert set(row["Children"][0]) == {"@odata.etag", "id"}
    assert "Children" in row["Parent"]


def test_max_is_as_deep_as_there_is_room(client: Client) -> None:
    """Four levels are 68 navigation properties, five would be 167."""
    most = client.get("Items(50)?$expand=*($levels=max)")
    assert most == client.get("Items(50)?$expand=*($levels=4)")
    assert most != client.get("Items(50)?$expand=*($levels=3)")


@pytest.mark.parametrize(
    ("query", "position", "words"),
    [
        ("Items?$expand=Parent,*($levels=5)", 7, "at most 100 navigation properties"),
        ("Items?$expand=Children($expand=*($levels=6))", 17, "at most 5 levels deep"),
        ("Items?$expand=*($levels=6)", 0, "at most 5 levels deep"),
        ("Items?$expand=Parent($expand=*($levels=4)),Children($expand=*($levels=4))", 46,
         "at most 100 navigation properties"),
    ],
)  # fmt: skip
def test_more_than_there_is_room_for_is_refused_where_it_stands(
    client: Client, query: str, position: int, words: str
) -> None:
    error = client.refused(query)
    assert (error["status"], error["position"], words in error["message"]) == (400, position, True)


@pytest.mark.parametrize("name", ["Children", "Parent"])
@pytest.mark.parametrize(
    ("header", "preference"),
    [
        ("application/json", ""),
        ("application/json;IEEE754Compatible=true", ""),
        ("application/json;odata.metadata=full", ""),
        ("application/json", "omit-values=nulls"),
    ],
)
def test_every_property_is_shown_on_the_deepest_level(
    client: Client, name: str, header: str, preference: str
) -> None:
    """The parser of SQLite has a stack of 100, which each level takes a part of."""
    query = f"$expand={name}($levels={DEEPEST})&$filter=id in (1,50)"
    found = client.answer("Items", query, {"Accept": header}, preference)
    assert found.status == 200, found.body
    shown = set(model.ITEM.properties) - set(client.json(found)["value"][0])
    assert not shown or preference
