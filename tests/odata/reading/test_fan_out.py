"""Entities that are expanded again and again: counted before they are read (Protocol 11.2.5.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.odata.reading import plan
from app.odata.reading.reader import Reader
from tests.odata.reading import model
from tests.odata.reading.conftest import Client


def shown(found: Any, *, inside: bool = False) -> int:
    """The entities in collections that are expanded inside what is expanded."""
    rows = found if isinstance(found, list) else found.get("value", [found])
    number = 0
    for row in rows:
        for name in ("Children", "Items", "Parent", "Maker"):
            related = row.get(name) or []
            if isinstance(related, list):
                number += len(related) if inside else 0
            number += shown(related, inside=True)
    return number


def fresh(client: Client) -> Client:
    """A client of a service that has made no plans."""
    return replace(client, reader=Reader(model.CONTAINER, "another key for the tokens of tests"))


QUERIES = [
    "Makers?$expand=Items($levels=max;$select=id)&$select=id",
    "Makers(1)?$expand=Items($levels=3;$select=id)&$select=id",
    "Items?$expand=Maker($expand=Items($select=id))&$select=id",
    "Items?$expand=Children($levels=max;$select=id)&$select=id&$top=20",
    "Items?$filter=id gt 3&$orderby=price&$skip=2&$expand=Maker($expand=Items($filter=active))",
    "Makers(3)/Items?$expand=Maker($expand=Items($expand=Children/$ref))",
    "Makers?$expand=Items($expand=Children($top=2;$expand=Parent($expand=Children($select=id))))",
    "Items?$expand=Children($expand=Children/$count,Maker($expand=Items/$ref))",
    "Items?$expand=*($levels=2)&$select=id",
]


@pytest.mark.costly(2)
@pytest.mark.parametrize("query", QUERIES)
def test_more_than_the_limit_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    number = shown(client.get(query))
    assert number > 3
    monkeypatch.setattr(plan, "MOST_RELATED", number - 1)
    error = fresh(client).refused(query)
    assert (error["status"], error["details"]) == (400, [])
    assert f"more than {number - 1} related entities" in error["message"]
    if "$top=2" in query:  # what is counted is at most what there is without it
        return
    monkeypatch.setattr(plan, "MOST_RELATED", number)
    assert shown(fresh(client).get(query)) == number


def test_numbers_that_are_asked_for_need_no_counting(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MOST_RELATED", 8)
    few = "Makers?$top=2&$expand=Items($top=2;$expand=Children($top={0}))"
    for top, status in ((2, 200), (1, 200), (2, 200)):
        path, _, query = few.format(top).partition("?")
        assert client.answer(path, query).status == status
    path, _, query = "Makers?$expand=Items($expand=Children)".partition("?")
    assert client.answer(path, query).status == 400
    assert client.answer(path, query, prefer="maxpagesize=1").status == 200


def test_what_is_directly_in_the_rows_is_not_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MOST_RELATED", 0)
    for query in (
        "Makers?$expand=Items",
        "Items?$expand=Children,Maker",
        "Items?$expand=Parent($expand=Maker)",
        "Makers?$expand=Items($expand=Children/$count)",
        "Makers?$apply=groupby((name))",
    ):
        client.get(query)
