"""Tools that do an operation, from its declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from app.ai.context import TITLES, entity_type
from app.ai.intent import Wish, apart
from app.ai.tools.tool import KEY, Arguments, described_values, inlined, made_of
from app.container import engine
from app.container.model import container
from app.db.types import json_text
from app.errors import InvalidStateError, refuse_any
from app.http.json_body import parse_json
from app.odata.model import edm
from app.odata.operations.arguments import body_arguments
from app.openapi.odata_schemas import Schema, parameters_schema
from app.operations.declaration import Operation


class OperationTool:
    """Does an operation on a record; it has the name of the view of REST."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self.name = operation.run.__name__
        self.description = " ".join(operation.description.replace("`", "").split())
        self._label = operation.button.label if operation.button else apart(operation.name)

    @property
    def wish(self) -> Wish:
        """By the words of its name, and by those that its declaration has besides."""
        operation = self._operation
        return Wish(
            names=(apart(operation.name),),
            phrases=operation.asked_by,
            record=operation.bound_to,
        )

    @cached_property
    def schema(self) -> Schema:
        """Its parameters, and the id of the record; of one within another that of this, too."""
        shape = parameters_schema(container(), self._in_odata.parameters)
        properties = {**dict.fromkeys(self._keys, KEY), **inlined(shape["properties"])}
        return {
            "type": "object", "properties": properties, "additionalProperties": False,
            "required": [*self._keys, *shape.get("required", [])],
        }  # fmt: skip

    def rights(self, arguments: Arguments) -> Sequence[str]:
        """As declared."""
        return self._operation.permissions

    def check(self, arguments: Arguments, sentences: Sequence[str]) -> str:
        """Read the arguments as the service does; the record must allow it as it is."""
        refuse_any(
            (key, "must be the id of a record")
            for key in self._keys
            if not isinstance(arguments.get(key), int)
        )
        parameters = self._parameters_in(arguments)
        values = body_arguments(self._in_odata, parse_json(json_text(parameters).encode()))
        if self._in_odata.check is not None:
            self._in_odata.check(values)
        what = self._label
        if self._operation.bound_to is not None:
            what += f" ({self._title(self._operation.bound_to, arguments)})"
        more = ", ".join(f"{name} {value}" for name, value in described_values(parameters))
        return f"{what}: {more}" if more else what

    def run(self, arguments: Arguments) -> dict[str, Any]:
        """A POST to the action."""
        operation = self._operation
        path = f"{self._path(arguments)}{container().namespace}.{operation.name}"
        answer = engine.ask("POST", path, body=self._parameters_in(arguments)).body
        if operation.location and operation.returns and isinstance(answer, Mapping):
            return made_of(operation.returns, answer["id"])
        if operation.bound_to is None:
            return dict(answer or {})
        return made_of(operation.bound_to, arguments["id"])

    @cached_property
    def _in_odata(self) -> edm.Operation:
        about = (self._operation.name, self._operation.bound_to)
        return next(each for each in container().operations if (each.name, each.bound_to) == about)

    @cached_property
    def _owner(self) -> tuple[str, str] | None:
        """The type that has the records within it, where they have no set, and the navigation."""
        bound_to = self._operation.bound_to
        if bound_to is None:
            return None
        within = container().containers_of(entity_type(bound_to))
        return (within[0][0].name, within[0][1].name) if within else None

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The arguments that say which record is meant."""
        if self._operation.bound_to is None:
            return ()
        owner = self._owner
        return ("id",) if owner is None else (f"{owner[0][0].lower()}{owner[0][1:]}Id", "id")

    def _parameters_in(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments that are no key of the record."""
        return {name: value for name, value in arguments.items() if name not in self._keys}

    def _path(self, arguments: Arguments) -> str:
        """The address of the record with a slash; empty for an operation on none."""
        bound_to, sets = self._operation.bound_to, container().set_of_type
        if bound_to is None:
            return ""
        if self._owner is None:
            return f"{sets[bound_to].name}({arguments['id']})/"
        (entity, navigation), key = self._owner, arguments[self._keys[0]]
        return f"{sets[entity].name}({key})/{navigation}({arguments['id']})/"

    def _title(self, bound_to: str, arguments: Arguments) -> str:
        """The name of the record.

        Raises: NotFoundError, none that the caller may read; InvalidStateError.
        """
        operation, properties = self._operation, entity_type(bound_to).properties
        unnamed = f"{bound_to} {arguments['id']}"
        if operation.binds_hidden:  # it cannot be read
            return unnamed
        title = TITLES.get(bound_to, "name" if "name" in properties else "number")
        is_told = operation.action is not None and "allowedActions" in properties
        names = ["id", title, *(["allowedActions"] if is_told else [])]
        row = engine.read_one(self._path(arguments).rstrip("/"), select=",".join(names))
        name = str(row[title] or unnamed)
        if is_told and operation.action not in row["allowedActions"]:
            raise InvalidStateError(f"{self._label} is not possible with {name} as it is.")
        return name
