"""The fields and forms that the schemas of all areas share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import marshmallow
import pytest

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import LIST
from app.http.schema_fields import BadValueError, Schema
from app.http.schema_parts import (
    Instant,
    JsonBoolean,
    OpenObject,
    PageQuerySchema,
    PostBodySchema,
    limit_field,
    page_schema,
)


class CarSchema(Schema):
    at = Instant()
    is_new = JsonBoolean(data_key="isNew")
    more = OpenObject(PageQuerySchema)


@pytest.mark.parametrize(
    "text", ["2024-01-31T09:05:00Z", "2024-01-31T10:05:00+01:00", "2024-01-31T09:05:00.000Z"]
)
def test_an_instant_is_read_with_any_offset_and_written_in_utc(text: str) -> None:
    read = CarSchema().load({"at": text})
    assert read == {"at": datetime(2024, 1, 31, 9, 5, tzinfo=UTC)}
    assert CarSchema().dump(read) == {"at": "2024-01-31T09:05:00.000Z"}
    assert CarSchema().dump({"at": None}) == {"at": None}


@pytest.mark.parametrize("text", ["2024-01-31T09:05:00", "2024-01-31", "soon"])
def test_an_instant_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises((BadValueError, marshmallow.ValidationError)):
        CarSchema().load({"at": text})


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_only_true_and_false_of_json_are_booleans_of_a_body(value: Any) -> None:
    with pytest.raises(marshmallow.ValidationError):
        CarSchema().load({"isNew": value})
    assert [CarSchema().load({"isNew": it})["is_new"] for it in (True, False)] == [True, False]


def test_an_open_object_takes_any_member_and_describes_those_it_names() -> None:
    assert CarSchema().load({"more": {"x": [1]}}) == {"more": {"x": [1]}}
    more = CarSchema().fields["more"]
    assert isinstance(more, OpenObject) and more.of is PageQuerySchema
    assert more.metadata["additionalProperties"] is True
    with pytest.raises(marshmallow.ValidationError):
        CarSchema().load({"more": 1})


def test_a_list_begins_with_its_first_items_and_has_a_largest_page() -> None:
    assert PageQuerySchema().load({}) == {"limit": LIST.default, "offset": 0}
    largest = {"limit": LIST.largest, "offset": 2**31}
    assert PageQuerySchema().load(largest) == largest
    for refused in (
        {"limit": 0},
        {"limit": LIST.largest + 1},
        {"offset": -1},
        {"offset": 2**31 + 1},
    ):
        with pytest.raises(marshmallow.ValidationError):
            PageQuerySchema().load(refused)
    assert limit_field(LIST, "How many cars.").metadata["description"] == "How many cars."


def test_a_page_is_named_after_its_items_and_made_once() -> None:
    page = page_schema(CarSchema)
    assert page.__name__ == "CarPageSchema"
    assert page is page_schema(CarSchema)
    written = {"items": [{"isNew": True}], "total": 1, "limit": 1, "offset": 0}
    cars = page().dump({**written, "items": [{"is_new": True}]})
    assert cars == written
    assert isinstance(page().fields["total"], fields.Integer)


class NewCarSchema(PostBodySchema):
    name = fields.String(required=True, validate=validate.Length(1, 20))
    color = fields.String(load_default="red")
    note = fields.String(validate=validate.Length(max=20))
    password = fields.String(validate=validate.Length(4))
    doors = fields.Integer()


def test_what_a_body_of_a_post_may_leave_out_may_be_null_or_blank() -> None:
    left_out = {"name": "Ada", "color": "red"}
    assert NewCarSchema().load({"name": "Ada"}) == left_out
    nulls = dict.fromkeys(("color", "note", "password", "doors"))
    assert NewCarSchema().load({"name": "Ada", **nulls}) == left_out
    assert NewCarSchema().load({"name": "Ada", "color": "", "note": " \t"}) == left_out


@pytest.mark.parametrize(
    ("member", "said"), [("name", "must not be blank"), ("password", "must not be blank")]
)
def test_a_text_that_must_have_characters_is_not_blank(member: str, said: str) -> None:
    with pytest.raises(marshmallow.ValidationError) as caught:
        NewCarSchema().load({"name": "Ada", member: "   \u200b   "})
    assert caught.value.messages == {member: [said]}
    with pytest.raises(marshmallow.ValidationError):
        NewCarSchema().load({"name": "Ada", member: ""})


def test_a_blank_text_clears_what_may_be_null_and_is_kept_elsewhere() -> None:
    schema = Schema.from_dict({"a": fields.String(allow_none=True), "b": fields.String()})()
    assert schema.load({"a": "  ", "b": "  "}) == {"a": None, "b": "  "}
