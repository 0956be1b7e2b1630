"""The answers of OData operations, one set for each entity type."""

from __future__ import annotations

from typing import Any

from app.odata.model import edm
from app.openapi import odata_examples as examples
from app.openapi.answers import headers
from app.openapi.odata_schemas import collection_schema, entity_schema_name, ref

Answer = dict[str, Any]
ENTITY_HEADERS = ("ETag", "OData-Version", "Preference-Applied")


def reference(container: edm.EntityContainer, type_: edm.EntityType, kind: str) -> Answer:
    """A reference to an answer: ``page``, ``entity`` and ``created`` are those of a type."""
    if kind not in ("page", "entity", "created"):
        return shared(kind)
    return {"$ref": f"#/components/responses/{entity_schema_name(container, type_)}-{kind}"}


def shared(name: str) -> Answer:
    """A reference to an answer of ``frame.json``, which is the same for all types."""
    return {"$ref": f"#/components/responses/OData-{name}"}


def components(container: edm.EntityContainer) -> dict[str, Answer]:
    """The answers, as the document names them."""
    answers: dict[str, Answer] = {}
    for type_ in container.types.values():
        for kind, answer in _of_type(container, type_).items():
            answers[f"{entity_schema_name(container, type_)}-{kind}"] = answer
    return answers


def _of_type(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, Answer]:
    schema = ref(entity_schema_name(container, type_))
    home = container.set_of_type.get(type_.name)
    context = f"/odata/$metadata#{home.name if home else type_.name}"
    entity = examples.answer(container, type_)
    entity_example = {"@odata.context": f"{context}/$entity", **entity}
    page = {"@odata.context": context, "value": [entity]}
    return {
        "page": _json(
            "A page of rows.",
            collection_schema(schema),
            page,
            "OData-Version",
            "Preference-Applied",
        ),
        "entity": _json("The record.", schema, entity_example, *ENTITY_HEADERS),
        "created": _json(
            "The new record.", schema, entity_example, *ENTITY_HEADERS, "Location", "OData-EntityId"
        ),
    }


def _json(description: str, schema: dict[str, Any], example: Any, *names: str) -> Answer:
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": schema, "example": example}},
    }
