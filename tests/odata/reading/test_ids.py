"""Every entity can be told from others: by its key, or by its id (JSON Format 4.6.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.odata.reading.conftest import Client

NONE = "application/json;odata.metadata=none"


def entities(found: Any) -> Iterator[dict[str, Any]]:
    """All entities of an answer, those inside others among them."""
    for row in found if isinstance(found, list) else [found]:
        yield row
        for name in ("value", "Children", "Items", "Parent", "Maker"):
            if row.get(name):
                yield from entities(row[name])


@pytest.mark.parametrize(
    "query",
    [
        "Items?$select=name",
        "Items(2)?$select=price",
        "Items?$select=name,Maker",
        "Items?$select=name&$expand=Children($select=price;$expand=Maker($select=rank)),Maker",
        "Items(8)/Parent?$select=name",
        "Makers(1)/Items?$select=name",
        "Makers?$compute=rank add 1 as r&$select=r",
        "Items?$select=place/city",
        "Items?$apply=filter(active)&$select=name",
        "Items?$filter=id eq 50&$select=name&$expand=Parent($levels=5;$select=cost)",
        "Items?$select=id&$expand=Children($levels=5;$select=cost,code)&$filter=id eq 1",
    ],
)
@pytest.mark.parametrize("version", ["4.0", "4.01"])
def test_an_entity_without_its_key_has_its_id(client: Client, query: str, version: str) -> None:
    name = "@odata.id" if version == "4.0" else "@id"
    found = client.get(query, **{"OData-MaxVersion": version})
    rows = [one for one in entities(found) if "value" not in one]
    assert rows
    for row in rows:
        assert ("id" in row) is (name not in row)
        if name in row:
            whole = client.get(row[name])
            plain = {key: row[key] for key in row if key in ("name", "price", "rank", "cost")}
            assert plain.items() <= whole.items()
    bare = client.get(query, Accept=NONE)
    assert not any(name in one for one in entities(bare))


def test_what_is_no_entity_has_no_id(client: Client) -> None:
    for query in ("groupby((name))", "aggregate($count as n)", "groupby((id))/compute(1 as x)"):
        rows = client.get(f"Items?$apply={query}&$top=1")["value"]
        assert not any("@odata.id" in row for row in rows)
