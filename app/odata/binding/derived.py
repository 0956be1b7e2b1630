"""Rows that a transformation made, as an entity type of their own: the next one reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, case, literal_column, select

from app.odata.binding.json_values import json_member
from app.odata.binding.paths import of_property
from app.odata.binding.values import Bound, Elements, JsonStructure, Row, Scope, Structure, Typed
from app.odata.errors import QueryError
from app.odata.model import edm

# The path of the value that tells where a row stands: it is shown nowhere.
PLACE = ("$place",)


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result: ``path`` is ``("total",)``, or ``("Client", "name")`` when nested.

    ``absent`` is 1 for rows that do not have it at all. ``unique`` marks the values that, together,
    tell a row from all others. ``offset`` is where the text of the query gives it its name.
    """

    path: tuple[str, ...]
    type: edm.EdmType
    sql: ColumnElement[Any]
    nullable: bool = True
    absent: ColumnElement[int] | None = None
    unique: bool = False
    offset: int | None = None

    @property
    def typed(self) -> Typed:
        return Typed(self.sql, self.type, self.nullable)


def type_of_one_row(
    name: str, navigation: Mapping[str, edm.NavigationProperty] | None = None
) -> edm.EntityType:
    """The type of a single row without key and properties: what it leads to is all it has."""
    table = select(literal_column("1").label("c0")).subquery()
    return edm.EntityType(
        name=name, table=table, key=(), properties={}, navigation=navigation or {}
    )


def outputs_of(scope: Scope) -> list[Output]:
    """Everything that rows of ``scope`` show by themselves, computed values included.

    Where rows are in an order of their own, their place is the first of it.
    """
    outputs = _own_outputs(scope)
    unique = {output.path for output in outputs if output.unique}
    for name, value in scope.computed.items():
        outputs.append(Output((name,), value.type, value.sql, value.nullable))
    for name, member in scope.members.items():
        parts = list(_parts(name, member))
        of_member = {part.path for part in parts if part.unique}
        unique = unique | of_member if of_member else set()
        outputs += parts
    return [replace(output, unique=output.path in unique) for output in outputs]


def _own_outputs(scope: Scope) -> list[Output]:
    type_, outputs = scope.type, []
    unique = type_.key or type_.unique
    if type_.ordered_by is not None and not type_.key:
        value = scope.columns[type_.ordered_by]
        own = type_.ordered_by in unique
        outputs.append(Output(PLACE, edm.INT64, value, nullable=False, unique=own))
    for each, properties, _ in scope.context.container.each_adds(type_):
        kind = None if each is type_ else scope.is_of(each)
        other = None if kind is None else case((kind, 0), else_=1)  # which rows do not have it
        for property_ in properties:
            if property_.on_request or property_.type == edm.STREAM:
                continue
            name, value = property_.name, of_property(scope, property_)
            absent = absent_column(scope, property_) if other is None else other
            match value:
                case Typed(sql=sql, type=value_type, nullable=nullable):
                    known = (name if type_.key else property_.attribute) in unique
                    outputs.append(Output((name,), value_type, sql, nullable, absent, known))
                case Elements(sql=sql, type=value_type) | JsonStructure(sql=sql, type=value_type):
                    outputs.append(Output((name,), value_type, sql, property_.nullable, absent))
                case Structure(scope=owner):
                    outputs += _columns(owner, property_, (name,), other)
    return outputs


def absent_column(scope: Scope, property_: edm.Property) -> ColumnElement[int] | None:
    """What is 1 in the rows that do not have the property."""
    return None if property_.absent is None else scope.columns[property_.absent]


def _columns(
    owner: Scope,
    property_: edm.Property,
    path: tuple[str, ...],
    other: ColumnElement[int] | None = None,
) -> Iterator[Output]:
    """The values of a complex property that lies in columns, those of its parts included.

    ``other`` is 1 for rows of another type, which do not have it.
    """
    type_ = property_.type
    assert isinstance(type_, edm.ComplexType) and property_.columns is not None
    for part, inner in type_.properties.items():
        if inner.columns is not None:
            yield from _columns(owner, inner, (*path, part), other)
        else:
            column = property_.columns[part]
            known = column in owner.type.unique
            absent = absent_column(owner, inner) if other is None else other
            yield Output(
                (*path, part), inner.type, owner.columns[column], absent=absent, unique=known
            )


