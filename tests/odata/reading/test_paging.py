"""Pages continue by key: every row once, in order, whatever the order is."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from sqlalchemy import Connection, text

from app.http.page_sizes import PageSize
from app.odata.reading.reader import Reader
from tests.odata.reading import model
from tests.odata.reading.conftest import ROOT, Client, without_types

ORDERS = [
    "", "id desc", "name", "name desc,id desc", "size", "size desc", "size,name desc",
    "level desc,made", "cost desc,seen desc,id desc", "checked,active desc",
    "Maker/rank desc,Parent/name", "length(name) desc", "price mul 2 desc,note", "weight desc",
    "place/city,at desc", "Children/$count desc", "note desc,size,made desc",
    "true", "false desc,name",
]  # fmt: skip


def pages(client: Client, address: str, prefer: str) -> list[dict[str, Any]]:
    """Every page, following the links."""
    found = []
    path, _, query = address.partition("?")
    while True:
        answer = client.answer(path, query, prefer=prefer)
        assert answer.status == 200, answer.body
        page = client.json(answer)
        found.append(page)
        link = page.get("@odata.nextLink")
        if link is None:
            return found
        assert link.startswith(ROOT)
        path, _, query = link.removeprefix(ROOT).partition("?")


def rows(found: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in itertools.chain(*(page["value"] for page in found))]


@pytest.mark.requirement("FUZZ-M3")
@pytest.mark.parametrize("order", ORDERS)
def test_pages_hold_every_row_once_in_order(client: Client, order: str) -> None:
    address = f"Items?$select=id{f'&$orderby={order}' if order else ''}"
    whole = client.values(address)
    assert sorted(whole) == list(range(1, 61))
    found = pages(client, address, "odata.maxpagesize=7")
    assert [len(page["value"]) for page in found] == [7] * 8 + [4]
    assert rows(found) == whole


def test_the_link_keeps_filter_select_expand_and_count(client: Client) -> None:
    address = (
        "Items?$filter=active&$select=id,name&$expand=Maker($select=name)&$count=true"
        "&$orderby=name%20desc&custom=1"
    )
    found = pages(client, address, "maxpagesize=9")
    assert [page["@odata.count"] for page in found] == [40] * 5
    assert rows(found) == client.values(address)
    for row in found[-1]["value"]:
        assert set(row) == {"@odata.etag", "id", "name", "Maker"}


@pytest.mark.parametrize(
    "address",
    [
        "Items?$apply=groupby((level))&$orderby=true",
        "Items?$apply=groupby((level))/orderby(false)",
        "Items?$apply=compute(true as t)/groupby((t),aggregate($count as n))",
        "Items?$compute=true as t&$orderby=t",
        "Items(1)?$expand=Children($orderby=false)",
    ],
)
def test_a_constant_sorts_and_groups_nothing(client: Client, address: str) -> None:
    """Though PostgreSQL itself refuses one that is written out."""
    path, _, query = address.partition("?")
    assert client.answer(path, query).status == 200


def test_top_limits_all_pages_together(client: Client) -> None:
    found = pages(client, "Items?$top=20&$orderby=name", "odata.maxpagesize=8")
    assert [len(page["value"]) for page in found] == [8, 8, 4]
    assert rows(found) == client.values("Items?$top=20&$orderby=name")
    assert len(pages(client, "Items?$top=8", "odata.maxpagesize=8")) == 1
    assert len(pages(client, "Items?$top=0", "odata.maxpagesize=8")) == 1


def test_skip_counts_once(client: Client) -> None:
    found = pages(client, "Items?$skip=50&$orderby=size desc", "odata.maxpagesize=4")
    assert rows(found) == client.values("Items?$skip=50&$orderby=size desc")
    assert len(rows(found)) == 10


@pytest.mark.requirement("SEC-113")
def test_without_a_wish_a_page_is_a_thousand(client: Client) -> None:
    assert "@odata.nextLink" not in client.get("Items")


def test_the_applied_size_is_told(client: Client) -> None:
    answer = client.answer("Items", prefer="odata.maxpagesize=7")
    assert ("Preference-Applied", "odata.maxpagesize=7") in answer.headers
    answer = client.answer("Items", prefer="maxpagesize=99999")
    assert ("Preference-Applied", "maxpagesize=5000") in answer.headers


def test_a_token_serves_its_own_query_alone(client: Client) -> None:
    link = client.json(client.answer("Items", "$orderby=name", prefer="maxpagesize=5"))
    query = link["@odata.nextLink"].partition("?")[2]
    token = query.partition("skiptoken=")[2]
    for address in (
        f"Items?$orderby=name desc&$skiptoken={token}",
        f"Items?$orderby=name&$filter=active&$skiptoken={token}",
        f"Makers?$orderby=name&$skiptoken={token}",
        f"Items?$orderby=name&$skiptoken={token[:-1]}",
        f"Items?$orderby=name&$skiptoken=x{token}",
    ):
        assert client.refused(address)["status"] == 400


def test_pages_of_a_navigation_and_of_references(client: Client) -> None:
    found = pages(client, "Items(1)/Children?$orderby=price desc", "maxpagesize=4")
    assert rows(found) == client.values("Items(1)/Children?$orderby=price desc")
    references = pages(client, "Items/$ref?$orderby=name", "maxpagesize=40")
    assert [len(page["value"]) for page in references] == [40, 20]


def test_pages_of_groups(client: Client) -> None:
    address = "Items?$apply=groupby((note,size),aggregate($count as n))&$orderby=n desc"
    found = pages(client, address, "maxpagesize=6")
    whole = client.get(address)["value"]
    assert [row for page in found for row in without_types(page["value"])] == whole
    assert len(whole) > 12


@pytest.mark.parametrize(
    ("order", "index"),
    [
        ("name", "ix_items_name"),
        ("name desc", "ix_items_name"),
        ("price desc,name", "ix_items_price_name"),
        ("made desc", "ix_items_made"),
        ("made", "ix_items_made"),
    ],
)
def test_a_page_deep_inside_is_found_by_index(client: Client, order: str, index: str) -> None:
    connection = client.connections["sqlite"]
    query = f"$orderby={order}&$select=id"
    link = client.json(client.answer("Items", query, prefer="maxpagesize=5"))["@odata.nextLink"]
    client.answer("Items", link.partition("?")[2], prefer="maxpagesize=5")
    plan = client.last_plan("sqlite")
    explained = connection.execute(
        text("EXPLAIN QUERY PLAN " + plan.main.sql.replace("?", "1"))
    ).all()
    steps = " ".join(str(row[3]) for row in explained)
    assert re.search(rf"SEARCH t0 USING (COVERING )?INDEX {index}", steps), steps
    assert not re.search(r"SCAN t0\b", steps), steps


def test_without_a_wish_a_page_is_as_large_as_was_set(connections: dict[str, Connection]) -> None:
    client = Client(connections, Reader(model.CONTAINER, "a key", page_sizes=PageSize(2, 3)))
    assert [len(page["value"]) for page in pages(client, "Items?$top=5", "")] == [2, 2, 1]
    assert [len(page["value"]) for page in pages(client, "Items?$top=5", "maxpagesize=9")] == [3, 2]
