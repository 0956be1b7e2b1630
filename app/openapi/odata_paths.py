"""The addresses of an entity data model as OpenAPI paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.odata import edm
from app.odata.csdl_capabilities import is_insertable
from app.openapi import odata_examples as examples, odata_parameters as parameters
from app.openapi.answers import ODATA, errors, headers
from app.openapi.odata_schemas import collection_schema, entity_schema_name, ref, type_schema

Operation = dict[str, Any]
READ_ERRORS = ("400", "401", "403", "404", "406", "414", "429", "503")
WRITE_ERRORS = (*READ_ERRORS, "409", "412", "413", "415")


def paths(
    container: edm.EntityContainer, prefix: str, limits: str
) -> dict[str, dict[str, Operation]]:
    """Path -> method -> operation.

    Args:
        prefix: where the service lies, ``/odata``.
        limits: the sentence on rate limits at the end of every description.
    """
    found: dict[str, dict[str, Operation]] = {}
    for entity_set in container.sets.values():
        writer = _SetPaths(container, entity_set, limits)
        for path, item in writer.paths():
            found[f"{prefix}/{path}"] = item
    return found


class _SetPaths:
    """The paths of one entity set."""

    def __init__(
        self, container: edm.EntityContainer, entity_set: edm.EntitySet, limits: str
    ) -> None:
        self._container = container
        self._set = entity_set
        self._type = entity_set.type
        self._limits = limits

    def paths(self) -> Iterator[tuple[str, dict[str, Operation]]]:
        entity_set, type_ = self._set, self._type
        collection = {"get": self._list(type_, entity_set.name, f"List{entity_set.name}")}
        service = entity_set.service is not None
        if service and entity_set.insertable:
            collection["post"] = self._create(type_, f"Create{type_.name}")
        yield entity_set.name, collection
        yield f"{entity_set.name}/$count", {"get": self._count()}
        entity = f"{entity_set.name}({_key_template(type_)})"
        item: dict[str, Any] = {"parameters": key_parameters(type_), "get": self._read()}
        if service and entity_set.updatable:
            item["patch"] = self._update("patch", f"Update{type_.name}")
            item["put"] = self._update("put", f"Replace{type_.name}")
        if service and entity_set.deletable:
            item["delete"] = self._delete()
        yield entity, item
        for nav in type_.navigation.values():
            yield f"{entity}/{nav.name}", self._related(nav)

    def _list(self, type_: edm.EntityType, what: str, operation_id: str) -> Operation:
        sample = examples.answer(self._container, type_)
        body = {"@odata.context": f"/odata/$metadata#{what}", "value": [sample]}
        given = [
            parameters.filter_(type_),
            parameters.orderby(type_),
            parameters.select(type_),
            parameters.expand(type_),
            parameters.search(type_),
            *(parameters.shared(name) for name in ("top", "skip", "count", "prefer")),
        ]
        return self._operation(
            operation_id,
            f"List {what}",
            f"{type_.description} A page has 1000 rows unless `Prefer` says otherwise;"
            " `@odata.nextLink` leads to the next.",
            "read",
            parameters=[parameter for parameter in given if parameter],
            responses={
                "200": _json_answer(
                    "A page of rows.",
                    collection_schema(ref(entity_schema_name(self._container, type_))),
                    body,
                    "OData-Version",
                    "Preference-Applied",
                ),
                **errors(READ_ERRORS, ODATA),
            },
        )

    def _count(self) -> Operation:
        return self._operation(
            f"Count{self._set.name}",
            f"Count {self._set.name}",
            "The number alone, as text; `$filter` and `$search` apply.",
            "read",
            parameters=[parameters.filter_(self._type)],
            responses={
                "200": {
                    "description": "The number.",
                    "headers": headers("OData-Version"),
                    "content": {
                        "text/plain": {
                            "schema": {"type": "string", "pattern": r"^\d+$"},
                            "example": "42",
                        }
                    },
                },
                **errors(READ_ERRORS, ODATA),
            },
        )

    def _read(self) -> Operation:
        type_ = self._type
        given = [parameters.select(type_), parameters.expand(type_)]
        return self._operation(
            f"Get{type_.name}",
            f"Read one of {self._set.name}",
            type_.description,
            "read",
            parameters=[
                *(parameter for parameter in given if parameter),
                parameters.shared("ifNoneMatch"),
            ],
            responses={
                "200": self._entity_answer("The record."),
                "304": {"description": "It is as you know it.", "headers": headers("ETag")},
                **errors(READ_ERRORS, ODATA),
            },
        )

    def _create(self, type_: edm.EntityType, operation_id: str) -> Operation:
        given = [parameters.select(type_), parameters.expand(type_), parameters.shared("prefer")]
        return self._operation(
            operation_id,
            f"Create one of {type_.name}",
            "Related records may be given inside; `Name@odata.bind` points at existing ones."
            " What the service sets itself is ignored; an unknown property is refused.",
            "create",
            parameters=[parameter for parameter in given if parameter],
            requestBody=self._body("-create", examples.creation(self._container, type_), type_),
            responses={
                "201": self._entity_answer(
                    "The new record.", "Location", "OData-EntityId", type_=type_
                ),
                "204": {
                    "description": "It was created (`Prefer: return=minimal`).",
                    "headers": headers("Location", "OData-EntityId", "Preference-Applied"),
                },
                **errors(WRITE_ERRORS, ODATA),
            },
        )

    def _update(self, method: str, operation_id: str) -> Operation:
        type_ = self._type
        patch = method == "patch"
        if patch:
            body = self._body("-update", examples.change(self._container, type_), type_)
            text = "Change the properties that the body names; the others keep their values."
        else:
            body = self._body("-create", examples.creation(self._container, type_), type_)
            text = "Replace the record: what the body leaves out goes back to its default."
        return self._operation(
            operation_id,
            f"{'Change' if patch else 'Replace'} one of {self._set.name}",
            text,
            "update",
            parameters=[parameters.shared("ifMatch"), parameters.shared("prefer")],
            requestBody=body,
            responses={
                "200": self._entity_answer("The record as it is now."),
                "204": {
                    "description": "It was changed (`Prefer: return=minimal`).",
                    "headers": headers("ETag", "OData-EntityId", "Preference-Applied"),
                },
                **errors(WRITE_ERRORS, ODATA),
            },
        )

    def _delete(self) -> Operation:
        return self._operation(
            f"Delete{self._type.name}",
            f"Delete one of {self._set.name}",
            "Refused with 409 while other records need it.",
            "delete",
            parameters=[parameters.shared("ifMatch")],
            responses={
                "204": {"description": "It is gone.", "headers": headers("OData-Version")},
                **errors(WRITE_ERRORS, ODATA),
            },
        )

    def _related(self, nav: edm.NavigationProperty) -> dict[str, Any]:
        target = self._container.target(nav)
        operation_id = f"{self._type.name}{nav.name}"
        item: dict[str, Any] = {"parameters": key_parameters(self._type)}
        if nav.collection:
            item["get"] = self._list(target, nav.name, f"List{operation_id}")
            if is_insertable(self._container, nav) and nav.through is None:
                item["post"] = self._create(target, f"Create{operation_id}")
            return item
        item["get"] = self._operation(
            f"Get{operation_id}",
            f"Read {nav.name} of one of {self._set.name}",
            nav.description or f"The related {target.name}.",
            "read",
            parameters=[parameters.select(target)],
            responses={
                "200": self._entity_answer("The related record.", type_=target),
                "204": {"description": "None is related.", "headers": headers()},
                **errors(READ_ERRORS, ODATA),
            },
        )
        return item

    def _operation(
        self, operation_id: str, summary: str, text: str, action: str, **rest: Any
    ) -> Operation:
        permission = f"`{self._type.resource}:{action}`" if self._type.resource else "none"
        notes = f"Permission: {permission}. {self._limits}"
        return {
            "tags": [self._set.name],
            "operationId": operation_id,
            "summary": summary,
            "description": f"{text}\n\n{notes}".strip(),
            **rest,
        }

    def _body(self, kind: str, example: Mapping[str, Any], type_: edm.EntityType) -> dict[str, Any]:
        schema = ref(f"{entity_schema_name(self._container, type_)}{kind}")
        return {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example}},
        }

    def _entity_answer(
        self, description: str, *more: str, type_: edm.EntityType | None = None
    ) -> dict[str, Any]:
        type_ = type_ or self._type
        home = self._container.set_of_type.get(type_.name)
        context = f"/odata/$metadata#{home.name if home else type_.name}/$entity"
        body = {"@odata.context": context, **examples.answer(self._container, type_)}
        schema = ref(entity_schema_name(self._container, type_))
        names = ("ETag", "OData-Version", "Preference-Applied", *more)
        return _json_answer(description, schema, body, *names)


def key_parameters(type_: edm.EntityType) -> list[dict[str, Any]]:
    """The parts of the key, as parameters of the path."""
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": "Key of the record.",
            "schema": _key_schema(type_.properties[name]),
            "example": examples.example_value(type_.properties[name]),
        }
        for name in type_.key
    ]


def _key_schema(prop: edm.Property) -> dict[str, Any]:
    assert isinstance(prop.type, edm.PrimitiveType)
    schema = type_schema(_NO_MODEL, prop.type)
    return schema | {"minimum": 1} if schema.get("type") == "integer" else schema


_NO_MODEL = edm.EntityContainer(namespace="", name="", sets={}, types={})


def _key_template(type_: edm.EntityType) -> str:
    """``{id}``, or ``bookId={bookId},language='{language}'``."""
    parts = []
    for name in type_.key:
        quote = "'" if type_.properties[name].type == edm.STRING else ""
        value = f"{quote}{{{name}}}{quote}"
        parts.append(value if len(type_.key) == 1 else f"{name}={value}")
    return ",".join(parts)


def _json_answer(
    description: str, schema: Mapping[str, Any], example: Any, *names: str
) -> dict[str, Any]:
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": schema, "example": example}},
    }
