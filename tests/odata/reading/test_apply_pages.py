"""Pages of what ``$apply`` makes: every row once, rows that are equal too."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.odata.reading.conftest import Client, without_types
from tests.odata.reading.test_paging import pages

# Rows of entities, of members beside their row, of groups, and of several chains; some of them are
# there more than once.
ASKED = [
    "Items?$apply=filter(id lt 6)/concat(identity,filter(id gt 3))&$select=id",
    "Items?$apply=filter(id lt 6)/concat(identity,filter(id gt 3))&$select=id&$orderby=level desc",
    "Items?$apply=concat(filter(id lt 6),filter(id gt 3)/top(4))",
    "Items?$apply=filter(id lt 4)/concat(identity,identity,identity)",
    "Items?$apply=concat(orderby(note desc)/top(4),orderby(size)/top(5))&$select=id,note,size",
    "Items?$apply=concat(orderby(Maker/name desc)/top(3),groupby((note,size)),aggregate($count as"
    " n))",
    "Items?$apply=concat(concat(filter(id lt 4),filter(id lt 3)),concat(identity,top(2))/top(3))",
    "Items?$apply=filter(id lt 4)/concat(identity,identity)/compute(price mul 2 as twice)"
    "&$orderby=twice desc&$filter=twice gt 1",
    "Items?$apply=filter(id lt 4)/concat(identity,identity)/join(labels as label)&$select=label",
    "Items?$apply=join(labels as label)/filter(id lt 12)",
    "Items?$apply=outerjoin(lines as line)/filter(id lt 8)&$orderby=line/rate desc",
    "Items?$apply=join(labels as label)/orderby(Maker/name desc,label)/top(14)",
    "Items?$apply=join(labels as label)/orderby(Maker/name desc,label)&$select=label&$top=17",
    "Makers?$apply=join(Items as i)&$select=id&$top=7",
    "Makers?$apply=outerjoin(Items as i)&$orderby=name desc",
    "Makers?$apply=join(Items as i)/filter(i/price gt 20)/skip(3)/top(9)",
    "Items?$apply=groupby((note,size,level,active,made,seen,weight,checked,cost,at,name,price,id))"
    "&$top=10",
    "Items?$apply=groupby((rollup($all,level,note)),aggregate($count as n,price with max as m))",
    "Items?$apply=groupby((rollup($all,level,note)),aggregate($count as n))&$orderby=n desc",
    "Items?$apply=groupby((level),topcount(2,price))",
    "Items?$apply=topsum(400,price)/concat(top(3),bottompercent(40,price))&$select=id",
    "Items?$apply=aggregate($count as n)",
    "Items?$orderby=note,size,made,seen,weight,checked,cost,place/city,Maker/rank,Parent/note,"
    "Parent/size,Parent/made,Parent/seen&$select=id&$skip=2&$top=11",
]


def shown(page: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = without_types(page["value"])
    return rows


@pytest.mark.costly(2)
@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("address", ASKED)
def test_pages_hold_every_row_once_in_order(client: Client, address: str, size: int) -> None:
    whole = shown(client.get(address))
    found = pages(client, f"{address}&$count=true", f"maxpagesize={size}")
    assert list(itertools.chain(*map(shown, found))) == whole
    sizes = [len(page["value"]) for page in found]
    assert sizes[:-1] == [size] * (len(sizes) - 1)
    assert 0 < sizes[-1] <= size
    if "$top" not in address:
        assert {page["@odata.count"] for page in found} == {len(whole)}


def test_the_rows_of_a_page_may_be_equal(client: Client) -> None:
    found = pages(client, ASKED[0], "maxpagesize=3")
    assert [[row["id"] for row in page["value"]] for page in found] == [[1, 2, 3], [4, 5, 4], [5]]
    sorted_ = pages(client, f"{ASKED[0]}&$orderby=id", "maxpagesize=3")
    ids = [[row["id"] for row in page["value"]] for page in sorted_]
    assert ids == [[1, 2, 3], [4, 4, 5], [5]]


def test_a_token_of_another_kind_is_refused(client: Client) -> None:
    link = client.json(client.answer("Items", "$orderby=name", prefer="maxpagesize=5"))
    token = link["@odata.nextLink"].partition("skiptoken=")[2]
    address = f"Items?$apply=join(labels as label)&$skiptoken={token}"
    assert client.refused(address)["status"] == 400
