"""Tools that make and change entities, from the entity data model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from app.ai.context import TITLES, states_of
from app.ai.intent import Wish, alone_for, apart, declared_wish, head_of, is_said, nouns_of
from app.ai.tools import tool
from app.ai.wording import quoted, spoken
from app.container import engine
from app.container.model import container
from app.db.types import json_text
from app.errors import ValidationError, refuse_any
from app.http.json_body import parse_json
from app.odata.model import edm
from app.odata.names import snake
from app.odata.payload.reader import BodyReader
from app.odata.writing.problems import Kind, entity_problems
from app.openapi.odata_schemas import Schema


class _EntityTool:
    """Writes an entity of a set; ``action`` is what the service is asked for."""

    action = ""

    def __init__(self, home: edm.EntitySet) -> None:
        self._home = home
        self._entity = home.type.name
        self.name = f"{self.action}_{snake(self._entity)}"

    def rights(self, arguments: tool.Arguments) -> Sequence[str]:
        """Those of the service of the set."""
        service = self._home.service
        assert isinstance(service, edm.Guarded)
        return service.needed_rights(self.action)

    def _refuse_wrong(self, values: tool.Arguments, kind: Kind, key: int | None = None) -> None:
        """Refuse what the service would refuse of a body.

        Raises: ValidationError, with every value that is wrong.
        """
        if not values:
            raise ValidationError([("", "There must be something to write.")])
        model = container()
        wire_values = parse_json(json_text(values).encode())
        reader = BodyReader(model)
        body = reader.entity(wire_values, self._home.type)
        reader.problems.raise_any()
        refuse_any(entity_problems(model, self._home, body, kind, key=key))


class CreateTool(_EntityTool):
    """Makes an entity of a set."""

    action = "create"

    @property
    def description(self) -> str:
        """What it is for."""
        return f"Make a new {spoken(self._entity)}. {self._home.description}"

    @property
    def wish(self) -> Wish:
        """By the nouns of the type."""
        entity = self._entity
        return declared_wish("create", objects=nouns_of(entity), alone=alone_for(entity))

    @cached_property
    def schema(self) -> Schema:
        """What a body may have."""
        return tool.body_schema(self._home.type, creating=True)

    def check(self, arguments: tool.Arguments, sentences: Sequence[str]) -> str:
        """Read the body as the service does."""
        self._refuse_wrong(arguments, "creation")
        title = TITLES.get(self._entity, "name")
        rest = {name: value for name, value in arguments.items() if name != title}
        phrases = [f"Create the {spoken(self._entity)}"]
        if arguments.get(title):
            phrases.append(quoted(str(arguments[title])))
        more = [f"{name} {value}" for name, value in tool.described_values(rest, self._home.type)]
        return ", ".join((" ".join(phrases), *more))

    def run(self, arguments: tool.Arguments) -> dict[str, Any]:
        """A POST to the set."""
        created = engine.ask("POST", self._home.name, body=dict(arguments)).body
        return tool.made_of(self._entity, created["id"])


class UpdateTool(_EntityTool):
    """Changes properties of an entity of a set; the caller must ask for each of them."""

    action = "update"

    @property
    def description(self) -> str:
        """What it is for."""
        return f"Change a {spoken(self._entity)}: what is given, and nothing else."

    @cached_property
    def wish(self) -> Wish:
        """By the record, its properties and its states; ``close`` makes it ``Closed``."""
        states = apart(" ".join(states_of(self._entity, tool.state_property(self._entity))))
        heads = {head_of(prop.name) for prop in tool.writable(self._home.type, creating=False)}
        # ``Closed`` is what ``close`` makes of a record.
        ended = [word.lower() for word in states.split() if word.endswith("ed")]
        imperatives = " ".join(f"{word[:-1]} {word[:-2]}" for word in ended)
        return declared_wish(
            "update",
            objects=f"{states} {' '.join(sorted(heads))}",
            alone=imperatives,
            record=self._entity,
        )

    @cached_property
    def schema(self) -> Schema:
        """What a body may have, and the id of the record."""
        shape = tool.body_schema(self._home.type, creating=False)
        properties = {"id": tool.KEY, **shape["properties"]}
        return {**shape, "properties": properties, "required": ["id"]}

    def check(self, arguments: tool.Arguments, sentences: Sequence[str]) -> str:
        """Read the body as the service does."""
        context = tool.record_of(self._entity, arguments.get("id"))
        values = _values(arguments)
        self._refuse_wrong(values, "change", context.key)
        state = tool.state_property(self._entity)
        refuse_any(
            (name, "is nothing that the user's message asks to change")
            for name, value in values.items()
            if name != state and not is_said(name, value, sentences)
        )
        if state in values:
            tool.require_possible(context, state, values[state])
        (name, value), *more = tool.described_values(values, self._home.type)
        first = f"Change the {name} of {context.title} to {value}"
        return ", ".join((first, *(f"{name} to {value}" for name, value in more)))

    def run(self, arguments: tool.Arguments) -> dict[str, Any]:
        """A PATCH of the entity."""
        key = arguments["id"]
        engine.ask("PATCH", f"{self._home.name}({key})", body=_values(arguments))
        return tool.made_of(self._entity, key)


def _values(arguments: tool.Arguments) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "id"}
