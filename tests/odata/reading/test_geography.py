"""Shapes as text are those of GeoJSON."""

from __future__ import annotations

import pytest

from app.odata.reading.answers import wkt_bytes

_RING = "[[0,0],[1,0],[1,1],[0,0]]"


@pytest.mark.parametrize(
    ("kind", "coordinates", "text"),
    [
        ("Point", "[13.4,52.5]", "(13.4 52.5)"),
        ("MultiPoint", "[[1,2],[3,4]]", "((1 2),(3 4))"),
        ("LineString", "[[1,2],[3,4]]", "(1 2,3 4)"),
        ("MultiLineString", "[[[1,2],[3,4]],[[5,6],[7,8]]]", "((1 2,3 4),(5 6,7 8))"),
        ("Polygon", f"[{_RING}]", "((0 0,1 0,1 1,0 0))"),
        ("MultiPolygon", f"[[{_RING}]]", "(((0 0,1 0,1 1,0 0)))"),
    ],
)
def test_a_shape(kind: str, coordinates: str, text: str) -> None:
    shape = f'{{"type": "{kind}", "coordinates": {coordinates}}}'
    assert wkt_bytes(shape).decode() == f"SRID=4326;{kind}{text}"
    several = f'{{"type": "GeometryCollection", "geometries": [{shape}, {shape}]}}'
    both = f"{kind}{text},{kind}{text}"
    assert wkt_bytes(several).decode() == f"SRID=4326;GeometryCollection({both})"
