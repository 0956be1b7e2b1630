"""What an import looks like on the wire."""

from __future__ import annotations

from typing import Any

from app.errors import ValidationError
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.json_body import parse_json
from app.http.schema_fields import BadValueError, Schema
from app.http.schema_parts import Instant
from app.importing.columns import (
    ALL_OR_NOTHING,
    REFUSE,
    SIGNS,
    SKIP_BAD,
    TYPES,
    UNKNOWN_COLUMNS,
    UPDATE_BY,
)
from app.importing.tables import ENCODINGS
from app.localisation.dates import ORDERS
from app.models.import_job import IMPORT_STATUSES

MAPPING_REFUSED = 'must be a JSON object such as {"Company": "name", "Rank": null}'
_MOST_MAPPED = 500


class HeadingMap(fields.String):
    """A JSON object as the text of a form's field: heading -> property, or null."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        try:
            mapping = parse_json(value.encode())
        except ValidationError:
            raise BadValueError(MAPPING_REFUSED) from None
        is_mapping = isinstance(mapping, dict) and len(mapping) <= _MOST_MAPPED
        if not is_mapping or not all(isinstance(each, str | None) for each in mapping.values()):
            raise BadValueError(MAPPING_REFUSED)
        return mapping


class ImportOptionsSchema(Schema):
    """How to import, as the fields of a form."""

    error_messages = {"unknown": "is no field of this form"}

    type = fields.String(
        required=True, validate=validate.OneOf(TYPES), example="client",
        description="What the rows are.",
    )  # fmt: skip
    mapping = HeadingMap(
        description="JSON object, heading to property; null ignores a column.",
        example='{"Firma": "name"}',
    )
    dry_run = fields.Boolean(
        truthy={"true"}, falsy={"false"}, example=False,
        error_messages={"invalid": "must be one of true, false"},
        description="List every problem and keep nothing.",
    )  # fmt: skip
    mode = fields.String(validate=validate.OneOf((ALL_OR_NOTHING, SKIP_BAD)))
    update = fields.String(
        validate=validate.OneOf(tuple(UPDATE_BY)),
        description="Change the record that has the same.",
    )
    decimal_sign = fields.String(
        validate=validate.OneOf(tuple(SIGNS)), description="What decimals begin with."
    )
    date_order = fields.String(
        validate=validate.OneOf(ORDERS), description="Whether the day or the month is first."
    )
    encoding = fields.String(
        validate=validate.OneOf(ENCODINGS),
        description="Of a text; a file that shows it needs none.",
    )
    unknown_columns = fields.String(
        validate=validate.OneOf(UNKNOWN_COLUMNS), example=REFUSE,
        description="What becomes of columns that are not recognised.",
    )  # fmt: skip


class ImportFormSchema(ImportOptionsSchema):
    """A file, and how to import it."""

    file = fields.Raw(
        required=True, description="CSV or xlsx; the first row names the columns.",
        metadata={"type": "string", "format": "binary"},
    )  # fmt: skip


IMPORT_BODY: dict[str, Any] = {
    "content": {
        "multipart/form-data": {
            "schema": ImportFormSchema,
            "example": {"file": "name,email\nAcme GmbH,office@acme.example\n", "type": "client"},
        }
    }
}


class ProblemSchema(Schema):
    """What is wrong in a cell; `column` is its heading, empty for the whole row."""

    row = fields.Integer(example=7)
    column = fields.String(example="E-Mail")
    field = fields.String(example="email")
    message = fields.String(example="must be an e-mail address")


class ColumnSchema(Schema):
    """How a column of numbers or dates is read; `example` is a cell that could be two things, if
    there is one, and `readAs` null while nothing says which."""

    column = fields.String(example="Umsatz")
    field = fields.String(example="revenue")
    decimal_sign = fields.String(
        allow_none=True, example=",", description="Null where nothing says it."
    )
    date_order = fields.String(allow_none=True, description="Null where nothing says it.")
    example = fields.String(allow_none=True, example="12.500")
    read_as = fields.String(allow_none=True, example="12500")


class CountsSchema(Schema):
    """What came of the rows; of the problems the first 200."""

    rows = fields.Integer()
    created = fields.Integer()
    updated = fields.Integer()
    skipped = fields.Integer()
    problems = fields.List(fields.Nested(ProblemSchema))
    problem_count = fields.Integer(description="Of all, listed or not.")
    columns = fields.List(fields.Nested(ColumnSchema))
    preview = fields.List(
        fields.Dict(keys=fields.String(), values=fields.String()),
        description="The first rows as records have them, by property.",
        example=[{"name": "Globex", "revenue": "12500", "currency": "EUR"}],
    )
    encoding = fields.String(allow_none=True, example="utf-8", description="Null for a workbook.")


class OutcomeSchema(CountsSchema):
    """What an import did, or would do."""

    type = fields.String(validate=validate.OneOf(TYPES))
    mode = fields.String(validate=validate.OneOf((ALL_OR_NOTHING, SKIP_BAD)))
    dry_run = fields.Boolean()


class JobSchema(Schema):
    """An import in the worker; `done` rows are behind it in the present pass."""

    id = fields.Integer()
    type = fields.String(validate=validate.OneOf(TYPES))
    mode = fields.String(validate=validate.OneOf((ALL_OR_NOTHING, SKIP_BAD)))
    dry_run = fields.Boolean()
    file_name = fields.String(allow_none=True, example="customers.csv")
    status = fields.String(validate=validate.OneOf(IMPORT_STATUSES))
    done = fields.Integer()
    message = fields.String(allow_none=True, description="Why it failed.")
    outcome = fields.Nested(CountsSchema, allow_none=True)
    created_at = Instant()
    finished_at = Instant(allow_none=True)


class TemplateQuerySchema(Schema):
    """Of which records the columns are."""

    type = fields.String(
        load_default="client",
        validate=validate.OneOf(TYPES),
        description="What the rows are.",
        example="client",
    )
