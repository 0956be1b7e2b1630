"""What the declarations of the entity types share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, case, literal

from app.container.actions import allowed_actions
from app.container.changes import RowChanges
from app.container.measures import aggregates_of
from app.extensions import Model
from app.models import searched
from app.models.columns import Record, is_money
from app.models.indexes import searchable_columns
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop, to_one
from app.odata.names import camel
from app.odata.sql.trigrams import Trigrams
from app.writing.transitions import MACHINES

ADDRESS = edm.ComplexType(
    name="Address",
    description="A postal address.",
    properties=by_name(
        edm.Property(
            name=name, type=edm.STRING, attribute=attribute, max_length=length, description=text
        )
        for name, attribute, length, text in (
            ("street", "street", 255, "Street and number."),
            ("city", "city", 100, "City."),
            ("state", "state", 100, "State or region."),
            ("postalCode", "postal_code", 20, "Postal code."),
            ("country", "country", 2, "Country (ISO 3166-1 alpha-2)."),
        )
    ),
)
CUSTOM_FIELDS = edm.ComplexType(
    name="CustomFields",
    description="Fields of your own, with any names.",
    properties={},
    is_open=True,
)
PRIORITY = edm.EnumType(
    "Priority",
    {"Low": 0, "Normal": 1, "High": 2, "Urgent": 3},
    description="Urgency, in rising order.",
)
ID = "Key, given by the service."
_OWNER = to_one("Owner", "User", "owner_id", description="User responsible for the record.")


# Who is responsible for a record.
_PERSONS = ("assignee_id", "manager_id", "owner_id")


def business_type(
    model: type[Record],
    properties: Iterable[str | edm.Property],
    navigation: Iterable[edm.NavigationProperty] = (),
    *,
    filled: Sequence[str] = (),
    alternate_keys: Sequence[tuple[str, ...]] = (),
    **facets: Any,
) -> edm.EntityType:
    """An entity type of ours: its key comes first, its searchable columns have their trigrams.

    One whose records have an owner also has what all of these share (contract section 9).

    Args:
        properties: a name is that of a column which says all that there is to say of it.
        filled: the columns for which the service finds a value where a new record has none.
    """
    name, table = model.__name__, Model.metadata.tables[model.__tablename__]
    own = [prop(table.c.id, computed=True, description=ID)]
    for each in properties:
        own.append(_own(name, table.c[each], filled) if isinstance(each, str) else each)
    if searchable_columns(table):
        facets["trigrams"] = trigrams_of(table.name)
    facets["aggregates"] = aggregates_of(name)
    if "owner_id" in table.c:  # one of the ten, not a row below one of them
        own += [*_common(table), allowed_actions(name, facets["resource"])]
        navigation = [*navigation, _OWNER]
        alternate_keys = (("external_id",), *alternate_keys)
        facets |= {"etag": "version", "changes": RowChanges(name, table, facets["resource"])}
    return entity_type(name, table, own, navigation, alternate_keys=alternate_keys, **facets)


def _own(entity: str, col: Any, filled: Sequence[str] = ()) -> edm.Property:
    """A property of what its column says.

    The urgency is an enumeration because its order matters (contract P5). A state or a responsible
    person is not touched by a PUT that leaves it out.
    """
    machine = MACHINES.get(entity)
    is_state = machine is not None and machine.attribute == col.name
    facets: dict[str, Any] = {"preserved": is_state or col.name in _PERSONS}
    if col.name in filled:
        facets |= {"filled": True, "required": False}
    if col.name == "priority":
        facets["type"] = PRIORITY
    if is_money(col) and "currency" in col.table.c and not col.name.startswith("base_"):
        facets["currency_property"] = "currency"
    return prop(col, **facets)


def trigrams_of(table: str) -> Trigrams:
    """The index behind ``contains`` and ``$search`` (docs/adr/0027)."""
    return Trigrams(
        searched.index_name(table),
        searched.COLUMN,
        searched.plain_part,
        searched.waiting_table(table),
    )


def servers(model: type[Record], *columns: str) -> Iterator[edm.Property]:
    """Properties that the service sets: in a body they are ignored."""
    table = Model.metadata.tables[model.__tablename__]
    return (prop(table.c[column], computed=True) for column in columns)


def address(prefix: str, description: str) -> edm.Property:
    """An address that lies in the columns ``<prefix>_street`` ... of the row."""
    return edm.Property(
        name=camel(f"{prefix}_address"),
        type=ADDRESS,
        attribute=f"{prefix}_address",
        columns={name: f"{prefix}_{part.attribute}" for name, part in ADDRESS.properties.items()},
        description=description,
    )


def _joined_names(columns: Any, rights: Any) -> ColumnElement[Any]:
    """Given and family name with a blank between; null when there is neither."""
    first, last = columns.first_name, columns.last_name
    return case((first.is_(None), last), (last.is_(None), first), else_=first + literal(" ") + last)


def expressed(
    attribute: str,
    type_: edm.PrimitiveType,
    expression: edm.Expression,
    description: str,
    *,
    nullable: bool = False,
) -> edm.Property:
    """A property that has no column: an expression over those of the row."""
    return edm.Property(
        name=camel(attribute), type=type_, attribute=attribute, expression=expression,
        nullable=nullable, computed=True, description=description,
    )  # fmt: skip


FULL_NAME = expressed(
    "full_name", edm.STRING, _joined_names, "Given and family name.", nullable=True
)


def _common(table: Table) -> Iterator[edm.Property]:
    labels = edm.CollectionType(edm.STRING)
    yield _own("", table.c.owner_id, ["owner_id"])
    yield prop(table.c.external_id)
    yield prop(table.c.tags, type=labels, default=[], max_length=50, required=False)
    yield prop(table.c.custom_fields, type=CUSTOM_FIELDS, default={}, required=False)
    for name in ("created_at", "updated_at", "created_by_id", "updated_by_id"):
        yield prop(table.c[name], computed=True)


def related(
    name: str, target: str, entity: str, *, kind: str, number: str, description: str
) -> edm.NavigationProperty:
    """Records that name this one by its type and id (tasks, documents)."""
    return edm.NavigationProperty(
        name=name,
        target=target,
        collection=True,
        join=lambda source, other: (other[kind] == entity) & (other[number] == source["id"]),
        foreign_key=number,
        besides={kind: entity},
        description=description,
    )


def tasks_about(entity: str) -> edm.NavigationProperty:
    """Tasks that are about a record of this type."""
    return related(
        "Tasks", "Task", entity, kind="related_type", number="related_id",
        description="Tasks about the record.",
    )  # fmt: skip


def documents_of(entity: str) -> edm.NavigationProperty:
    """Documents that belong to a record of this type."""
    return related(
        "Documents", "Document", entity, kind="entity_type", number="entity_id",
        description="Documents that belong to the record.",
    )  # fmt: skip
