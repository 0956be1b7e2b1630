"""Schemas as types of the entity data model."""

from __future__ import annotations

import pytest
from marshmallow import INCLUDE

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Field, Schema
from app.http.schema_parts import Instant, JsonBoolean, OpenObject
from app.odata.model import edm
from app.operations.wire_types import complex_type, edm_type, names_record, parameters_of


class OpenLineSchema(Schema):
    """A line; with more."""

    price = fields.Decimal(description="Price of `one`.", metadata={"scale": 4})

    class Meta:
        unknown = INCLUDE


class OrderSchema(Schema):
    """An order."""

    client_id = fields.Integer(required=True, data_key="clientId", example=1)
    state = fields.String(validate=validate.OneOf(("open", "closed")))
    lines = fields.List(OpenObject(OpenLineSchema))


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("id", fields.Integer(), edm.INT64),
        ("leadId", fields.Integer(), edm.INT64),
        ("paid", fields.Integer(), edm.INT32),
        ("amount", fields.Decimal(), edm.DECIMAL),
        ("score", fields.Float(), edm.DOUBLE),
        ("day", fields.Date(), edm.DATE),
        ("at", Instant(), edm.DATETIME),
        ("at", fields.String(metadata={"format": "date-time"}), edm.DATETIME),
        ("isOpen", JsonBoolean(), edm.BOOLEAN),
        ("names", fields.List(fields.String()), edm.CollectionType(edm.STRING)),
    ],
)
def test_a_field_has_one_type(name: str, field: Field, expected: edm.EdmType) -> None:
    assert edm_type(name, field) == expected


def test_what_is_required_is_not_null_and_what_a_function_may_lack_is_optional() -> None:
    client, state, lines = parameters_of(OrderSchema, of_action=True)
    assert (client.name, client.nullable, client.optional, client.example) == (
        "clientId", False, False, 1,
    )  # fmt: skip
    assert (state.nullable, state.optional, state.allowed) == (True, False, ("open", "closed"))
    assert isinstance(lines.type, edm.CollectionType)
    assert lines.type.element is complex_type(OpenLineSchema)
    assert [each.optional for each in parameters_of(OrderSchema, of_action=False)] == [
        False, True, True,
    ]  # fmt: skip


def test_a_schema_that_keeps_what_it_does_not_know_is_an_open_type() -> None:
    line = complex_type(OpenLineSchema)
    assert (line.name, line.is_open, line.description) == ("OpenLine", True, "A line; with more.")
    assert (line.properties["price"].scale, line.properties["price"].description) == (
        4, "Price of one.",
    )  # fmt: skip


def test_a_key_that_is_required_names_a_record() -> None:
    assert names_record(OrderSchema)
    assert not names_record(OpenLineSchema)
