"""What the declarations of the entity types share, and where changes are read from: the rows
themselves, and the audit log for what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, case, literal, select

from app.container.actions import allowed_actions
from app.container.measures import aggregates_of
from app.extensions import Model
from app.models import searched
from app.models.columns import Record, is_money
from app.models.event import AuditRecord
from app.models.indexes import searchable_columns
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop, to_one
from app.odata.names import camel
from app.odata.sql.trigrams import Trigrams
from app.permissions import ALL, OWNING_COLUMNS, allowed, scope_of
from app.writing.transitions import MACHINES

# --- changes


# Parameters of one statement.
_AT_ONCE = 500


class RowChanges:
    """Changes of a table whose rows say when they were changed, and have a version."""

    def __init__(self, entity: str, table: Table, resource: str) -> None:
        self._entity = entity
        self._table = table
        self._permission = f"{resource}:read"
        # What decides who may read a row, by its name in the audit log.
        self._deciding = {
            camel(name): name for name in (*OWNING_COLUMNS, "status") if name in table.c
        }

    def changed(self, since: datetime) -> Select[Any]:
        """Key, version and instant of the rows changed after ``since``."""
        columns = self._table.c
        return select(columns.id, columns.version, columns.updated_at).where(
            columns.updated_at > since
        )

    def removed(self, since: datetime) -> Select[Any]:
        """Keys of the rows deleted after ``since``."""
        return select(AuditRecord.entity_id).where(
            AuditRecord.created_at > since,
            AuditRecord.entity == self._entity,
            AuditRecord.action.like("%.deleted"),
        )

    def broken(self, since: datetime) -> Select[Any]:
        """What came after ``since`` with times of before: a restore, and imports.

        Those of a request take no longer than others, and have the times of now.
        """
        return select(AuditRecord.id).where(
            AuditRecord.created_at > since,
            AuditRecord.action.in_(("import.completed", "backup.restored")),
            AuditRecord.via.not_in(("jwt", "apiKey")),
        )

    def known(
        self, connection: Connection, caller: Any, keys: Collection[Any], since: datetime
    ) -> Collection[Any]:
        """Those of ``keys`` that the caller could read at some time after ``since``, or can now."""
        if scope_of(caller, self._permission) == ALL:
            return keys
        return {
            key
            for portion in _portions(list(keys))
            for key, states in self._states(connection, portion, since).items()
            if any(allowed(caller, self._permission, state) for state in states)
        }

    def _states(
        self, connection: Connection, keys: Sequence[int], since: datetime
    ) -> Mapping[int, list[Mapping[str, Any]]]:
        """What decided who could read each row: as it is, and before each change since then."""
        columns = self._table.c
        deciding = [columns[name] for name in self._deciding.values()]
        nothing = dict.fromkeys(self._deciding.values())
        rows = connection.execute(select(columns.id, *deciding).where(columns.id.in_(keys)))
        states: dict[int, list[Mapping[str, Any]]] = {key: [nothing] for key in keys}
        states |= {row.id: [row._mapping] for row in rows}
        records_before = select(AuditRecord.entity_id, AuditRecord.before).where(
            AuditRecord.created_at > since,
            AuditRecord.entity == self._entity,
            AuditRecord.entity_id.in_(keys),
            AuditRecord.before.is_not(None),
        )
        for key, before in connection.execute(records_before.order_by(AuditRecord.id.desc())):
            was = {self._deciding[name]: before[name] for name in self._deciding if name in before}
            states[key].append({**states[key][-1], **was})
        return states


def _portions(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE]


# --- types

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


def business_type(
    model: type[Record],
    properties: Iterable[str | edm.Property],
    navigation: Iterable[edm.NavigationProperty | Callable[[Table], edm.NavigationProperty]] = (),
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
        navigation = [*navigation, refers("owner_id")]
        alternate_keys = (("external_id",), *alternate_keys)
        facets |= {"etag": "version", "changes": RowChanges(name, table, facets["resource"])}
    links = (each(table) if callable(each) else each for each in navigation)
    return entity_type(name, table, own, links, alternate_keys=alternate_keys, **facets)


def _own(entity: str, col: Any, filled: Sequence[str] = ()) -> edm.Property:
    """A property of what its column says.

    The urgency is an enumeration because its order matters (contract P5). A state or a responsible
    person is not touched by a PUT that leaves it out.
    """
    machine = MACHINES.get(entity)
    is_state = machine is not None and machine.attribute == col.name
    facets: dict[str, Any] = {"preserved": is_state or col.name in OWNING_COLUMNS}
    if col.name in filled:
        facets |= {"filled": True, "required": False}
    if col.name == "priority":
        facets["type"] = PRIORITY
    if is_money(col) and "currency" in col.table.c and not col.name.startswith("base_"):
        facets["currency_property"] = "currency"
    return prop(col, **facets)


def refers(column: str, **facets: Any) -> Callable[[Table], edm.NavigationProperty]:
    """The navigation property of a foreign key, ``Client`` of ``client_id``: as its column says."""

    def navigation(table: Table) -> edm.NavigationProperty:
        col = table.c[column]
        (key,) = col.foreign_keys
        return to_one(
            "".join(word.capitalize() for word in column.removesuffix("_id").split("_")),
            _entities()[key.column.table.name],
            column,
            nullable=bool(col.nullable),
            description=col.doc or "",
            **facets,
        )

    return navigation


@cache
def _entities() -> Mapping[str, str]:
    """Table -> the entity type of its rows."""
    return {each.class_.__tablename__: each.class_.__name__ for each in Model.registry.mappers}


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
