"""Expanded collections with more members than a page: links to the rest (Protocol 11.2.6.7)."""

from __future__ import annotations

from typing import Any

import pytest

from app.odata.protocol.preferences import parse_preferences
from app.odata.protocol.request import ReadRequest
from app.odata.reading import reader
from tests.odata.reading.conftest import ROOT, Client

LINK = "@odata.nextLink"


def ask(client: Client, url: str, prefer: str = "") -> Any:
    """The JSON of an answer, by an address below the root or in full."""
    path, _, query = url.removeprefix(ROOT).partition("?")
    answer = client.answer(path, query, prefer=prefer)
    assert answer.status == 200, answer.body.decode()
    return client.json(answer)


def followed(client: Client, found: Any, prefer: str) -> Any:
    """What an answer says when all of its links have been followed, wherever they are."""
    if isinstance(found, list):
        return [followed(client, one, prefer) for one in found]
    if not isinstance(found, dict):
        return found
    whole = {name: value for name, value in found.items() if not name.endswith(LINK)}
    for name, url in found.items():
        if name.endswith(LINK):
            following = followed(client, ask(client, url, prefer), prefer)["value"]
            whole[name.removesuffix(LINK) or "value"] += following
    return {name: followed(client, value, prefer) for name, value in whole.items()}


@pytest.mark.parametrize(
    "query",
    [
        "Items?$select=id&$expand=Children($select=id)",
        "Items(1)?$select=id&$expand=Children($select=id;$orderby=price desc,name)",
        "Items?$select=id&$expand=Children($select=id;$filter=price gt 1;$count=true)",
        "Items?$select=id&$expand=Children($select=id;$top=3)",
        "Items?$select=id&$expand=Children($select=id;$skip=1;$top=4;$orderby=id desc)",
        "Items?$select=id&$expand=Children($compute=price mul 2 as twice;$select=id,twice)",
        "Items?$select=id&$expand=Children($search=a;$select=id)",
        "Items?$select=id&$expand=Children/$ref($filter=active)",
        "Items?$select=id&$expand=Children($filter=name ne @n and id gt @i;$select=id)&@n='x'&@i=3",
        "Items?$select=id&$expand=Children($filter=name ne @n;@n='Beta';$select=id)",
        "Items?$select=id&$expand=Children($select=id;$levels=2)",
        "Items(1)?$select=id&$expand=Children($expand=Children($select=id;$expand=Parent),Maker)",
        "Makers?$expand=Items($expand=Children($expand=Children($select=id)))",
        "Items?$apply=expand(Children,filter(price gt 1))&$select=id",
        "Items?$apply=addnested(Children,filter(price gt 1)/orderby(name) as Dear)&$select=id",
        "Items(1)/Children?$select=id&$expand=Children($select=id)",
        "Items?$select=id&$expand=Children($filter=name ne '%26%23+é\"\\';$select=id)",
    ],
)
def test_the_links_lead_to_all_of_the_others(client: Client, query: str) -> None:
    prefer = "maxpagesize=2"
    whole = ask(client, query)
    paged = ask(client, query, prefer)
    assert LINK in str(paged) and LINK not in str(whole)
    assert followed(client, paged, prefer) == whole


@pytest.mark.parametrize("above", range(4))
def test_a_full_page_without_others_has_no_link(client: Client, above: int) -> None:
    """On each of the levels but the fifth, which fills the stack of SQLite's parser."""
    rows = ask(client, "Items?$select=id&$expand=Children($select=id;$count=true)")["value"]
    children = "Children($select=id)"
    for _ in range(above):
        children = f"Parent($select=id;$expand={children})"
    for size in (1, 2, 3):
        paged = ask(client, f"Items?$select=id&$top=60&$expand={children}", f"maxpagesize={size}")
        for row in paged["value"]:
            for _ in range(above):
                row = row and row["Parent"]
            for there in rows:
                if row and there["id"] == row["id"]:
                    assert (f"Children{LINK}" in row) == (len(there["Children"]) > size)


def test_a_plan_serves_the_links_of_other_literals(client: Client) -> None:
    for price, top in ((1, 3), (2, 4), (0, 5)):
        query = f"Items?$select=id&$expand=Children($filter=price gt {price};$top={top})&$top=1"
        (row,) = ask(client, query, "maxpagesize=1")["value"]
        link = row[f"Children{LINK}"]
        assert f"price%20gt%20{price}" in link
        assert f"$top={top}&" in link and "$skip=" not in link


def test_without_a_preference_a_thousand_are_shown(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "EXPANDED", 2)
    row = ask(client, "Items(1)?$select=id&$expand=Children($select=id)")
    assert len(row["Children"]) == 2
    start = f"{ROOT}Items(1)/Children?$select=id&$skiptoken="
    assert row[f"Children{LINK}"].startswith(start)
    none = client.answer(
        "Items(1)",
        "$select=id&$expand=Children($select=id)",
        {"Accept": "application/json;odata.metadata=none"},
    )
    assert f"Children{LINK}" in client.json(none)


def test_the_format_of_an_address_is_that_of_its_links(client: Client) -> None:
    format_ = "$format=application/json;IEEE754Compatible=true"
    query = f"Items?$top=1&$expand=Children($select=price)&{format_}"
    (row,) = ask(client, query, "maxpagesize=1")["value"]
    following = ask(client, row[f"Children{LINK}"])["value"]
    assert {type(one["price"]) for one in following} == {str}


def test_the_page_may_be_that_of_rows_alone(client: Client) -> None:
    query = "$select=id&$expand=Children($select=id)"
    rows = parse_preferences(["maxpagesize=1"])
    asked = ReadRequest("Items", query, ROOT, {}, rows, pages_alone=True)
    for connection in client.connections.values():
        body = client.json(client.reader.read(asked, client.caller, connection))
        assert body["value"] == ask(client, f"Items?{query}&$top=1")["value"]
        assert LINK in body


def test_what_no_link_can_say_is_refused(client: Client) -> None:
    query = "$select=id&$expand=Children($filter=price ge $it/price or true;$select=id)"
    assert client.answer("Items(1)", query).status == 200
    refused = client.answer("Items(1)", query, prefer="maxpagesize=1")
    assert refused.status == 400
    assert "$it does not tell the others" in refused.body.decode()
