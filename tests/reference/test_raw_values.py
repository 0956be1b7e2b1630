"""``/$value`` of bytes and of shapes (Protocol 11.2.4.1)."""

from __future__ import annotations

import pytest

from app.odata.reading.answers import wkt_bytes
from tests.reference.conftest import Reference


def test_bytes_are_themselves(reference: Reference) -> None:
    laptop = reference.product()
    value = reference.send("GET", f"{laptop}/Data/$value")
    assert (value.status_code, value.data) == (200, b"test")
    assert value.headers["Content-Type"] == "application/octet-stream"
    assert reference.get(f"{laptop}/Data")["value"] == "dGVzdA"
    logo = reference.send("GET", "/Company/Logo/$value")
    assert logo.headers["Content-Type"] == "image/svg+xml"
    assert logo.data.startswith(b"<svg")
    head = reference.send("HEAD", f"{laptop}/Data/$value")
    assert (head.data, head.headers["Content-Length"]) == (b"", "4")


def test_bytes_are_written_as_they_are(reference: Reference) -> None:
    address = f"{reference.product('Smartphone')}/Data"
    assert reference.send("GET", f"{address}/$value").status_code == 204
    value = bytes(range(256))
    for media_type in ("application/octet-stream", "image/png", "text/plain"):
        written = reference.send("PUT", f"{address}/$value", value, Content_Type=media_type)
        assert written.status_code == 204
        assert reference.send("GET", f"{address}/$value").data == value


def test_shapes_are_well_known_text(reference: Reference) -> None:
    laptop = reference.product()
    shown = reference.send("GET", f"{laptop}/Location/$value")
    assert shown.headers["Content-Type"].startswith("text/plain")
    assert shown.text == "SRID=4326;Point(-122.3321 47.6062)"
    for name in ("Route", "Area"):
        text = reference.send("GET", f"{laptop}/{name}/$value").text
        assert text.startswith("SRID=4326;")


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ('{"type":"Point","coordinates":[1,2.5,3]}', "Point(1 2.5 3)"),
        ('{"type":"LineString","coordinates":[[1,2],[3,4]]}', "LineString(1 2,3 4)"),
        ('{"type":"Polygon","coordinates":[[[1,2],[3,4],[1,2]]]}', "Polygon((1 2,3 4,1 2))"),
        ('{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}', "MultiPoint((1 2),(3 4))"),
        ('{"type":"MultiPoint","coordinates":[]}', "MultiPoint()"),
        (
            '{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}',
            "MultiLineString((1 2,3 4),(5 6,7 8))",
        ),
        (
            '{"type":"MultiPolygon","coordinates":[[[[1,2],[3,4],[1,2]]]]}',
            "MultiPolygon(((1 2,3 4,1 2)))",
        ),
        (
            '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}',
            "GeometryCollection(Point(1 2))",
        ),
    ],
)
def test_each_kind_of_shape(shape: str, text: str) -> None:
    assert wkt_bytes(shape) == f"SRID=4326;{text}".encode()
