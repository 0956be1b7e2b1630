"""Links of ``$apply`` over entities with many properties lead on, to every row once."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from tests.contract.conftest import Api

pytestmark = pytest.mark.both_databases


@pytest.fixture
def filled(admin: Api) -> Api:
    """Six clients, the first two with invoices of three and four lines."""
    for number in range(1, 7):
        made = admin.post("/odata/Clients", {"name": f"Client {number % 4}"})
        assert made.status_code == 201, made.text
        if number > 2:
            continue
        lines = [
            {"description": f"Line {at}", "quantity": at, "unitPrice": 10, "taxRate": 19}
            for at in range(1, number + 3)
        ]
        body = {"clientId": made.json["id"], "dueDate": "2030-01-01", "LineItems": lines}
        invoice = admin.post("/odata/Invoices", body)
        assert invoice.status_code == 201, invoice.text
    return admin


@pytest.mark.parametrize(
    ("address", "count"),
    [
        ("Invoices?$apply=join(LineItems as l)", 7),
        ("Invoices?$apply=join(LineItems as l)&$select=id&$top=6", 6),
        ("Clients?$apply=concat(identity,identity,identity)", 18),
        ("Clients?$apply=concat(filter(id lt 6),filter(id gt 3)/top(4))", 8),
        ("Clients?$apply=filter(id lt 6)/concat(identity,filter(id gt 3))&$select=id", 7),
        ("Clients?$apply=outerjoin(Contacts as c)&$orderby=name desc", 6),
        ("Clients?$apply=concat(aggregate($count as c),groupby((name,status)))", 5),
        ("Clients?$apply=groupby((rollup($all,name,status)),aggregate($count as n))", 9),
    ],
)
def test_every_link_leads_on(filled: Api, address: str, count: int) -> None:
    whole = filled.get(f"/odata/{address}").json["value"]
    assert len(whole) == count
    found: list[list[Any]] = []
    link = f"/odata/{address}"
    while link:
        answer = filled.get(link, headers={"Prefer": "maxpagesize=3"})
        assert answer.status_code == 200, answer.text
        found.append(answer.json["value"])
        link = answer.json.get("@odata.nextLink", "").partition("http://localhost")[2]
    assert list(chain(*found)) == whole
    assert [len(page) for page in found] == [3] * (count // 3) + [count % 3] * (count % 3 > 0)
