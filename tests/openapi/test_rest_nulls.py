"""What a body of a POST may leave out may be null or blank there, in REST and in OData."""

from __future__ import annotations

from typing import Any

import marshmallow
import orjson
import pytest

from app.container.declared import DECLARED
from app.container.operations import in_odata
from app.odata.operations.calls import body_arguments
from app.operations.declaration import Operation
from app.operations.wire_types import members_of
from tests.contract.conftest import Api
from tests.openapi.bad_values import plain, types_of
from tests.openapi.test_rest_bad_fields import WITH_BODIES, bodies, prepared, send
from tests.openapi.test_rest_examples import filled

__all__ = ["filled"]

ACTIONS = [each for each in DECLARED if each.arguments and each.changes]


@pytest.mark.parametrize("area", [area for area in WITH_BODIES if area != "s"])
def test_null_or_blank_is_as_left_out(filled: Api, document: dict[str, Any], area: str) -> None:
    found = []
    for operation, described in bodies(document, area):
        if operation.method != "post":
            continue
        path, example = prepared(filled, operation, described["example"])
        body = with_nulls(document, described["schema"], example)
        answer = send(filled, operation, path, orjson.dumps(body))
        if answer.status_code >= 300:
            found.append(f"{operation}: {answer.text[:500]}")
    assert found == []


def with_nulls(document: dict[str, Any], schema: dict[str, Any], example: Any) -> Any:
    """An example in which what it leaves out is null or blank, in objects within it, too."""
    schema = plain(document, schema)
    if not isinstance(example, dict):
        return example
    members = schema.get("properties", {})
    optional = set(members) - {*schema.get("required", [])}
    nulls = {name: none(plain(document, members[name])) for name in optional - {*example}}
    return nulls | {
        name: with_nulls(document, members.get(name, {}), value) for name, value in example.items()
    }


def none(schema: dict[str, Any]) -> Any:
    """A blank text where a text may be anything; else null."""
    bounds = {"enum", "format", "minLength", "pattern"}
    return None if "string" not in types_of(schema) or bounds & {*schema} else " "


@pytest.mark.parametrize("operation", ACTIONS, ids=lambda operation: operation.name)
def test_null_is_as_if_it_were_left_out_of_a_declared_operation(operation: Operation) -> None:
    assert operation.arguments is not None
    members = members_of(operation.arguments)
    required = {
        name: field.metadata["example"] for name, field in members.items() if field.required
    }
    nulls = {name: None for name, field in members.items() if not field.required}
    action = in_odata(operation)
    loaded = []
    for body in (required, required | nulls):
        arguments = body_arguments(action, body)
        try:
            loaded.append(operation.arguments().load(arguments))
        except marshmallow.ValidationError as error:  # one of two members must be there
            loaded.append(str(error))
    assert loaded[0] == loaded[1]
