"""Geography and geometry as text, extended WKT with SRID: is it well formed, how is it made?"""

from __future__ import annotations

import re
from typing import Any

from app.http.json_body import parse_json
from app.odata.errors import QueryError

_NUMBER = r"(?:[+-]?[0-9]++(?:\.[0-9]++)?(?:[Ee][+-]?[0-9]++)?|NaN|-?INF)"
_POSITION = rf"{_NUMBER} {_NUMBER}(?: {_NUMBER}){{0,2}}+"  # two to four coordinates
_POINT = rf"\({_POSITION}\)"
_LINE = rf"\({_POSITION}(?:,{_POSITION})++\)"
_RING = rf"\({_POSITION}(?:,{_POSITION})*+\)"
_POLYGON = rf"\({_RING}(?:,{_RING})*+\)"
_SRID = re.compile(r"SRID=[0-9]{1,5};", re.IGNORECASE)
_SHAPE = re.compile(
    rf"Point{_POINT}"
    rf"|LineString{_LINE}"
    rf"|Polygon{_POLYGON}"
    rf"|MultiPoint\((?:{_POINT}(?:,{_POINT})*+)?\)"
    rf"|MultiLineString\((?:{_LINE}(?:,{_LINE})*+)?\)"
    rf"|MultiPolygon\((?:{_POLYGON}(?:,{_POLYGON})*+)?\)",
    re.IGNORECASE,
)
_COLLECTION = re.compile(r"GeometryCollection\(", re.IGNORECASE)


def check_geo(text: str, offset: int) -> None:
    """Raise QueryError unless ``text`` is ``SRID=n;`` and a shape, such as ``Point(13.4 52.5)``.

    Args:
        text: what stands between the quotes.
        offset: where it begins, for the error.
    """
    srid = _SRID.match(text)
    if srid is None:
        raise QueryError("expected a geo literal such as 'SRID=4326;Point(13.4 52.5)'", offset)
    position, open_collections = srid.end(), 0
    while True:
        if collection := _COLLECTION.match(text, position):
            position, open_collections = collection.end(), open_collections + 1
            continue
        shape = _SHAPE.match(text, position)
        if shape is None:
            raise QueryError(
                "expected Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon or"
                " GeometryCollection with coordinates 'longitude latitude' in parentheses",
                offset + position,
            )
        position = shape.end()
        while open_collections and text.startswith(")", position):
            position, open_collections = position + 1, open_collections - 1
        if open_collections and text.startswith(",", position):
            position += 1
            continue
        if open_collections or position != len(text):
            raise QueryError("the geo literal does not end where it should", offset + position)
        return


# What GeoJSON has unless it says otherwise (RFC 7946, 4).
_WGS84 = 4326


def to_wkt(text: str) -> str:
    """A GeoJSON object as ``SRID=4326;Point(13.4 52.5)``."""
    return f"SRID={_WGS84};{_wkt(parse_json(text.encode()))}"


def _wkt(shape: dict[str, Any]) -> str:
    if shape["type"] == "GeometryCollection":
        parts = ",".join(_wkt(part) for part in shape["geometries"])
        return f"GeometryCollection({parts})"
    coordinates = shape["coordinates"]
    if shape["type"] == "Point":
        coordinates = [coordinates]
    elif shape["type"] == "MultiPoint":
        coordinates = [[point] for point in coordinates]
    inside = _coordinates(coordinates)
    return f"{shape['type']}{inside}"


def _coordinates(parts: list[Any]) -> str:
    """``(1 2,3 4)``, or such in parentheses of their own."""
    is_flat = bool(parts) and not isinstance(parts[0][0], list)
    texts = (" ".join(map(str, part)) if is_flat else _coordinates(part) for part in parts)
    return f"({','.join(texts)})"
