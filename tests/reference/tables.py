"""The tables of the reference model."""

from __future__ import annotations

import threading
import time
import uuid

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Time,
    UniqueConstraint,
)

from app.db.types import Guid, JsonText, UtcDateTime, string
from tests.reference.column_types import Duration, WideDecimal

metadata = MetaData()
_lock = threading.Lock()
_last = 0


def new_guid() -> uuid.UUID:
    """A GUID greater than all before: rows without another order are in that of insertion."""
    global _last
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1000)
        ticks = _last
    milliseconds, rest = divmod(ticks, 1000)
    noise = uuid.uuid4().int & (1 << 62) - 1
    return uuid.UUID(int=milliseconds << 80 | 7 << 76 | rest << 64 | 2 << 62 | noise)


def _key() -> Column[uuid.UUID]:
    return Column("id", Guid(), primary_key=True)


def _number(name: str, type_: type[Integer] | type[SmallInteger] = SmallInteger) -> Column[int]:
    return Column(name, type_, nullable=False, default=0)


categories = Table(
    "categories",
    metadata,
    _key(),
    Column("name", string(100), nullable=False, unique=True),
    Column("description", string(500), nullable=False, default=""),
)
products = Table(
    "products",
    metadata,
    _key(),
    Column("name", string(100), nullable=False),
    Column("description", string(500)),
    Column("price", Double, nullable=False, default=0.0),
    _number("rating"),
    _number("temperature"),
    _number("quantity"),
    Column("weight", Double, nullable=False, default=0.0),
    Column("data", LargeBinary),
    Column("release_date", Date),
    Column("open_time", Time),
    Column("shipping_time", Duration()),
    Column("processing_time", Duration()),
    Column("offset", Duration()),
    Column("category_id", Guid(), ForeignKey("categories.id", ondelete="SET NULL")),
    _number("status", Integer),
    Column("version", Integer, nullable=False, default=1),
    Column("created_at", UtcDateTime(), nullable=False),
    Column("changed_at", UtcDateTime(), nullable=False),
    Column("serial_number", string(50)),
    Column("product_type", string(50), nullable=False, default="Product"),
    Column("special_property", string(200)),
    Column("special_feature", string(100)),
    Column("street", string(100)),
    Column("city", string(50), info={"searchable": True}),
    Column("state", string(2)),
    Column("postal_code", string(10)),
    Column("country", string(50)),
    Column("length", Double),
    Column("width", Double),
    Column("height", Double),
    Column("unit", string(10)),
    Column("location", JsonText()),
    Column("route", JsonText()),
    Column("area", JsonText()),
    Column("photo", LargeBinary),
    Column("photo_type", string(100)),
)
deleted_products = Table(
    "deleted_products", metadata, _key(), Column("deleted_at", UtcDateTime(), nullable=False)
)
descriptions = Table(
    "product_descriptions",
    metadata,
    Column("product_id", Guid(), ForeignKey("products.id", ondelete="CASCADE"), primary_key=True),
    Column("language_key", string(2), primary_key=True),
    Column("description", string(500), nullable=False, info={"searchable": True}),
    Column("long_text", string(2000), info={"searchable": True}),
    Column("custom_name", string(100), nullable=False, default=""),
)
related_products = Table(
    "related_products",
    metadata,
    Column("product_id", Guid(), ForeignKey("products.id", ondelete="CASCADE"), nullable=False),
    Column("related_id", Guid(), ForeignKey("products.id", ondelete="CASCADE"), nullable=False),
    UniqueConstraint("product_id", "related_id"),
)
media_items = Table(
    "media_items",
    metadata,
    _key(),
    Column("name", string(100), nullable=False, default=""),
    Column("content_type", string(100), nullable=False, default="application/octet-stream"),
    Column("size", BigInteger),
    Column("created_at", UtcDateTime(), nullable=False),
    Column("modified_at", UtcDateTime(), nullable=False),
    Column("content", LargeBinary),
)
read_only_items = Table(
    "read_only_items", metadata, _key(), Column("name", string(100), nullable=False)
)
decimal_samples = Table(
    "decimal_samples",
    metadata,
    _key(),
    Column("name", string(100), nullable=False),
    Column("amount", WideDecimal(38, 18), nullable=False),
)
companies = Table(
    "companies",
    metadata,
    _key(),
    Column("name", string(200), nullable=False),
    Column("ceo", string(100), nullable=False),
    Column("founded", Integer, nullable=False, default=0),
    Column("head_quarter", string(200), nullable=False, default=""),
    Column("website", string(100), nullable=False, default=""),
    Column("logo", LargeBinary),
    Column("version", Integer, nullable=False, default=1),
    Column("updated_at", UtcDateTime(), nullable=False),
)
