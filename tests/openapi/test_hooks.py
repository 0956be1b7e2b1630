"""The bodies that a scan makes up end: what is created along with an entity has no relations."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.openapi.hooks import bound_bodies
from tests.openapi.reading import operations, references, resolve

pytestmark = pytest.mark.only_on("sqlite")


def levels(document: dict[str, Any], value: Any, above: tuple[str, ...] = ()) -> int:
    """How deep references lead, those that lead round not counted."""
    found = [0]
    for reference in references(value):
        assert reference not in above, (reference, above)
        inner = resolve(document, {"$ref": reference})
        found.append(1 + levels(document, inner, (*above, reference)))
    return max(found)


def test_a_body_leads_one_step_along_relations(document: dict[str, Any]) -> None:
    whole = copy.deepcopy(document)
    bound_bodies(None, document)
    for operation in operations(document):
        if operation.path.startswith("/odata") and "requestBody" in operation.value:
            # the entity, what is created along with it, and a complex value or a line of that
            assert levels(document, operation.value["requestBody"]) <= 4, operation
    created = document["components"]["schemas"]["BusinessPlatform.Client-create"]
    assert created["properties"].keys() == (
        whole["components"]["schemas"]["BusinessPlatform.Client-create"]["properties"].keys()
    )
    along = document["paths"]["/odata/Clients({id})/Contacts"]["post"]["requestBody"]
    assert [one.rpartition(".")[2] for one in references(along)] == ["Contact-create-related"]


def test_what_is_answered_is_as_it_was(document: dict[str, Any]) -> None:
    whole = copy.deepcopy(document)
    bound_bodies(None, document)
    for path, item in whole["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, dict):
                assert document["paths"][path][method]["responses"] == operation["responses"]
    names = whole["components"]["schemas"].keys()
    for name in (name for name in names if not name.endswith(("-create", "-delta", "-update"))):
        assert document["components"]["schemas"][name] == whole["components"]["schemas"][name]
