"""The types of values that ``$metadata`` does not declare: what ``$compute`` and ``$apply`` make.

A client reads the JSON of such a value by itself: text as Edm.String, a number as Edm.Double. Where
it is something else, its type stands beside it (JSON Format 4.6.3, decision 0023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Text

from app.odata.binding.values import Scope
from app.odata.model import edm
from app.odata.reading.control import type_annotation
from app.odata.reading.json_format import Format
from app.odata.sql.dialect_sql import Part, Template, spell


@dataclass(frozen=True, slots=True)
class Declared:
    """What ``$metadata`` declares of rows that ``$apply`` made, or of an object inside them.

    ``type`` is None for rows of a cross join, which have a member for each of its sets.
    """

    container: edm.EntityContainer
    type: edm.EntityType | edm.ComplexType | None

    @classmethod
    def of(cls, scope: Scope) -> Declared | None:
        """None for rows as they are kept: all of their properties are declared."""
        container = scope.context.container
        declared_type = container.types.get(scope.type.name)
        return (
            None if scope.type.key or declared_type is scope.type else cls(container, declared_type)
        )

    def has(self, name: str, type_: edm.EdmType) -> bool:
        """Whether a property of this name and type is declared; an alias may be of another one."""
        declared = (open_type.properties.get(name) for open_type in self._types())
        return any(property_ is not None and property_.type == type_ for property_ in declared)

    def inside(self, name: str) -> Declared:
        """What is declared of the object that stands under a name."""
        for type_ in self._types():
            if isinstance(type_, edm.EntityType) and name in type_.navigation:
                return Declared(self.container, self.container.target(type_.navigation[name]))
            prop = type_.properties.get(name)
            if prop is not None and isinstance(prop.type, edm.ComplexType):
                return Declared(self.container, prop.type)
        home = self.container.sets.get(name)
        return Declared(self.container, None if home is None else home.type)

    def _types(self) -> Sequence[edm.EntityType | edm.ComplexType]:
        if isinstance(self.type, edm.EntityType):
            return (self.type, *self.container.derived(self.type))
        return () if self.type is None else (self.type,)


def dynamic_annotation(
    name: str, type_: edm.EdmType, format_: Format, container: edm.EntityContainer
) -> Sequence[Part]:
    """The type of a value that nothing declares, if its JSON does not tell it; not if ``none``."""
    if format_.metadata == "none":
        return ()
    return type_annotation(name, type_, format_._replace(metadata="full"), container.namespace)


def dynamic_member(
    name: str, type_: edm.EdmType, value: Sequence[Part], format_: Format
) -> Sequence[Part]:
    """``"name":value``; beside INF and NaN, which are written as text, stands that it is a Double.

    The value is in the SQL once.
    """
    plain = f'"{name}":'
    if type_ != edm.DOUBLE or format_.metadata == "none":
        return [plain, *value]
    parts = f'"{format_.control("type", name)}":"#Double",{plain}"'
    template = f"replace('{plain}' || {{0}}, '{plain}\"', '{parts}')"
    return [spell(Text(), template, Template(value))]