def _parts(name: str, member: Bound) -> list[Output]:
    """The values of what was joined as ``name``; objects within it are left out."""
    if isinstance(member, Row):
        parts = outputs_of(member.scope)
        return [replace(part, path=(name, *part.path)) for part in parts if len(part.path) == 1]
    if not isinstance(member, JsonStructure):
        assert isinstance(member, Typed)
        return [Output((name,), member.type, member.sql, member.nullable)]
    outputs = []
    for part in member.type.properties:
        value = json_member(member.sql, member.type, part, 0)
        if isinstance(value, Typed):
            outputs.append(Output((name, part), value.type, value.sql))
    return outputs


# Parts of a nested value, each a column or a value with parts of its own.
_Parts = dict[str, "tuple[Output, str] | _Parts"]


def derived_type(name: str, rows: Select[Any], outputs: Sequence[Output]) -> edm.EntityType:
    """The type of the rows of a select whose columns are labelled as ``labelled`` does.

    ``Invoice/Client/name`` is a value in an object in an object.
    Raises: QueryError, a name stands for two values, or for a value and an object.
    """
    tree: _Parts = {}
    order_column = None
    markers = _markers(outputs)
    for index, output in enumerate(outputs):
        if output.path == PLACE:
            order_column = f"c{index}"
            continue
        *path, name_of_value = output.path
        parts: tuple[Output, str] | _Parts = tree
        for step in path:
            parts = parts.setdefault(step, {}) if isinstance(parts, dict) else parts
        if isinstance(parts, tuple) or name_of_value in parts:
            raise QueryError(
                f"a name occurs twice in the result of $apply: {name_of_value}", output.offset
            )
        parts[name_of_value] = (output, f"c{index}")
    properties = {part: _property(part, content, markers) for part, content in tree.items()}
    return edm.EntityType(
        name=name,
        table=rows.subquery(),
        key=(),
        properties=properties,
        ordered_by=order_column,
        unique=tuple(f"c{index}" for index, output in enumerate(outputs) if output.unique),
    )


def _property(
    name: str, content: tuple[Output, str] | _Parts, markers: Mapping[int, str]
) -> edm.Property:
    if isinstance(content, tuple):
        output, label = content
        absent = None if output.absent is None else markers[id(output.absent)]
        return edm.Property(
            name=name, type=output.type, attribute=label, nullable=output.nullable, absent=absent
        )
    members = {part: _property(part, inner, markers) for part, inner in content.items()}
    columns = {part: inner[1] for part, inner in content.items() if isinstance(inner, tuple)}
    return edm.Property(
        name=name, type=edm.ComplexType(name, members), attribute=name, columns=columns
    )


def labelled(outputs: Sequence[Output]) -> list[ColumnElement[Any]]:
    """The columns of a select that ``derived_type`` reads.

    ``c0``, ``c1`` ... are the values, ``a0``, ``a1`` ... tell that some are absent.
    """
    columns = [output.sql.label(f"c{index}") for index, output in enumerate(outputs)]
    markers = _markers(outputs)
    absent = {id(output.absent): output.absent for output in outputs}
    return [*columns, *(absent[key].label(name) for key, name in markers.items())]  # type: ignore[union-attr]


def _markers(outputs: Sequence[Output]) -> dict[int, str]:
    """The names of the columns that tell which values are absent, by the identity of their SQL."""
    different = dict.fromkeys(id(output.absent) for output in outputs if output.absent is not None)
    return {key: f"a{index}" for index, key in enumerate(different)}


def identity_of(scope: Scope) -> list[Typed]:
    """What tells a row from others; all comparable values where that is not known: then rows
    without a difference in these are equal.
    """
    outputs = outputs_of(scope)
    if is_unique(scope):
        return [output.typed for output in outputs if output.unique]
    return [output.typed for output in outputs if is_comparable(output)]


def is_entity(scope: Scope) -> bool:
    """Whether a row is an entity, which its key tells from all others."""
    return bool(scope.type.key) and not scope.members


def is_unique(scope: Scope) -> bool:
    """Whether something is known that tells each row from all others."""
    unique = [output for output in outputs_of(scope) if output.unique]
    return bool(unique) and all(map(is_comparable, unique))


def is_comparable(output: Output) -> bool:
    """Whether rows can be sorted by it."""
    return (
        isinstance(output.type, edm.PrimitiveType | edm.EnumType)
        and output.type.name not in ("Edm.Untyped", "Edm.Stream")
        and output.type not in edm.GEOGRAPHY.values()
    )
