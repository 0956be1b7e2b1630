"""What the write path knows of an entity: one frozen value per entity, made from its table.

Types, lengths, ranges, allowed values, formats and what a caller may write come from the columns
(app/models); the rules add what a column cannot say: names on the wire, what happens to a row when
another one that it refers to is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import marshmallow
from sqlalchemy import Table
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from app.db.types import JsonText
from app.extensions import Model
from app.http.schema_fields import Field
from app.models.columns import Entity, Record, is_money
from app.odata.names import camel, snake
from app.writing.fields import described, field_of
from app.writing.reference_rules import Rule, rule_of

# What the ten entities share (contract section 9, "Common to all ten").
COMMON_WRITABLE = ("owner_id", "external_id", "tags", "custom_fields")
# Set by the pipeline with every change; no part of what an event or the audit log reports.
STAMPS = frozenset(("id", "created_at", "created_by_id", "updated_at", "updated_by_id", "version"))
_NOT_NAMED = STAMPS | {*COMMON_WRITABLE}
_BY_SERVICE = frozenset(("computed", "normal_form"))

E = TypeVar("E", bound=Entity)
E_co = TypeVar("E_co", bound=Entity, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A foreign key: what it refers to, and what the deletion of that means for the row."""

    attribute: str
    target: str  # table
    rule: Rule


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRules:
    """What a body may say of a row.

    ``filled`` are the not nullable columns that the service fills when a body leaves them out;
    ``wire_names`` the names that are not the attribute in camelCase, ``billing_city`` ->
    ``billingAddress.city``.
    """

    model: type[Record]
    writable: tuple[str, ...]
    filled: frozenset[str] = frozenset()
    wire_names: Mapping[str, str] = field(default_factory=dict)
    # What events and audit leave out, because it follows from others.
    derived: frozenset[str] = frozenset()
    # Attribute that carries rows of their own -> their rules.
    children: Mapping[str, ChildRules] = field(default_factory=dict)

    @cached_property
    def table(self) -> Table:
        """The table of the model."""
        return Model.metadata.tables[self.model.__tablename__]

    @property
    def all_writable(self) -> tuple[str, ...]:
        """Every attribute that a body may set."""
        return self.writable

    @cached_property
    def schema(self) -> marshmallow.Schema:
        """Reads the columns that a body may set, by attribute; what else is there is left out."""
        members = {
            name: field_of(self.table.c[name], required=name in self.required)
            for name in self.all_writable
        }
        return marshmallow.Schema.from_dict(members)(unknown=marshmallow.EXCLUDE)

    def field(self, attribute: str, /, **options: Any) -> Field:
        """The field of an attribute in the schema of a REST body, under its name on the wire."""
        column = self.table.c[attribute]
        own_options = {"required": attribute in self.required, "data_key": self.wire(attribute)}
        metadata = {"description": described(column), **options.pop("metadata", {})}
        return field_of(column, metadata=metadata, **{**own_options, **options})

    @cached_property
    def known(self) -> frozenset[str]:
        """Everything that a body may name; what is not writable is ignored (contract P8)."""
        return frozenset(self.names)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Attribute -> default of its column; None without one."""
        return {
            column.name: column.default.arg
            if isinstance(column.default, ScalarElementColumnDefault)
            else None
            for column in self.table.c
        }

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Writable attributes without which no row can be: not nullable, without a default."""
        return tuple(
            name
            for name in self.all_writable
            if not self.table.c[name].nullable
            and self.table.c[name].default is None
            and name not in self.filled
        )

    @cached_property
    def optional(self) -> frozenset[str]:
        """Writable attributes that a body may leave out."""
        return frozenset(self.all_writable) - {*self.required}

    @cached_property
    def json_columns(self) -> frozenset[str]:
        """Attributes whose values are compared by their JSON text."""
        return frozenset(
            column.name for column in self.table.c if isinstance(column.type, JsonText)
        )

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """Attribute -> reference, of every foreign key of the table."""
        return {
            column.name: Reference(
                attribute=column.name, target=key.column.table.name, rule=rule_of(column, key)
            )
            for column in self.table.c
            for key in column.foreign_keys
        }

    @cached_property
    def amounts(self) -> tuple[str, ...]:
        """The amounts of money that a body may set."""
        return tuple(name for name in self.all_writable if is_money(self.table.c[name]))

    @cached_property
    def has_amounts(self) -> bool:
        """Whether a body may set amounts, in the record or in the lists inside it."""
        return bool(self.amounts) or any(child.has_amounts for child in self.children.values())

    @cached_property
    def written_references(self) -> tuple[Reference, ...]:
        """The references that a body may set."""
        return tuple(self.references[name] for name in self.all_writable if name in self.references)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Attribute -> name on the wire."""
        return {name: self.wire_names.get(name) or camel(name) for name in self.attributes()}

    def attributes(self) -> Iterable[str]:
        """Columns and child lists: everything that has a name on the wire."""
        columns = (column.name for column in self.table.c if "normal_form" not in column.info)
        return (*columns, *self.children)

    def reported(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values in wire spelling, as events (``previous``) and the audit log show them.

        ``{"billing_city": "Ulm"}`` -> ``{"billingAddress": {"city": "Ulm"}}``, stamps left out.
        """
        report: dict[str, Any] = {}
        for attribute, value in values.items():
            if attribute in STAMPS or attribute in self.derived or attribute not in self.names:
                continue
            outer, _, inner = self.names[attribute].partition(".")
            if attribute in self.children:
                report[outer] = [self.children[attribute].reported_row(row) for row in value or ()]
            elif inner:
                report.setdefault(outer, {})[inner] = value
            else:
                report[outer] = value
        return report

    def wire(self, attribute: str) -> str:
        """The name of an attribute on the wire; of an unknown one too, for the message."""
        return self.names.get(attribute) or camel(attribute)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChildRules(RowRules):
    """Rows given inside the body of another and replaced as a whole (LineItems)."""

    parent: str  # column that refers to the record whose list it is

    def reported_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What a body could have given of a row, as ``reported``."""
        return {self.wire(name): row[name] for name in self.writable if row.get(name) is not None}


@dataclass(frozen=True, kw_only=True, eq=False)
class EntityRules(RowRules, Generic[E_co]):
    """The rules of one entity.

    ``title`` is how a message calls it (``article``) and ``resource`` that of the permissions
    (``kb``), where they are not those of its model and table (``kb article``, ``kb_articles``).
    ``assignment`` is the attribute whose change means that somebody else is to act.
    """

    model: type[E_co]
    title: str = ""
    resource: str = ""
    # (attribute with a type name, attribute with a key): a link to any of the ten entities
    polymorphic: tuple[str, str] | None = None
    assignment: str = "owner_id"
    writable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """What a body may set, unless it is given, is what the columns do not call computed."""
        object.__setattr__(self, "title", self.title or self.event.replace("_", " "))
        object.__setattr__(self, "resource", self.resource or self.model.__tablename__)
        if not self.writable:
            named = (column for column in self.table.c if column.name not in _NOT_NAMED)
            object.__setattr__(self, "writable", tuple(
                column.name for column in named if not column.info.keys() & _BY_SERVICE
            ))  # fmt: skip

    @property
    def name(self) -> str:
        """Of the entity type: ``KbArticle``."""
        return self.model.__name__

    @property
    def event(self) -> str:
        """The object of event names: ``kb_article``."""
        return snake(self.name)

    @property
    def all_writable(self) -> tuple[str, ...]:
        """Every attribute that a body may set, the common ones included."""
        return (*self.writable, *COMMON_WRITABLE)

    @cached_property
    def permissions(self) -> Mapping[str, str]:
        """Action -> permission."""
        return {
            action: f"{self.resource}:{action}"
            for action in ("create", "read", "update", "delete", "assign")
        }
