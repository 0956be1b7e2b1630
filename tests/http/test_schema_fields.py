"""Every field says in the words of the service what was expected, and carries its description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import marshmallow
import pytest
from flask import Flask

from app.http import schema_fields as fields
from app.http.schema_fields import UNKNOWN, Field, Schema

ISSUED: list[tuple[type[Field], tuple[Any, ...], Any, str]] = [
    (fields.String, (), 7, "must be a string"),
    (fields.String, (), b"\xff", "must be UTF-8"),
    (fields.Integer, (), "many", "must be a whole number"),
    (fields.Float, (), "many", "must be a number"),
    (fields.Float, (), "NaN", "must be a finite number"),
    (fields.Decimal, (), "many", "must be a number"),
    (fields.Decimal, (), "Infinity", "must be a finite number"),
    (fields.Boolean, (), "perhaps", "must be true or false"),
    (fields.Date, (), "31.01.2024", "must be a date such as 2024-01-31"),
    (fields.DateTime, (), "soon",
     "must be a date and time with offset such as 2024-01-31T09:30:00Z"),
    (fields.Email, (), "info@", "must be an e-mail address such as info@example.com"),
    (fields.List, (fields.String(),), "a", "must be a list"),
    (fields.Dict, (), "a", "must be an object"),
    (fields.Nested, (Schema,), "a", "must be an object"),
]  # fmt: skip
EVERY = {of: begin for of, begin, _, _ in ISSUED} | {fields.Raw: (), fields.Upload: ()}


def problem(field: Field, value: Any) -> Any:
    """What is said of ``value`` as the member ``it`` of a body."""
    schema = Schema.from_dict({"it": field})()
    with pytest.raises(marshmallow.ValidationError) as caught:
        schema.load({} if value is ... else {"it": value})
    said: Any = caught.value.messages
    said = said["it"]
    return said.get("_schema", said) if isinstance(said, dict) else said


@pytest.mark.parametrize(("of", "begin", "value", "expected"), ISSUED)
def test_another_type_is_refused_with_what_was_expected(
    of: type[Field], begin: tuple[Any, ...], value: Any, expected: str
) -> None:
    assert problem(of(*begin), value) == [expected]


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.__name__)
def test_what_is_missing_or_null_is_said_the_same_of_every_field(of: type[Field]) -> None:
    begin = EVERY[of]
    assert problem(of(*begin, required=True), ...) == ["is required"]
    assert problem(of(*begin), None) == ["must not be null"]


def schemas_below(schema: type[marshmallow.Schema]) -> Iterator[type[marshmallow.Schema]]:
    for below in schema.__subclasses__():
        yield below
        yield from schemas_below(below)


def test_every_required_member_of_the_service_is_missed_in_these_words(app: Flask) -> None:
    messages = {
        (schema.__name__, name): member.error_messages["required"]
        for schema in schemas_below(marshmallow.Schema)
        if schema.__module__.startswith("app.")
        for name, member in schema().load_fields.items()
        if member.required
    }
    assert ("LogoFileSchema", "file") in messages
    assert {of: text for of, text in messages.items() if text != "is required"} == {}


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.__name__)
def test_a_description_and_an_example_join_what_else_is_told_of_a_field(of: type[Field]) -> None:
    begin = EVERY[of]
    told = of(*begin, description="How many.", example=0, metadata={"scale": 4})
    assert told.metadata == {"scale": 4, "description": "How many.", "example": 0}
    assert of(*begin).metadata == {}


def test_a_body_is_an_object_of_known_members() -> None:
    schema = Schema.from_dict({"name": fields.String()})()
    with pytest.raises(marshmallow.ValidationError) as caught:
        schema.load({"nmae": "Acme"})
    assert caught.value.messages == {"nmae": [UNKNOWN]}
    with pytest.raises(marshmallow.ValidationError) as caught:
        schema.load(["Acme"])
    assert caught.value.messages == {"_schema": ["must be an object"]}


def test_what_is_wrong_with_a_member_of_any_name_is_said_of_its_name() -> None:
    counts = fields.Dict(
        fields.String(validate=marshmallow.validate.OneOf("AB", error="is another")),
        fields.Integer(),
    )
    with pytest.raises(marshmallow.ValidationError) as caught:
        counts.deserialize({"A": 1, "B": "many", "c": 2})
    assert caught.value.messages == {"B": ["must be a whole number"], "c": ["is another"]}
    with pytest.raises(marshmallow.ValidationError) as caught:
        counts.deserialize(["A"])
    assert caught.value.messages == ["must be an object"]
