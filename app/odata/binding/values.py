"""What a piece of a query stands for once its names are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement

from app.odata import edm
from app.odata.nodes import Literal, Node
from app.odata.sql.spelled import Predicate
from app.odata.trigrams import Trigrams

if TYPE_CHECKING:
    from app.odata.aggregation.rowset import RowSet
    from app.odata.binding.scope import Scope
    from app.odata.option_nodes import ExpandItem


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression of a known type; ``nullable`` is False only where null cannot occur.

    ``plain`` text needs no escaping in JSON; ``trigrams`` is the index that serves ``contains``
    (``EntityType.trigrams``).
    """

    sql: ColumnElement[Any]
    type: edm.EdmType
    nullable: bool = True
    plain: bool = False
    trigrams: Trigrams | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal that takes the type of what it is used with; null too."""

    literal: Literal


@dataclass(frozen=True, slots=True)
class Structure:
    """A complex value that lies in columns of a row."""

    scope: Scope
    property: edm.Property


@dataclass(frozen=True, slots=True)
class JsonStructure:
    """A complex value kept as JSON."""

    sql: ColumnElement[Any]
    type: edm.ComplexType


@dataclass(frozen=True, slots=True)
class Row:
    """One entity: the current instance, a lambda variable, or what a navigation leads to."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Rows:
    """The entities that a collection navigation of a row leads to, all or those that pass.

    ``type`` is set where only those of a derived type are meant.
    """

    owner: Scope
    navigation: edm.NavigationProperty
    predicates: tuple[Node, ...] = ()
    type: edm.EntityType | None = None

    def type_in(self, container: edm.EntityContainer) -> edm.EntityType:
        """The type of the entities."""
        return self.type or container.target(self.navigation)


@dataclass(frozen=True, slots=True)
class Elements:
    """The members of a collection kept as JSON, all or those that pass."""

    sql: ColumnElement[Any]
    type: edm.CollectionType
    predicates: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Dynamic:
    """An undeclared property of an open complex value: its type shows in what it is used with."""

    sql: ColumnElement[Any]
    name: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A collection that ``$apply`` put into each row; ``shown`` says how it is read.

    ``place`` is what expressions find under its name; None where they find nothing.
    """

    shown: ExpandItem | RowSet
    place: Rows | None = None


Place = Typed | Constant | Structure | JsonStructure | Row | Rows | Elements | Dynamic


def type_name(type_: edm.EdmType) -> str:
    """The name of a type for messages."""
    if isinstance(type_, edm.CollectionType):
        return f"Collection({type_name(type_.element)})"
    return type_.name


# Types whose values can be compared with each other.
_FAMILIES = {
    "Edm.String": "text",
    "Edm.Boolean": "boolean",
    "Edm.Date": "date",
    "Edm.DateTimeOffset": "instant",
    "Edm.TimeOfDay": "time",
    "Edm.Duration": "duration",
    "Edm.Guid": "guid",
    "Edm.Binary": "binary",
    **dict.fromkeys(("Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64"), "integer"),
    "Edm.Decimal": "decimal",
    **dict.fromkeys(("Edm.Double", "Edm.Single"), "double"),
}
NUMBERS = ("integer", "decimal", "double")


def family(type_: edm.EdmType) -> str:
    """``text``, ``integer``, ``decimal``, ``double``, ``instant`` ...; ``other`` for the rest."""
    if isinstance(type_, edm.EnumType):
        return "enum"
    return _FAMILIES.get(type_.name, "other") if isinstance(type_, edm.PrimitiveType) else "other"


def truth(condition: ColumnElement[bool], *, nullable: bool = True) -> Typed:
    """A condition as a value.

    It may be true or false without looking at any row. Such a constant has no order for SQLAlchemy,
    PostgreSQL sorts and groups by nothing that is one, and SQLite takes 1 for the first column.
    """
    template = "CAST({0} AS BOOLEAN)"
    return Typed(Predicate(template, template, condition), edm.BOOLEAN, nullable)
