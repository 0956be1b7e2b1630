"""Fields and forms that the schemas of all areas share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, ClassVar

from marshmallow import pre_load

from app.db.types import iso_instant
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import LIST, PageSize
from app.http.schema_fields import Field, Schema
from app.odata.payload.values import read_datetime


class Instant(fields.DateTime):
    """An instant in UTC, ``2024-01-31T09:05:00.000Z``; one without a time zone is refused."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else iso_instant(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> datetime:
        return read_datetime(value)


def answer_body(schema: type[Schema], row: Any, **more: Any) -> dict[str, Any]:
    """What an answer says of a row: the fields of its schema, by their names on the wire.

    Args:
        row: has them as attributes or, where it is a mapping, by attribute or name on the wire.
        more: values of fields that the row does not have, or that are shown otherwise.
    """
    return {
        name: more[attribute] if attribute in more else _value(row, attribute, name)
        for attribute, name in _names(schema).items()
    }


def _value(row: Any, attribute: str, name: str) -> Any:
    if isinstance(row, Mapping):
        return row.get(attribute, row.get(name))
    return getattr(row, attribute)


@cache
def _names(schema: type[Schema]) -> dict[str, str]:
    return {name: field.data_key or name for name, field in schema().fields.items()}


class JsonBoolean(fields.Boolean):
    """True or false of JSON: in a body, unlike in a query, ``"true"`` and ``1`` are mistakes."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class OpenObject(fields.Dict):
    """A JSON object with any members; ``of`` describes those that have a name."""

    def __init__(self, of: type[Schema], **options: Any) -> None:
        metadata = {"additionalProperties": True, **options.pop("metadata", {})}
        super().__init__(keys=fields.String(), metadata=metadata, **options)
        self.of = of


class PostBodySchema(Schema):
    """The body of a POST: null or a blank text where a member may be left out is as if it were.

    ``null_is_said`` names members of which null says something else than nothing.
    """

    null_is_said: ClassVar[frozenset[str]] = frozenset()

    def on_bind_field(self, field_name: str, field_obj: Field) -> None:
        super().on_bind_field(field_name, field_obj)
        if not field_obj.required:
            field_obj.allow_none = True
            if isinstance(field_obj, fields.String):
                field_obj.blank = field_obj.load_default

    @pre_load
    def leave_out_nulls(self, body: Any, **_: Any) -> Any:
        """The members that are not null, and the required ones."""
        if not isinstance(body, Mapping):
            return body
        optional = {field.data_key for field in self.load_fields.values() if not field.required}
        optional -= self.null_is_said
        return {
            name: value for name, value in body.items() if value is not None or name not in optional
        }


class CheckedSchema(Schema):
    """A body of which a service looks at more than a schema does: by ``checked_by``."""

    checked_by: ClassVar[Any]

    def check(self, body: dict[str, Any]) -> None:
        """Look at the values that could be read, where others could not: they are told together.

        No row is read for it: who may not call the operation learns nothing.

        Raises: ValidationError, for what the service would refuse.
        """
        type(self).checked_by(body)


def limit_field(size: PageSize, description: str = "How many items.") -> fields.Integer:
    """How many items of a list are wanted."""
    return fields.Integer(
        load_default=size.default,
        validate=validate.Range(1, size.largest),
        metadata={"description": description},
    )


class PageQuerySchema(Schema):
    """Which part of a list: ``limit`` items from ``offset`` on."""

    limit = limit_field(LIST)
    offset = fields.Integer(
        load_default=0,
        validate=validate.Range(0, 2**31),
        metadata={"description": "How many to leave out first."},
    )


@cache
def page_schema(item: type[Schema]) -> type[Schema]:
    """The schema of a page of ``item``: ``{items, total, limit, offset}``."""
    members = {
        "items": fields.List(fields.Nested(item)),
        "total": fields.Integer(metadata={"description": "Items on all pages."}),
        "limit": fields.Integer(),
        "offset": fields.Integer(),
    }
    return type(item.__name__.replace("Schema", "PageSchema"), (Schema,), members)
