"""The addresses of an entity data model as OpenAPI paths: sets, entities, operations, answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.db.types import json_text
from app.http import page_sizes
from app.odata.model import edm
from app.odata.payload.reader import MOST_RELATED
from app.openapi import odata_examples as examples
from app.openapi.answers import ODATA, errors, headers
from app.openapi.odata_schemas import (
    collection_schema,
    complex_schema,
    entity_schema_name,
    parameters_schema,
    primitive_schema,
    ref,
    type_schema,
)

Parameter = dict[str, Any]


def _query(name: str, description: str, schema: dict[str, Any], example: Any) -> Parameter:
    # The example is the schema's: one of the parameter's own would be filled in on the page, and
    # whoever tries a request there would send all options at once.
    text = example if isinstance(example, str) else json_text(example)
    return {
        "name": name,
        "in": "query",
        "description": f"{description} Example: `{text}`.",
        "schema": schema | {"examples": [example]},
    }


def _header(name: str, description: str, example: str) -> Parameter:
    return _query(name, description, {"type": "string"}, example) | {"in": "header"}


TOP = _query("$top", "At most so many rows.", {"type": "integer", "minimum": 0}, 10)
SKIP = _query("$skip", "Leave out so many rows first.", {"type": "integer", "minimum": 0}, 0)
COUNT = _query(
    "$count", "Tell the number of all rows as `@odata.count`.", {"type": "boolean"}, True
)
PREFER = _header(
    "Prefer",
    "`return=minimal`: answer 204 without a body; `return=representation`: with the record."
    f" `odata.maxpagesize=100`: rows of a page (1 to {page_sizes.ODATA.largest}).",
    "return=representation",
)
IF_MATCH = _header(
    "If-Match", "The `@odata.etag` that was read, or `*`: refuse with 412 if it is stale.", "*"
)
IF_NONE_MATCH = _header(
    "If-None-Match", "The `@odata.etag` that was read: answer 304 if it is still right.", 'W/"1"'
)
SHARED = {
    "top": TOP,
    "skip": SKIP,
    "count": COUNT,
    "prefer": PREFER,
    "ifMatch": IF_MATCH,
    "ifNoneMatch": IF_NONE_MATCH,
}


def of_collection(type_: edm.EntityType) -> list[Parameter]:
    """References to the options of a request for entities of a type."""
    own = [parameter(f"{name}-{type_.name}") for name in _own(type_)]
    return [*own, *(parameter(name) for name in ("top", "skip", "count", "prefer"))]


def of_count(type_: edm.EntityType) -> list[Parameter]:
    """References to the options of a request for a number."""
    return [parameter(f"{name}-{type_.name}") for name in _own(type_) if name in _COUNTING]


def of_entity(type_: edm.EntityType) -> list[Parameter]:
    """References to the options that shape one entity."""
    return [parameter(f"{name}-{type_.name}") for name in _own(type_) if name in _SHAPING]


def parameter_components(container: edm.EntityContainer) -> dict[str, Parameter]:
    """The parameters, as the document names them."""
    parameters = dict(SHARED)
    for type_ in container.types.values():
        parameters |= {f"{name}-{type_.name}": known for name, known in _own(type_).items()}
    return {f"odata-{name}": known for name, known in parameters.items()}


def parameter(name: str) -> Parameter:
    return {"$ref": f"#/components/parameters/odata-{name}"}


_COUNTING = ("filter", "search")
_SHAPING = ("select", "expand")


def _own(type_: edm.EntityType) -> dict[str, Parameter]:
    """The options whose examples and descriptions name properties of a type."""
    text = _first_text(type_)
    parameters = {
        "filter": _query(
            "$filter",
            "Which rows: `eq ne gt ge lt le in and or not`, `contains startswith endswith`,"
            " arithmetic, dates (`createdAt gt 2026-01-01`), related rows (`any`, `all`).",
            {"type": "string"},
            f"contains({text},'a')" if text else f"{type_.key[0]} ne null",
        ),
        "orderby": _query(
            "$orderby",
            "Which order: properties or expressions, each `asc` or `desc`.",
            {"type": "string"},
            f"{text or type_.key[0]} desc",
        ),
        "select": _query(
            "$select",
            "Which properties: names with commas between; all by default.",
            {"type": "string"},
            ",".join([*type_.key, *([text] if text else [])]),
        ),
    }
    if names := list(type_.navigation):
        parameters["expand"] = _query(
            "$expand",
            "Which related rows, with options in parentheses:"
            f" `{names[0]}($select=id)`. There are: {', '.join(names)}.",
            {"type": "string"},
            names[0],
        )
    if any(prop.searchable for prop in type_.properties.values()):
        parameters["search"] = _query(
            "$search",
            'Rows with these words: `word "a phrase" AND OR NOT`, case and accents ignored.',
            {"type": "string"},
            "acme",
        )
    return parameters


def _first_text(type_: edm.EntityType) -> str | None:
    """A property to show expressions with: a text, rather one that is searched."""
    texts = [
        prop.name
        for prop in type_.properties.values()
        if prop.type == edm.STRING and not prop.allowed and not prop.on_request
    ]
    searchable = [name for name in texts if type_.properties[name].searchable]
    return next(iter(searchable or texts), None)


Answer = dict[str, Any]
ENTITY_HEADERS = ("ETag", "OData-Version", "Preference-Applied")


def answer_reference(container: edm.EntityContainer, type_: edm.EntityType, kind: str) -> Answer:
    """A reference to an answer: ``page``, ``entity`` and ``created`` are those of a type."""
    if kind not in ("page", "entity", "created"):
        return shared(kind)
    return {"$ref": f"#/components/responses/{entity_schema_name(container, type_)}-{kind}"}


def shared(name: str) -> Answer:
    """A reference to an answer of ``frame.json``, which is the same for all types."""
    return {"$ref": f"#/components/responses/OData-{name}"}


def answer_components(container: edm.EntityContainer) -> dict[str, Answer]:
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
            parameters=of_collection(type_),
            known={"200": "page"},
        )

    def _count(self) -> Operation:
        return self._operation(
            f"Count{self._set.name}",
            f"Count {self._set.name}",
            "The number alone, as text; `$filter` and `$search` apply.",
            "read",
            parameters=of_count(self._type),
            known={"200": "number"},
        )

    def _read(self) -> Operation:
        return self._operation(
            f"Get{self._type.name}",
            f"Read one of {self._set.name}",
            self._type.description,
            "read",
            parameters=[*of_entity(self._type), parameter("ifNoneMatch")],
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
            parameters=[*of_entity(type_), parameter("prefer")],
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
            parameters=[parameter("prefer")],
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
                *of_entity(type_),
                parameter("ifMatch"),
                parameter("prefer"),
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
            parameters=[parameter("ifMatch")],
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
            parameters=of_entity(target),
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
                    status: answer_reference(self._container, type_, kind)
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


# --- actions and functions


def operation_paths(container: edm.EntityContainer, prefix: str, limits: str) -> dict[str, Any]:
    """The address of each operation; of several with one name the first.

    Args:
        prefix: where the service lies, ``/odata``.
        limits: the sentence on rate limits at the end of every description.
    """
    paths_made: dict[str, Any] = {}
    for operation in container.operations:
        address = _address(container, operation)
        if address is None or f"{prefix}/{address[0]}" in paths_made:
            continue
        path, tag, keys = address
        described = _described(container, operation, tag, limits)
        method = "post" if operation.is_action else "get"
        paths_made[f"{prefix}/{path}"] = {
            **({"parameters": keys} if keys else {}),
            method: described,
        }
    return paths_made


def _address(
    container: edm.EntityContainer, operation: edm.Operation
) -> tuple[str, str, list[dict[str, Any]]] | None:
    """Path, tag and key parameters of an operation; None where it has no address of its own."""
    if operation.bound_to is None:
        return (operation.import_name, "OData", []) if operation.import_name else None
    name = f"{container.namespace}.{operation.name}"
    type_ = container.types[operation.bound_to]
    home = container.set_of_type.get(type_.name)
    if home is not None:
        if operation.bound_to_collection:
            return f"{home.name}/{name}", home.name, []
        return f"{home.name}({key_template(type_)})/{name}", home.name, key_parameters(type_)
    for owner in container.sets.values():
        for nav in owner.type.navigation.values():
            if nav.target == type_.name and nav.collection:
                keys = [*key_parameters(owner.type), *key_parameters(type_, type_.name)]
                inner = f"{nav.name}({key_template(type_, type_.name)})"
                path = f"{owner.name}({key_template(owner.type)})/{inner}/{name}"
                return path, owner.name, keys
    return None


def _described(
    container: edm.EntityContainer, operation: edm.Operation, tag: str, limits: str
) -> Operation:
    permission = " and ".join(f"`{needed}`" for needed in operation.permissions)
    permission = permission or "any signed-in caller"
    described: Operation = {
        "tags": [tag],
        "operationId": f"{operation.name}{operation.bound_to or ''}",
        "summary": f"{operation.name}, of one of {tag}" if operation.bound_to else operation.name,
        "description": f"{operation.description}\n\nPermission: {permission}. {limits}".strip(),
    }
    if operation.is_action:
        described["requestBody"] = _body(container, operation)
    else:
        described["parameters"] = [
            _query_parameter(container, operation, each) for each in operation.parameters
        ]
    known = WRITE_ERRORS if operation.is_action else READ_ERRORS
    described["responses"] = {**_answers(container, operation), **errors(known, ODATA)}
    return described


def _body(container: edm.EntityContainer, operation: edm.Operation) -> dict[str, Any]:
    schema = parameters_schema(container, operation.parameters)
    return {
        "required": "required" in schema,
        "content": {
            "application/json": {"schema": schema, "example": examples.arguments(operation)}
        },
    }


def _query_parameter(
    container: edm.EntityContainer, operation: edm.Operation, parameter: edm.Parameter
) -> dict[str, Any]:
    assert not isinstance(parameter.type, edm.EntityType)
    schema = type_schema(container, parameter.type)
    if parameter.allowed is not None:
        schema["enum"] = list(parameter.allowed)
    if (
        parameter.nullable or parameter.optional
    ) and parameter.type != edm.STRING:  # a text may be "null"
        schema = {"anyOf": [schema, {"const": "null"}]}
    argument_examples = examples.arguments(operation)
    return {
        "name": parameter.name,
        "in": "query",
        "required": not parameter.optional,
        "description": parameter.description or parameter.name,
        "schema": schema,
        **(
            {"example": argument_examples[parameter.name]}
            if parameter.name in argument_examples
            else {}
        ),
    }


def _answers(container: edm.EntityContainer, operation: edm.Operation) -> dict[str, Any]:
    done = shared("done")
    if operation.returns is None:
        return {"204": done}
    empty: dict[str, Any] = {"204": done} if operation.is_action else {}
    if isinstance(operation.returns, edm.EntityType):
        if operation.creates:
            return {"201": answer_reference(container, operation.returns, "created"), **empty}
        kind = "page" if operation.returns_collection else "entity"
        return {"200": answer_reference(container, operation.returns, kind), **empty}
    schema, example = _value(
        container, operation.returns, is_collection=operation.returns_collection
    )
    return {
        "200": {
            "description": "What it returns.",
            "headers": headers("OData-Version"),
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        **empty,
    }


def _value(
    container: edm.EntityContainer, type_: edm.EdmType, *, is_collection: bool
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The schema of a value that is returned, and an example."""
    context = {"@odata.context": {"type": "string", "description": "What the answer holds."}}
    if isinstance(type_, edm.ComplexType) and not is_collection:
        schema = complex_schema(container, type_)
        schema["properties"] = {**context, **schema["properties"]}
        text = f"/odata/$metadata#{container.namespace}.{type_.name}"
        return schema, {"@odata.context": text, **examples.complex_value(type_)}
    schema = type_schema(container, type_)
    if is_collection:
        schema = {"type": "array", "items": schema}
    return (
        {"type": "object", "required": ["value"], "properties": {**context, "value": schema}},
        {"value": [] if is_collection else examples.type_value(type_)},
    )
