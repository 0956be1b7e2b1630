"""From the fields of a schema to the types of the entity data model, by one rule each.

A schema is a complex type of its name, unless it has a ``type_name``; its docstring and the
descriptions of its fields are those of the type. A whole number is a key where its name ends so,
else a count; an amount has two decimals where nothing else is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from marshmallow import INCLUDE, Schema

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Field
from app.http.schema_parts import OpenObject
from app.odata.model import edm
from app.odata.model.declare import by_name

_KEY = re.compile(r"id|\w+Id")
_MONEY_PRECISION, _MONEY_SCALE = 15, 2


def parameters_of(schema: type[Schema], *, of_action: bool) -> tuple[edm.Parameter, ...]:
    """The parameters of an operation; null stands for what may be left out."""
    return tuple(
        edm.Parameter(
            name=name,
            type=edm_type(name, field),
            nullable=not field.required,
            optional=not of_action and not field.required,
            allowed=allowed_values(field),
            description=_plain(field.metadata.get("description", "")),
            example=_example(field),
        )
        for name, field in members_of(schema).items()
    )


@cache
def complex_type(schema: type[Schema]) -> edm.ComplexType:
    """The complex type of a schema; the same for every use."""
    return edm.ComplexType(
        name=vars(schema).get("type_name", schema.__name__.removesuffix("Schema")),
        description=_plain((schema.__doc__ or "").partition("\n")[0]),
        properties=by_name(_property(name, field) for name, field in members_of(schema).items()),
        is_open=schema.opts.unknown == INCLUDE,
    )


def complex_types(
    types: Iterable[edm.EdmType | edm.EntityType | None],
) -> Iterator[edm.ComplexType]:
    """The complex types among some types, each after those that it is made of."""
    for type_ in types:
        if isinstance(type_, edm.CollectionType):
            yield from complex_types([type_.element])
        elif isinstance(type_, edm.ComplexType):
            yield from complex_types(member.type for member in type_.properties.values())
            yield type_


def edm_type(name: str, field: Field) -> edm.EdmType:
    """The type of a field.

    Args:
        name: on the wire.
    """
    match field:
        case fields.Nested():
            return complex_type(type(field.schema))
        case fields.List():
            element = edm_type(name, field.inner)
            assert not isinstance(element, edm.CollectionType)
            return edm.CollectionType(element)
        case OpenObject():
            return complex_type(field.of)
        case fields.Boolean():
            return edm.BOOLEAN
        case fields.Integer():
            return edm.INT64 if _KEY.fullmatch(name) else edm.INT32
        case fields.Decimal():
            return edm.DECIMAL
        case fields.Float():
            return edm.DOUBLE
        case fields.Date():
            return edm.DATE
        case fields.DateTime():
            return edm.DATETIME
        case fields.String() | fields.Email():
            is_instant = field.metadata.get("format") == "date-time"
            return edm.DATETIME if is_instant else edm.STRING
    raise TypeError(f"no type for {field!r}")


def _property(name: str, field: Field) -> edm.Property:
    type_ = edm_type(name, field)
    is_amount = type_ == edm.DECIMAL
    return edm.Property(
        name=name,
        type=type_,
        attribute=name,
        nullable=not isinstance(type_, edm.CollectionType),
        precision=_MONEY_PRECISION if is_amount else 3 if type_ == edm.DATETIME else None,
        scale=field.metadata.get("scale", _MONEY_SCALE) if is_amount else None,
        allowed=allowed_values(field),
        description=_plain(field.metadata.get("description", "")),
    )


def members_of(schema: type[Schema]) -> dict[str, Field]:
    """The fields of a schema, by their names on the wire."""
    return {field.data_key or name: field for name, field in schema().fields.items()}


def names_record(schema: type[Schema]) -> bool:
    """Whether there must be a record for what the schema reads: it has a key that is required."""
    return any(
        field.required and _KEY.fullmatch(name) for name, field in members_of(schema).items()
    )


def allowed_values(field: Field) -> tuple[str, ...] | None:
    """The only values that a field may have; None where there are others."""
    return tuple(labels_of(field)) or None


def labels_of(field: Field) -> dict[str, str]:
    """The only values that a field may have, each with what people call it, if anything."""
    for validator in field.validators:
        if isinstance(validator, validate.OneOf):
            return dict(validator.options())
    return {}


def _plain(text: str) -> str:
    """A text of OpenAPI without its marks."""
    return " ".join(text.replace("`", "").split())


def _example(field: Field) -> Any:
    """What the field has for an example; of a nested schema what its fields have."""
    if not isinstance(field, fields.Nested):
        return field.metadata.get("example")
    members = members_of(type(field.schema)).items()
    return {name: each for name, member in members if (each := _example(member)) is not None}
