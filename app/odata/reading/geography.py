"""Geography as text: GeoJSON, as columns keep it, made extended WKT with SRID."""

from __future__ import annotations

from typing import Any

from app.http.json_body import parse_json

# What GeoJSON has unless it says otherwise (RFC 7946, 4).
_WGS84 = 4326


def wkt_bytes(text: str) -> bytes:
    """A GeoJSON object as ``SRID=4326;Point(13.4 52.5)``."""
    return f"SRID={_WGS84};{_wkt(parse_json(text.encode()))}".encode()


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
