"""Rows that a transformation made, as an entity type of their own: the next one reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select

from app.odata import edm
from app.odata.binding.json_members import json_member
from app.odata.binding.paths import of_property
from app.odata.binding.scope import Scope
from app.odata.binding.values import Elements, JsonStructure, Place, Row, Structure, Typed
from app.odata.errors import QueryError


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result: ``path`` is ``("total",)``, or ``("Client", "name")`` when nested."""

    path: tuple[str, ...]
    type: edm.EdmType
    sql: ColumnElement[Any]
    nullable: bool = True

    @property
    def typed(self) -> Typed:
        return Typed(self.sql, self.type, self.nullable)


def outputs_of(scope: Scope) -> list[Output]:
    """Everything that rows of ``scope`` show by themselves, computed values included."""
    found = []
    for property_ in scope.type.properties.values():
        if property_.on_request or property_.type == edm.STREAM:
            continue
        name, place = property_.name, of_property(scope, property_)
        match place:
            case Typed(sql=sql, type=type_, nullable=nullable):
                found.append(Output((name,), type_, sql, nullable))
            case Elements(sql=sql, type=type_) | JsonStructure(sql=sql, type=type_):
                found.append(Output((name,), type_, sql, property_.nullable))
            case Structure(scope=owner):
                found += _columns(owner, property_, (name,))
    for name, value in scope.computed.items():
        found.append(Output((name,), value.type, value.sql, value.nullable))
    for name, member in scope.members.items():
        found += _parts(name, member)
    return found


def _columns(owner: Scope, property_: edm.Property, path: tuple[str, ...]) -> Iterator[Output]:
    """The values of a complex property that lies in columns, those of its parts included."""
    type_ = property_.type
    assert isinstance(type_, edm.ComplexType) and property_.columns is not None
    for part, inner in type_.properties.items():
        if inner.columns is not None:
            yield from _columns(owner, inner, (*path, part))
        else:
            yield Output((*path, part), inner.type, owner.columns[property_.columns[part]])


def _parts(name: str, member: Place) -> list[Output]:
    """The values of what was joined as ``name``; objects within it are left out."""
    if isinstance(member, Row):
        parts = outputs_of(member.scope)
        return [
            Output((name, *part.path), part.type, part.sql) for part in parts if len(part.path) == 1
        ]
    if not isinstance(member, JsonStructure):
        assert isinstance(member, Typed)
        return [Output((name,), member.type, member.sql, member.nullable)]
    found = []
    for part in member.type.properties:
        value = json_member(member.sql, member.type, part, 0)
        if isinstance(value, Typed):
            found.append(Output((name, part), value.type, value.sql))
    return found


# Parts of a nested value, each a column or a value with parts of its own.
_Parts = dict[str, "tuple[Output, str] | _Parts"]


def derived_type(name: str, rows: Select[Any], outputs: Sequence[Output]) -> edm.EntityType:
    """The type of the rows of a select whose columns are labelled ``c0``, ``c1`` ...

    ``Invoice/Client/name`` is a value in an object in an object.
    Raises: QueryError, a name stands for two values, or for a value and an object.
    """
    tree: _Parts = {}
    for index, output in enumerate(outputs):
        *path, name_of_value = output.path
        parts: tuple[Output, str] | _Parts = tree
        for step in path:
            parts = parts.setdefault(step, {}) if isinstance(parts, dict) else parts
        if isinstance(parts, tuple) or name_of_value in parts:
            raise QueryError(f"a name occurs twice in the result of $apply: {name_of_value}")
        parts[name_of_value] = (output, f"c{index}")
    properties = {part: _property(part, content) for part, content in tree.items()}
    return edm.EntityType(name=name, table=rows.subquery(), key=(), properties=properties)


def _property(name: str, content: tuple[Output, str] | _Parts) -> edm.Property:
    if isinstance(content, tuple):
        output, label = content
        return edm.Property(
            name=name, type=output.type, attribute=label, nullable=output.nullable
        )  # fmt: skip
    members = {part: _property(part, inner) for part, inner in content.items()}
    columns = {part: inner[1] for part, inner in content.items() if isinstance(inner, tuple)}
    return edm.Property(
        name=name, type=edm.ComplexType(name, members), attribute=name, columns=columns
    )


def labelled(outputs: Sequence[Output]) -> list[ColumnElement[Any]]:
    """The columns of a select that ``derived_type`` reads."""
    return [output.sql.label(f"c{index}") for index, output in enumerate(outputs)]


def identity_of(scope: Scope) -> list[Typed]:
    """All comparable values of a row: together they tell it from others, or it equals them."""
    return [
        output.typed
        for output in outputs_of(scope)
        if isinstance(output.type, edm.PrimitiveType | edm.EnumType)
        and output.type.name not in ("Edm.Untyped", "Edm.Binary", "Edm.Stream")
        and output.type not in edm.GEOGRAPHY.values()
    ]
