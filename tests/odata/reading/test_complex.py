"""Complex values kept as JSON: nested, derived, in collections, with members of any type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Column, Connection, MetaData, Table, insert

from app.db import engines as database
from app.db.types import Identifier, JsonText, string
from app.extensions import db
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop
from app.odata.reading.reader import Reader
from tests.databases import close_engines, new_database
from tests.odata.reading.conftest import Client
from tests.services import SERVICES

metadata = MetaData()
things = Table(
    "things",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("name", string(20), nullable=False),
    Column("shape", JsonText()),
    Column("parts", JsonText(), nullable=False),
)


def _member(name: str, type_: edm.EdmType) -> edm.Property:
    return edm.Property(name=name, type=type_, attribute=name)


PLACE = edm.ComplexType("Place", by_name([_member("x", edm.DOUBLE), _member("y", edm.DOUBLE)]))
SHAPE = edm.ComplexType("Shape", by_name([_member("colour", edm.STRING), _member("place", PLACE)]))
CIRCLE = edm.ComplexType(
    "Circle",
    by_name(
        [
            *SHAPE.properties.values(),
            _member("radius", edm.DECIMAL),
            _member("mark", edm.GUID),
            _member("opens", edm.TIME_OF_DAY),
            _member("waits", edm.DURATION),
            _member("tags", edm.CollectionType(edm.STRING)),
        ]
    ),
    base=SHAPE,
)
PART = edm.ComplexType("Part", by_name([_member("label", edm.STRING), _member("place", PLACE)]))
THING = entity_type(
    "Thing",
    things,
    [
        prop(things.c.id, computed=True),
        prop(things.c.name),
        prop(things.c.shape, type=CIRCLE),
        prop(things.c.parts, type=edm.CollectionType(PART)),
    ],
)
CONTAINER = edm.EntityContainer(
    namespace="Workshop",
    name="Container",
    sets=by_name([edm.EntitySet(name="Things", type=THING)]),
    types=by_name([THING]),
    complex_types=by_name([PLACE, SHAPE, CIRCLE, PART]),
)
GUID = "01234567-89ab-4cde-8f01-23456789abcd"
ROWS: list[dict[str, Any]] = [
    {
        "id": 1, "name": "full",
        "shape": {"colour": "red", "place": {"x": 1.5, "y": -2}, "radius": 2.25, "mark": GUID,
                  "opens": "09:30:00.000000", "tags": ["a", "b"]},
        "parts": [{"label": "p", "place": {"x": 0.5}}, {"label": "q"}],
    },
    {"id": 2, "name": "bare", "shape": {"colour": "blue"}, "parts": []},
    {"id": 3, "name": "none", "shape": None, "parts": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    kinds = ["sqlite"] if SERVICES["postgresql"].problem else ["sqlite", "postgresql"]
    folder: Path = tmp_path_factory.mktemp("complex")
    opened: dict[str, Connection] = {}
    closing: list[Any] = []
    for kind in kinds:
        made = new_database(kind, folder, f"complex_{folder.name.replace('-', '_')}")
        app = Flask(f"complex-{kind}", static_folder=None)
        app.config.update(SQLALCHEMY_DATABASE_URI=made.__enter__())
        database.init_app(app)
        with app.app_context(), db.engine.begin() as connection:
            metadata.create_all(connection)
            connection.execute(insert(things), ROWS)
        with app.app_context():
            opened[kind] = database.read_engine().connect()
        closing.append((app, made))
    yield Client(opened, Reader(CONTAINER, "a key for the tokens of these tests only"))
    for connection in opened.values():
        connection.close()
    for app, made in closing:
        close_engines(app)
        made.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shape/colour eq 'red'", [1]),
        ("shape/radius eq 2.25", [1]),
        ("shape/place/x gt 1", [1]),
        ("shape/place/y eq -2", [1]),
        ("shape/place eq null", [2, 3]),
        ("shape eq null", [3]),
        (f"shape/mark eq {GUID}", [1]),
        ("shape/opens lt 10:00:00", [1]),
        ("shape/tags/any(t:t eq 'b')", [1]),
        ("shape/tags/$count eq 2", [1]),
        ("parts/any(p:p/place/x lt 1 and p/label eq 'p')", [1]),
        ("parts/$count eq 0", [2, 3]),
        ("not (shape/radius gt 1)", [2, 3]),
    ],
)
def test_filters_reach_into_complex_values(client: Client, text: str, found: list[int]) -> None:
    assert client.values(f"Things?$filter={text}&$orderby=id") == found


def test_values_are_sorted_and_shown_by_their_members(client: Client) -> None:
    assert client.values("Things?$orderby=shape/colour,id") == [3, 2, 1]
    row = client.get("Things(1)?$select=shape/place")
    assert row["shape"] == {"place": {"x": 1.5, "y": -2}}
    assert client.get("Things(1)/shape/place/x")["value"] == 1.5
    assert client.get("Things(1)/shape/colour")["value"] == "red"


@pytest.mark.parametrize(
    ("select", "name", "value"),
    [
        ("shape/place/x", "shape", {"place": {"x": 1.5, "y": -2}}),
        ("shape($select=place($select=x),colour)", "shape",
         {"place": {"x": 1.5, "y": -2}, "colour": "red"}),
        ("parts($select=place/x)", "parts", [{"place": {"x": 0.5}}, {"place": None}]),
        ("parts/label", "parts", [{"label": "p"}, {"label": "q"}]),
        ("parts,parts/label", "parts", [{"label": "p", "place": {"x": 0.5}}, {"label": "q"}]),
        ("parts/place/x,parts/label", "parts",
         [{"label": "p", "place": {"x": 0.5}}, {"label": "q", "place": None}]),
    ],
)  # fmt: skip
def test_what_is_selected_deeper_is_shown_with_what_it_lies_in(
    client: Client, select: str, name: str, value: Any
) -> None:
    assert client.get(f"Things(1)?$select={select}")[name] == value


@pytest.mark.parametrize(
    ("select", "status", "words"),
    [
        ("shape/place/z", 400, "at position 12: Place has no property 'z'"),
        ("shape/place/x/y", 400, "x has no properties to select from"),
        ("shape($select=place($select=z))", 400, "Place has no property 'z'"),
        ("shape($select=place($top=1))", 400, "place is no collection"),
        ("shape/place($top=1)", 400, "shape is no collection"),
        ("name($filter=true)", 400, "name is no collection"),
        ("shape($compute=radius mul 2 as twice)", 501, "shape is no collection"),
        ("parts/nothing", 400, "at position 6: Part has no property 'nothing'"),
        ("parts/label/x", 400, "label has no properties to select from"),
        ("parts/label,parts($top=1)", 400, "parts is selected twice"),
        ("parts($top=1),parts/label", 400, "parts is selected twice"),
    ],
)
def test_what_is_selected_deeper_is_checked(
    client: Client, select: str, status: int, words: str
) -> None:
    refused = client.refused(f"Things?$select={select}")
    assert refused["status"] == status
    assert words in refused["message"]


def test_long_numbers_inside_complex_values_are_strings(client: Client) -> None:
    accept = "application/json;IEEE754Compatible=true"
    shape = client.get("Things(1)?$select=shape", Accept=accept)["shape"]
    assert (shape["radius"], shape["place"]) == ("2.25", {"x": 1.5, "y": -2})
    assert client.get("Things(1)/shape", Accept=accept)["radius"] == "2.25"
    assert client.get("Things(2)/shape", Accept=accept)["colour"] == "blue"
    assert client.get("Things(3)?$select=shape", Accept=accept)["shape"] is None
    assert client.get("Things(1)?$select=shape/radius", Accept=accept)["shape"] == {
        "radius": "2.25"
    }


def test_what_cannot_be_computed_with_is_refused_plainly(client: Client) -> None:
    assert client.refused("Things?$filter=shape/waits eq duration'PT1S'")["status"] == 501
    assert client.refused("Things?$filter=shape/nothing eq 1")["status"] == 400


def test_the_metadata_says_what_each_type_adds() -> None:
    assert {"colour", "place"}.isdisjoint(edm.own_properties(CIRCLE))
