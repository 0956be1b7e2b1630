"""Entities and complex values compared as a whole."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ITEMS = model.item_rows()
KEYS = [row["id"] for row in ITEMS]
BY_KEY = {row["id"]: row for row in ITEMS}


def found(client: Client, text: str) -> list[int]:
    keys: list[int] = client.values(f"Items?$filter={quote(text)}&$select=id&$orderby=id")
    return keys


def test_complex_values_are_equal_when_all_their_parts_are(client: Client) -> None:
    assert found(client, "place eq place") == KEYS
    parents = {key: BY_KEY.get(row["parent_id"]) for key, row in BY_KEY.items()}
    same = [
        key
        for key, parent in parents.items()
        if all((parent or {}).get(part) == BY_KEY[key][part] for part in ("street", "city"))
    ]
    assert 0 < len(same) < len(KEYS)
    assert found(client, "Parent/place eq place") == same
    assert found(client, "place ne Parent/place") == [key for key in KEYS if key not in same]
    assert found(client, "Children/any(c:c/place eq place)") == sorted(
        {BY_KEY[key]["parent_id"] for key in same if parents[key]}
    )


@pytest.mark.parametrize(
    ("text", "street", "city"),
    [
        ('place eq {"street":"High Street 1","city":"Lyon"}', "High Street 1", "Lyon"),
        ('{"city":"Köln","street":"High Street 1"} eq place', "High Street 1", "Köln"),
        ('place eq {"street":null,"city":null}', None, None),
        ("place eq {}", None, None),
        ('not (place ne {"street":"High Street 1","city":concat("Ly","on")})',
         "High Street 1", "Lyon"),
        ('place eq {"@odata.type":"#Workshop.Place","city":"Lyon","street":"High Street 1"}',
         "High Street 1", "Lyon"),
    ],
)  # fmt: skip
def test_a_complex_value_equals_an_object(
    client: Client, text: str, street: str | None, city: str | None
) -> None:
    text = text.replace('concat("Ly","on")', "concat('Ly','on')")
    expected = [row["id"] for row in ITEMS if (row["street"], row["city"]) == (street, city)]
    assert found(client, text) == expected


def test_entities_are_equal_when_they_are_the_same(client: Client) -> None:
    assert found(client, "$it eq $it") == KEYS
    assert found(client, "Parent ne $it") == KEYS
    of_one = [row["id"] for row in ITEMS if row["maker_id"] == 1]
    assert found(client, "Maker eq $root/Makers(1)") == of_one
    assert found(client, "Maker ne $root/Makers(1)") == [key for key in KEYS if key not in of_one]
    siblings = found(client, "Parent/Children/any(c:c/Maker eq $it/Maker and c ne $it)")
    expected = [
        row["id"]
        for row in ITEMS
        if row["parent_id"] is not None
        and any(
            other["parent_id"] == row["parent_id"]
            and other["maker_id"] == row["maker_id"]
            and other is not row
            for other in ITEMS
        )
    ]
    assert siblings == expected


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("place gt place", 400), ('place lt {"city":"x"}', 400), ("place eq 'x'", 400),
        ('name eq {"city":"x"}', 400), ('place eq {"cty":"x"}', 400), ("Maker eq $it", 400),
        ('place eq {"city":5}', 400), ("Maker gt Maker", 400), ('extra eq {"a":1}', 501),
        ("place eq [1]", 400), ('place eq {"city":{"a":1}}', 400), ("Maker eq 5", 400),
    ],
)  # fmt: skip
def test_what_is_refused(client: Client, text: str, status: int) -> None:
    answer = client.answer("Items", f"$filter={quote(text)}")
    assert answer.status == status, answer.body
