"""Declaring an entity type from a table: names, types and facets come from the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    Double,
    FromClause,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Time,
)
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from app.db.types import ExactDecimal, Guid, JsonText, OrdinalEnum, UtcDateTime
from app.odata.model import edm
from app.odata.names import camel


def prop(col: Any, name: str | None = None, **facets: Any) -> edm.Property:
    """A property over one column; facets given here win over those of the column."""
    default = col.default
    derived: dict[str, Any] = {
        "name": name or camel(col.name),
        "type": facets.get("type") or edm_type(col),
        "attribute": col.name,
        "nullable": bool(col.nullable),
        "default": default.arg if isinstance(default, ScalarElementColumnDefault) else None,
        "description": col.doc or "",
        "max_length": col.info.get("maximum_length"),
    }
    for facet in ("allowed", "minimum", "maximum", "searchable", "computed"):
        if facet in col.info:
            derived[facet] = col.info[facet]
    if isinstance(col.type, String) and col.type.length:
        derived["max_length"] = col.type.length
    if isinstance(col.type, ExactDecimal):
        derived |= {"precision": col.type.precision, "scale": col.type.scale}
    if isinstance(col.type, UtcDateTime):
        derived["precision"] = 3
    if isinstance(col.type, Time):
        derived["precision"] = 6  # microseconds
    derived |= facets
    derived.setdefault(
        "required",
        not derived["nullable"] and derived["default"] is None and not derived.get("computed"),
    )
    return edm.Property(**derived)


def edm_type(col: Any) -> edm.EdmType:
    kind = col.type
    if isinstance(kind, OrdinalEnum):
        return edm.EnumType(kind.name, {name: at for at, name in enumerate(kind.members)})
    for column_type, edm_primitive in (
        (ExactDecimal, edm.DECIMAL),
        (UtcDateTime, edm.DATETIME),
        (JsonText, edm.UNTYPED),
        (Boolean, edm.BOOLEAN),
        (Date, edm.DATE),
        (SmallInteger, edm.INT16),
        (Guid, edm.GUID),
        (LargeBinary, edm.BINARY),
        (Time, edm.TIME_OF_DAY),
        (Double, edm.DOUBLE),
        (BigInteger, edm.INT64),  # identifiers and byte counts
        (Integer, edm.INT32),
        (String, edm.STRING),  # and Text, which is one
    ):
        if isinstance(kind, column_type):
            return edm_primitive
    raise TypeError(f"no EDM type for {col!r}")


def to_one(
    name: str, target: str, foreign_key: str, *, target_key: str = "id", **facets: Any
) -> edm.NavigationProperty:
    """A single-valued navigation along a foreign key of this row."""
    return edm.NavigationProperty(
        name=name,
        target=target,
        collection=False,
        join=lambda source, other: other[target_key] == source[foreign_key],
        foreign_key=foreign_key,
        **facets,
    )


def to_many(name: str, target: str, foreign_key: str, **facets: Any) -> edm.NavigationProperty:
    """A collection whose rows hold a foreign key to this one; described by its name at least."""
    facets.setdefault("description", f"{name}.")
    return edm.NavigationProperty(
        name=name,
        target=target,
        collection=True,
        join=lambda source, other: other[foreign_key] == source["id"],
        foreign_key=foreign_key,
        **facets,
    )


def by_name(items: Iterable[Any]) -> Mapping[str, Any]:
    """Things with a ``name``, by it."""
    return {item.name: item for item in items}


def entity_type(
    name: str,
    table: FromClause,
    properties: Iterable[edm.Property],
    navigation: Iterable[edm.NavigationProperty] = (),
    *,
    key: tuple[str, ...] = ("id",),
    **facets: Any,
) -> edm.EntityType:
    return edm.EntityType(
        name=name,
        table=table,
        key=key,
        properties=by_name(properties),
        navigation=by_name(navigation),
        **facets,
    )
