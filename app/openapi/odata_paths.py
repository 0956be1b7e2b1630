"""The addresses of an entity data model as OpenAPI paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.odata.model import edm
from app.odata.payload.reader import MOST_RELATED
from app.openapi import (
    odata_answers as answers,
    odata_examples as examples,
    odata_parameters as parameters,
)
from app.openapi.answers import ODATA, errors
from app.openapi.odata_schemas import entity_schema_name, primitive_schema, ref

Operation = dict[str, Any]
READ_ERRORS = ("400", "401", "403", "404", "406", "429", "501", "503")
WRITE_ERRORS = (*READ_ERRORS, "409", "412", "413", "415")


def paths(
    container: edm.EntityContainer, prefix: str, limits: str
) -> dict[str, dict[str, Operation]]:
    """Path -> method -> operation.

    Args:
        prefix: where the service lies, ``/odata``.
        limits: the sentence on rate limits at the end of every description.
    """
    by_path: dict[str, dict[str, Operation]] = {}
    for entity_set in container.sets.values():
        writer = _SetPaths(container, entity_set, limits)
        for path, item in writer.paths():
            by_path[f"{prefix}/{path}"] = item
    return by_path


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
            body = examples.creation(self._container, type_)
            collection["post"] = self._create(type_, f"Create{type_.name}", body)
            if entity_set.updatable and entity_set.takes_deltas:
                collection["patch"] = self._delta()
        yield entity_set.name, collection
        yield f"{entity_set.name}/$count", {"get": self._count()}
        entity = f"{entity_set.name}({key_template(type_)})"
        item: dict[str, Any] = {"parameters": key_parameters(type_), "get": self._read()}
        yield entity, item | self._changes(entity_set, type_, f"one of {entity_set.name}")
        for nav in type_.navigation.values():
            yield f"{entity}/{nav.name}", self._related(nav)

    def _list(self, type_: edm.EntityType, what: str, operation_id: str) -> Operation:
        return self._operation(
            operation_id,
            f"List {what}",
            f"{type_.description} A page has 1000 rows unless `Prefer` says otherwise;"
            " `@odata.nextLink` leads to the next.",
            "read",
            type_,
            parameters=parameters.of_collection(type_),
            known={"200": "page"},
        )

    def _count(self) -> Operation:
        return self._operation(
            f"Count{self._set.name}",
            f"Count {self._set.name}",
            "The number alone, as text; `$filter` and `$search` apply.",
            "read",
            parameters=parameters.of_count(self._type),
            known={"200": "number"},
        )

    def _read(self) -> Operation:
        return self._operation(
            f"Get{self._type.name}",
            f"Read one of {self._set.name}",
            self._type.description,
            "read",
            parameters=[*parameters.of_entity(self._type), parameters.reference("ifNoneMatch")],
            known={"200": "entity", "304": "unchanged"},
        )

    def _create(
        self, type_: edm.EntityType, operation_id: str, example: Mapping[str, Any]
    ) -> Operation:
        return self._operation(
            operation_id,
            f"Create a {type_.name}",
            "Related records may be given inside; `Name@odata.bind` points at existing ones."
            " What the service sets itself is ignored; an unknown property is refused.",
            "create",
            type_,
            parameters=[*parameters.of_entity(type_), parameters.reference("prefer")],
            requestBody=self._body("-create", example, type_),
            known={"201": "created", "204": "made"},
        )

    def _delta(self) -> Operation:
        type_ = self._type
        item = {"id": 1, **examples.change(self._container, type_)}
        return self._operation(
            f"Change{self._set.name}",
            f"Change many of {self._set.name}",
            f"Make, change and remove up to {MOST_RELATED} records, in the order of the items: all"
            " or none. An item without `@id` or key is made; one with `@removed` goes."
            " The body of one entity is refused with 405.",
            "update",
            parameters=[parameters.reference("prefer")],
            requestBody=self._body("-delta", {"value": [item]}, type_),
            known={"200": "page", "204": "done"},
            refused=("405",),
        )

    def _changes(
        self, entity_set: edm.EntitySet, type_: edm.EntityType, what: str, along: str = ""
    ) -> dict[str, Operation]:
        """What changes or deletes one entity.

        Args:
            entity_set: where the entity is at home.
            what: the entity in words.
            along: put before the names of the operations, of a path along navigation.
        """
        operations: dict[str, Operation] = {}
        if entity_set.service is None:
            return operations
        if entity_set.updatable:
            names = {
                "patch": f"Update{along or type_.name}",
                "put": f"Replace{along or type_.name}",
            }
            for method, name in names.items():
                operations[method] = self._update(method, name, type_, what)
        if entity_set.deletable:
            operations["delete"] = self._delete(f"Delete{along or type_.name}", type_, what)
        return operations

    def _update(
        self, method: str, operation_id: str, type_: edm.EntityType, what: str
    ) -> Operation:
        if method == "patch":
            body = self._body("-update", examples.change(self._container, type_), type_)
            verb = "Change"
            text = "Change the properties that the body names; the others keep their values."
        else:
            body = self._body("-create", examples.creation(self._container, type_), type_)
            verb = "Replace"
            text = "Replace the record: what the body leaves out goes back to its default."
        return self._operation(
            operation_id,
            f"{verb} {what}",
            text,
            "update",
            type_,
            parameters=[
                *parameters.of_entity(type_),
                parameters.reference("ifMatch"),
                parameters.reference("prefer"),
            ],
            requestBody=body,
            known={"200": "entity", "204": "done"},
        )

    def _delete(self, operation_id: str, type_: edm.EntityType, what: str) -> Operation:
        return self._operation(
            operation_id,
            f"Delete {what}",
            "Refused with 409 while other records need it.",
            "delete",
            type_,
            parameters=[parameters.reference("ifMatch")],
            known={"204": "gone"},
        )

    def _related(self, nav: edm.NavigationProperty) -> dict[str, Any]:
        target = self._container.target(nav)
        operation_id = f"{self._type.name}{nav.name}"
        item: dict[str, Any] = {"parameters": key_parameters(self._type)}
        if nav.collection:
            item["get"] = self._list(target, nav.name, f"List{operation_id}")
            if self._container.is_insertable(self._set, nav):
                body = examples.related_creation(self._container, self._type, nav)
                item["post"] = self._create(target, f"Create{operation_id}", body)
            return item
        what = f"{nav.name} of one of {self._set.name}"
        item["get"] = self._operation(
            f"Get{operation_id}",
            f"Read {what}",
            nav.description,
            "read",
            target,
            parameters=parameters.of_entity(target),
            known={"200": "entity", "204": "none"},
        )
        home = self._container.set_of_type.get(target.name)
        return item | (self._changes(home, target, what, operation_id) if home else {})

    def _operation(
        self,
        operation_id: str,
        summary: str,
        text: str,
        action: str,
        type_: edm.EntityType | None = None,
        *,
        known: Mapping[str, str],
        refused: tuple[str, ...] = (),
        **rest: Any,
    ) -> Operation:
        """One operation.

        Args:
            known: status -> kind of the answer, of what succeeds.
            refused: statuses of errors besides those that all have.
        """
        type_ = type_ or self._type
        statuses = (*(READ_ERRORS if action == "read" else WRITE_ERRORS), *refused)
        resource = type_.resource
        permission = f"`{resource}:{action}`" if resource else "any signed-in caller"
        return {
            "tags": [self._set.name],
            "operationId": operation_id,
            "summary": summary,
            "description": f"{text}\n\nPermission: {permission}. {self._limits}".strip(),
            **rest,
            "responses": {
                **{
                    status: answers.reference(self._container, type_, kind)
                    for status, kind in known.items()
                },
                **errors(statuses, ODATA),
            },
        }

    def _body(self, kind: str, example: Mapping[str, Any], type_: edm.EntityType) -> dict[str, Any]:
        schema = ref(f"{entity_schema_name(self._container, type_)}{kind}")
        return {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example}},
        }


def key_parameters(type_: edm.EntityType, owner: str = "") -> list[dict[str, Any]]:
    """The parts of the key, as parameters of the path.

    Args:
        owner: put before their names, where a path has the keys of two entities.
    """
    return [
        {
            "name": f"{owner}{name}",
            "in": "path",
            "required": True,
            "description": "Key of the record.",
            "schema": _key_schema(type_.properties[name]),
            "example": examples.example_value(type_.properties[name]),
        }
        for name in type_.key
    ]


def _key_schema(prop: edm.Property) -> dict[str, Any]:
    assert isinstance(prop.type, edm.PrimitiveType)  # of a key (CSDL 6.5)
    schema = primitive_schema(prop.type)
    return schema | {"minimum": 1} if schema.get("type") == "integer" else schema


def key_template(type_: edm.EntityType, owner: str = "") -> str:
    """``{id}``, or ``bookId={bookId},language='{language}'``.

    Args:
        owner: as in ``key_parameters``.
    """
    parts = []
    for name in type_.key:
        quote = "'" if type_.properties[name].type == edm.STRING else ""
        value = f"{quote}{{{owner}{name}}}{quote}"
        parts.append(value if len(type_.key) == 1 else f"{name}={value}")
    return ",".join(parts)
