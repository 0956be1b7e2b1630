"""marshmallow's schemas and fields in the words of this service (docs/errors.md).

A message follows the name of its field: ``must be a whole number``. Schemas import this module as
``fields``, and ``schema_bounds`` as ``validate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marshmallow
from flask_smorest.fields import Upload as FilePart  # type: ignore[import-untyped]
from marshmallow import fields

from app.odata.names import camel

Field = fields.Field[Any]

UNKNOWN = "is unknown"


class BadValueError(marshmallow.ValidationError, ValueError):
    """A value is not of its type or form; the text says what was expected."""


class Schema(marshmallow.Schema):
    """A field has the name of an attribute; on the wire it is in camelCase unless it says another.

    What is shown may be a row or a dictionary that has the names of the wire already.
    """

    error_messages = {"unknown": UNKNOWN, "type": "must be an object"}

    def on_bind_field(self, field_name: str, field_obj: Field) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = camel(field_name)

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        name = camel(attr)
        on_wire = isinstance(obj, Mapping) and attr not in obj and name in obj
        return super().get_attribute(obj, name if on_wire else attr, default)


class Described(Field):
    """A field that is given its ``description`` and ``example`` beside its other options."""

    default_error_messages = {
        "required": "is required",
        "null": "must not be null",
        "validator_failed": "is not allowed",
    }

    def __init__(
        self, *of: Any, description: str = "", example: Any = None, **options: Any
    ) -> None:
        metadata = dict(options.pop("metadata", None) or {})
        if description:
            metadata["description"] = description
        if example is not None:
            metadata["example"] = example
        begin: Any = super().__init__  # what it is of, such as its items, is the next class's
        begin(*of, metadata=metadata, **options)


class String(Described, fields.String):
    """A text; where null may be, a blank one that the bounds allow is ``blank``."""

    blank: Any = None
    default_error_messages = {"invalid": "must be a string", "invalid_utf8": "must be UTF-8"}

    def deserialize(self, value: Any, *of: Any, **options: Any) -> Any:
        read = super().deserialize(value, *of, **options)
        is_blank = self.allow_none and isinstance(read, str) and not read.strip()
        return self.blank if is_blank else read


class Integer(Described, fields.Integer):
    default_error_messages = {"invalid": "must be a whole number"}


class Float(Described, fields.Float):
    default_error_messages = {"invalid": "must be a number", "special": "must be a finite number"}


class Decimal(Described, fields.Decimal):
    default_error_messages = {"invalid": "must be a number", "special": "must be a finite number"}


class Boolean(Described, fields.Boolean):
    default_error_messages = {"invalid": "must be true or false"}


class Date(Described, fields.Date):
    default_error_messages = {"invalid": "must be a date such as 2024-01-31"}


class DateTime(Described, fields.DateTime):
    default_error_messages = {
        "invalid": "must be a date and time with offset such as 2024-01-31T09:30:00Z"
    }


class Email(Described, fields.Email):
    default_error_messages = {"invalid": "must be an e-mail address such as info@example.com"}


class Raw(Described, fields.Raw):
    """Any value."""


class Upload(Described, FilePart):  # type: ignore[misc]  # of a library without types
    """A file, as a part of a form."""


class List(Described, fields.List[Any]):
    default_error_messages = {"invalid": "must be a list"}


class Dict(Described, fields.Dict):
    """An object with members of any name; what is wrong with one is said of its name."""

    default_error_messages = {"invalid": "must be an object"}

    def _deserialize(self, value: Any, *of: Any, **options: Any) -> Any:
        try:
            return super()._deserialize(value, *of, **options)  # type: ignore[no-untyped-call]
        except marshmallow.ValidationError as error:
            if not isinstance(error.messages, dict):
                raise
            # The library tells apart what is wrong with the ``key`` and with the ``value``.
            messages = {name: next(iter(wrong.values())) for name, wrong in error.messages.items()}
            raise marshmallow.ValidationError(messages) from error


class Nested(Described, fields.Nested):
    default_error_messages = {"type": "must be an object"}
