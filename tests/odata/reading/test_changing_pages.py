"""Pages continue after a row, whatever is inserted and deleted between them, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert

from tests.odata.reading import model
from tests.odata.reading.conftest import ROOT, Client

LINK = "@odata.nextLink"
SIZE = 3

ORDERS = [
    "id", "id desc", "size", "size desc", "name desc,size", "checked,made desc", "level desc,cost",
    "weight", "weight desc", "seen desc,active", "Maker/rank desc,at", "length(name),price desc",
    "note,code desc", "level,checked,size,made,cost,seen,note,code,weight,count,active",
]  # fmt: skip

# Where the collection is: an address, and the names that lead to the collection from its answer.
# All of them show the children of one item.
PLACES = {
    "top level": ("Items?$filter=parentId eq 1&{0}", ()),
    "navigation": ("Items(1)/Children?{0}", ()),
    "$filter in the path": ("Items/$filter(parentId eq 1)?{0}", ()),
    "expanded": ("Items(1)?$select=id&$expand=Children({1})", ("Children",)),
    "expanded in a collection": (
        "Items?$filter=id eq 1&$select=id&$expand=Children({1})", ("value", 0, "Children"),
    ),
    "nested": (
        "Items(6)?$select=id&$expand=Parent($select=id;$expand=Children({1}))",
        ("Parent", "Children"),
    ),
    "five deep": (
        "Items(50)?$select=id&$expand=Parent($select=id;$expand=Parent($select=id;$expand="
        "Children($select=id;$filter=id eq 6;$expand=Parent($select=id;$expand=Children({1})))))",
        ("Parent", "Parent", "Children", 0, "Parent", "Children"),
    ),
    "levels": (
        "Items(2)?$select=id&$expand=Children({1};$levels=2)", ("Children", 0, "Children"),
    ),
    "references": ("Items(1)/Children/$ref?{0}", ()),
    "expanded references": ("Items(1)?$select=id&$expand=Children/$ref({1})", ("Children",)),
}  # fmt: skip


def fill(client: Client) -> None:
    """Items 6 and 101 to 116 below 1 and it below 2, 50 below 6; equal values, nulls and INF."""
    rows = [{**row, "id": row["id"] + 100, "code": None} for row in model.item_rows(16)]
    for at, row in enumerate(rows):
        row.update(parent_id=1, size=(None, 5, 5, 7)[at % 4])
        row.update(estimated_bytes=(None, 0.1, float("inf"), 0.1)[at // 2 % 4])
    rows.append({**rows[0], "id": 50, "parent_id": 6})
    items = model.items
    for connection in client.connections.values():
        connection.execute(items.delete().where(items.c.id > 6))
        connection.execute(items.update().where(items.c.id == 6).values(parent_id=1))
        connection.execute(items.update().where(items.c.id == 1).values(parent_id=2))
        connection.execute(insert(items), rows)


def change(client: Client, turn: int, shown: list[int]) -> None:
    """Delete the first and the last row of a page, and insert others."""
    items = model.items
    row = {**model.item_rows(9)[turn], "id": 300 - turn, "parent_id": 1, "code": None}
    for connection in client.connections.values():
        connection.execute(items.delete().where(items.c.id.in_((50, shown[0], shown[-1]))))
        connection.execute(insert(items), row)


def keys(rows: list[dict[str, Any]]) -> list[int]:
    return [row["id"] if "id" in row else int(row["@odata.id"].split("(")[1][:-1]) for row in rows]


def pages(client: Client, place: str, options: str) -> Iterator[list[int]]:
    """The keys of each page, the links followed when the next one is asked for."""
    address, names = PLACES[place]
    url = address.format(options.replace(";", "&"), options)
    while url:
        path, _, query = url.removeprefix(ROOT).partition("?")
        answer = client.answer(path, query, prefer=f"maxpagesize={SIZE}")
        assert answer.status == 200, answer.body.decode()
        found = client.json(answer)
        *before, name = names or ("value",)
        for step in before:
            found = found[step]
        yield keys(found[name])
        url, names = found.get(LINK if name == "value" else f"{name}{LINK}", ""), ()


@pytest.mark.costly(2)
@pytest.mark.parametrize("place", PLACES)
def test_every_row_that_stays_is_shown_once_in_order(changing: Client, place: str) -> None:
    for order in ORDERS if place in ("top level", "expanded") else ORDERS[2::6]:
        fill(changing)
        options = f"$orderby={order}" + ("" if "references" in place else ";$select=id")
        whole = changing.values(f"Items?$filter=parentId eq 1&$select=id&$orderby={order}")
        assert len(whole) == 17
        seen: list[int] = []
        for turn, shown in enumerate(pages(changing, place, options)):
            assert len(shown) <= SIZE
            seen += shown
            change(changing, turn, shown)
        assert len(seen) == len(set(seen))
        assert [key for key in seen if key < 200] == whole, order
        for connection in changing.connections.values():
            connection.rollback()


def test_the_place_and_number_that_a_client_asks_for_are_kept(changing: Client) -> None:
    """A link has the client's own ``$skip`` and ``$top``, and goes on behind the last row."""
    options = "$orderby=size desc;$skip=2;$top=10;$select=id"
    for place in PLACES:
        if "references" in place or place == "levels":
            continue
        fill(changing)
        whole = changing.values("Items?$filter=parentId eq 1&$select=id&$orderby=size desc")
        seen: list[int] = []
        for shown in pages(changing, place, options):
            seen += shown
            change(changing, 8, shown[:1])
            for connection in changing.connections.values():
                connection.execute(model.items.delete().where(model.items.c.id > 200))
        assert seen == whole[2:12], place
        for connection in changing.connections.values():
            connection.rollback()
