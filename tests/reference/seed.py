"""The rows of the reference model, from ``seed.json``."""

from __future__ import annotations

import base64
import json
import re
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from app.clock import utc_now
from app.odata.syntax.literals import to_duration
from tests.reference import tables as t
from tests.reference.model import ADDRESS, COMPANY_ID, DIMENSIONS

_SHAPES = {"POINT": "Point", "LINESTRING": "LineString", "POLYGON": "Polygon"}


@cache
def _seed() -> Any:
    return json.loads((Path(__file__).parent / "seed.json").read_text(encoding="utf-8"))


def reseed(connection: Connection) -> None:
    """Drop all rows and fill the tables again, with new keys."""
    for table in reversed(t.metadata.sorted_tables):
        connection.execute(table.delete())
    seed = _seed()
    categories = {one["Name"]: t.new_guid() for one in seed["Categories"]}
    products = {one["Name"]: t.new_guid() for one in seed["Products"]}
    for table, rows in (
        (t.categories, [_category(one, categories) for one in seed["Categories"]]),
        (t.products, [_product(one, products, categories) for one in seed["Products"]]),
        (t.descriptions, [_description(one, products) for one in seed["ProductDescriptions"]]),
        (t.media_items, [_media_item(one) for one in seed["MediaItems"]]),
        (t.read_only_items, [{"id": t.new_guid(), "name": one["Name"]}
                             for one in seed["ReadOnlyItems"]]),
        (t.decimal_samples, [{"id": t.new_guid(), "name": one["Name"],
                              "amount": Decimal(one["Amount"])}
                             for one in seed["DecimalSamples"]]),
        (t.companies, [_company(seed["Company"])]),
    ):  # fmt: skip
        connection.execute(insert(table), rows)


def geo_json(text: str | None) -> Any:
    """Well-known text as GeoJSON: ``POINT(1 2)`` -> ``{"type":"Point","coordinates":[1,2]}``."""
    if text is None:
        return None
    shape, rest = re.fullmatch(r"([A-Z]+)\((.*)\)", text).groups()  # type: ignore[union-attr]

    def positions(inner: str) -> list[list[float]]:
        return [[float(number) for number in one.split()] for one in inner.split(",")]

    coordinates: Any = positions(rest.strip("()"))
    if shape == "POINT":
        coordinates = coordinates[0]
    elif shape == "POLYGON":
        coordinates = [positions(ring) for ring in re.findall(r"\(([^()]*)\)", rest)]
    return {"type": _SHAPES[shape], "coordinates": coordinates}


def _category(one: Any, keys: Any) -> dict[str, Any]:
    return {"id": keys[one["Name"]], "name": one["Name"], "description": one["Description"]}


def _product(one: Any, keys: Any, categories: Any) -> dict[str, Any]:
    row = {
        "id": keys[one["Name"]],
        "category_id": categories[one["Category"]],
        "status": one["StatusValue"],
        "version": 1,
        "created_at": _instant(one["CreatedAt"]),
        "changed_at": utc_now(),
        "data": _bytes(one["Data"]),
        "release_date": one["ReleaseDate"] and date.fromisoformat(one["ReleaseDate"]),
        "open_time": one["OpenTime"] and time.fromisoformat(one["OpenTime"]),
        "location": geo_json(one["Location"]),
        "route": geo_json(one["Route"]),
        "area": geo_json(one["Area"]),
    }
    for column, name in (
        ("name", "Name"), ("description", "Description"), ("price", "Price"),
        ("rating", "Rating"), ("temperature", "Temperature"), ("quantity", "Quantity"),
        ("weight", "Weight"), ("serial_number", "SerialNumber"),
        ("product_type", "ProductType"), ("special_property", "SpecialProperty"),
        ("special_feature", "SpecialFeature"),
    ):  # fmt: skip
        row[column] = one[name]
    for column, name in (
        ("shipping_time", "ShippingTime"), ("processing_time", "ProcessingTime"),
        ("offset", "Offset"),
    ):  # fmt: skip
        row[column] = None if one[name] is None else to_duration(one[name])
    for type_, name in ((ADDRESS, "ShippingAddress"), (DIMENSIONS, "Dimensions")):
        given = one[name] or {}
        for inner in type_.properties.values():
            row[inner.attribute] = given.get(inner.name)
    return row


def _description(one: Any, products: Any) -> dict[str, Any]:
    return {
        "product_id": products[one["Product"]],
        "language_key": one["LanguageKey"],
        "description": one["Description"],
        "long_text": one["LongText"],
        "custom_name": one.get("CustomName") or "",
    }


def _media_item(one: Any) -> dict[str, Any]:
    return {
        "id": t.new_guid(),
        "name": one["Name"],
        "content_type": one["ContentType"],
        "size": one["Size"],
        "created_at": utc_now(),
        "modified_at": utc_now(),
        "content": one["ContentText"].encode(),
    }


def _company(one: Any) -> dict[str, Any]:
    return {
        "id": COMPANY_ID,
        "name": one["Name"],
        "ceo": one["CEO"],
        "founded": one["Founded"],
        "head_quarter": one["HeadQuarter"],
        "website": one["Website"],
        "logo": _bytes(one["Logo"]),
        "version": 1,
        "updated_at": utc_now(),
    }


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _instant(text: str) -> datetime:
    return utc_now() if text == "now" else datetime.fromisoformat(text)
