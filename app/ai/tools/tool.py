"""A change that can be proposed, whatever it is made from, and what all of them need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from app.ai.context import read_context
from app.ai.intent import Wish
from app.ai.parts import RecordContext
from app.ai.wording import spoken, value_text
from app.container import engine
from app.container.model import container
from app.errors import ValidationError
from app.events import entity_url
from app.http.schema_fields import Schema as WireSchema
from app.odata.model import edm
from app.openapi.odata_schemas import (
    Schema,
    complex_schema,
    is_writable,
    parameters_schema,
    written_schema,
)
from app.operations.wire_types import parameters_of
from app.writing.machines import PATCH
from app.writing.services import SERVICES
from app.writing.states import require_step

Arguments = Mapping[str, Any]
# Of the record that a tool is used on.
KEY: Schema = {"type": "integer", "minimum": 1}
_COMPONENTS = "#/components/schemas/"


class Tool(Protocol):
    """A change that can be proposed; it is done when the caller confirms it."""

    name: str

    @property
    def description(self) -> str:
        """What it is for."""

    @property
    def wish(self) -> Wish:
        """How the caller's message asks for it."""

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its arguments."""

    def rights(self, arguments: Arguments) -> Sequence[str]:
        """The permissions that it needs, all of them, as far as no record is looked at."""

    def check(self, arguments: Arguments, sentences: Sequence[str]) -> str:
        """What would be done, in words.

        Args:
            sentences: those in which the caller asks for it.
        Raises: an ApiError, it could not be done.
        """

    def run(self, arguments: Arguments) -> dict[str, Any]:
        """Do it, as the caller; returns what came of it."""


def record_of(entity: str, key: Any) -> RecordContext:
    """The record that is meant, read as the caller.

    Raises: ValidationError, NotFoundError.
    """
    if not isinstance(key, int) or not 0 < key < 2**63:
        raise ValidationError([("id", "must be the id of a record")])
    context = read_context({"module": entity, "entityId": key})
    assert isinstance(context, RecordContext)
    return context


def made_of(entity: str, key: int) -> dict[str, Any]:
    """A record, as what came of a change."""
    return {"type": entity, "id": key, "url": entity_url(entity, key)}


def described_values(
    values: Arguments, type_: edm.EntityType | None = None
) -> Iterator[tuple[str, str]]:
    """Names and values in words; what refers to a record has the name of this.

    Args:
        type_: whose properties they are.
    Raises: NotFoundError, the caller may not read what is referred to.
    """
    for name, value in values.items():
        stem = name.removesuffix("Id")
        if f"{name.removesuffix('Type')}Id" in values and name.endswith("Type"):
            continue  # told with the id beside it
        kind = values.get(f"{stem}Type")
        target = kind or (None if type_ is None else _target(type_, name))
        if stem == name or target is None or value is None:
            yield spoken(name), value_text(value)
        else:
            yield "for" if kind else spoken(stem), record_of(target, value).title


def _target(type_: edm.EntityType, name: str) -> str | None:
    """The type that a reference of an entity leads to."""
    prop = type_.properties.get(name)
    if prop is None:
        return None
    for navigation in type_.navigation.values():
        if not navigation.collection and navigation.foreign_key == prop.attribute:
            return navigation.target if navigation.target in container().set_of_type else None
    return None


def state_property(entity: str) -> str:
    """The property that the state machine of a type moves."""
    machine = SERVICES[entity].machine if entity in SERVICES else None
    return "status" if machine is None else machine.attribute


def require_possible(record: RecordContext, name: str, target: str) -> None:
    """Check that the record may become ``target`` from what it is now.

    Raises: InvalidStateError, naming what may follow.
    """
    service = SERVICES[record.entity]
    if service.machine is not None and service.machine.attribute == name:
        source = engine.read_one(record.path, select=name)[name]
        if source != target:
            require_step(service.machine, service.rules.title, source, target, PATCH)


def writable(type_: edm.EntityType, *, creating: bool) -> Iterator[edm.Property]:
    """What a body may have, but for the key."""
    for prop in type_.properties.values():
        if prop.name not in type_.key and is_writable(type_, prop, creating=creating):
            yield prop


def arguments_schema(schema: type[WireSchema]) -> Schema:
    """The JSON Schema of arguments that a schema reads."""
    return parameters_schema(container(), parameters_of(schema, of_action=True))


def body_schema(type_: edm.EntityType, *, creating: bool) -> Schema:
    """The schema of a body, of the entity alone and what it owns."""
    shape = written_schema(container(), type_, creating=creating)
    names = [prop.name for prop in writable(type_, creating=creating)]
    names += [each.name for each in type_.navigation.values() if each.owned]
    properties = {name: inlined(shape["properties"][name]) for name in names}
    required = shape.get("required", [])
    return {
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": False,
    }  # fmt: skip


def inlined(schema: Any) -> Any:
    """A schema with those that it refers to in their places: a model sees no other document."""
    if isinstance(schema, list):
        return [inlined(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" not in schema:
        return {name: inlined(member) for name, member in schema.items()}
    model = container()
    name = schema["$ref"].removeprefix(f"{_COMPONENTS}{model.namespace}.")
    if name in model.enum_types:
        return {"type": "string", "enum": list(model.enum_types[name].members)}
    if name in model.complex_types:
        return inlined(complex_schema(model, model.complex_types[name]))
    return body_schema(model.types[name.removesuffix("-create")], creating=True)
