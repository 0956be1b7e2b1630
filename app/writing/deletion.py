"""What happens to the rows that refer to a record when it is deleted (docs/adr/0032), or merged
into another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Select, Table, bindparam, select, update

from app.db import records
from app.errors import Detail, InUseError
from app.extensions import Extension, Model
from app.http.security import current_caller
from app.models.columns import Entity, Record
from app.models.document import ENTITY_TYPES
from app.permissions import allowed
from app.writing.reference_rules import DELETE, RULES, Rule
from app.writing.rules import ChildRules, E, EntityRules, Reference, RowRules

# Of the rows that keep a record so many are named, each by the first of these that it has.
_MOST_NAMED = 10
_NAMES = ("number", "name", "title", "subject")


class WritingService(Protocol):
    """What is asked of the service of whatever refers to a record (``pipeline.EntityService``)."""

    rules: EntityRules[Any]

    def create(self, values: Mapping[str, Any]) -> int: ...

    def update(self, key: int, changes: Mapping[str, Any]) -> None: ...

    def apply(self, key: int, values: Mapping[str, Any]) -> object: ...

    def remove(self, key: int, before: Any) -> None: ...


services: Extension[Mapping[str, WritingService]] = Extension("services")


class Dependent(NamedTuple):
    """A row that refers to a record: whose it is, by which attribute."""

    service: WritingService
    owner: RowRules
    attribute: str
    rule: Rule
    record: Record


def release(rules: EntityRules[Entity], key: int) -> None:
    """Deal with everything that refers to a record which is about to go.

    Raises: InUseError, rows need it, which are named as far as the caller may read them; nothing
        is changed then.
    """
    dependents = list(dependents_of(rules, key))
    if standing := [each for each in dependents if each.rule.stops(each.record)]:
        raise _in_use(rules, standing)
    for service, owner, attribute, rule, record in dependents:
        if owner is not service.rules:
            records.update(owner.table, record.id, {attribute: None})
        elif rule.does == DELETE:
            if records.read(owner.model, record.id) is not None:
                service.remove(record.id, record)
        elif service.rules.polymorphic and attribute == service.rules.polymorphic[1]:
            # It is about nothing then.
            service.apply(record.id, dict.fromkeys(service.rules.polymorphic))
        else:
            service.apply(record.id, {attribute: None})


class Consequences(NamedTuple):
    """What a deletion would do to other records: counts by the name of their entity, of those that
    keep the record by what the rule calls them."""

    deleted: Mapping[str, int]
    unlinked: Mapping[str, int]
    blocking: Mapping[str, int]


def consequences(rules: EntityRules[Entity], key: int) -> Consequences:
    """What ``release`` would do now; the rows stay locked until the transaction ends."""
    deleted: Counter[str] = Counter()
    unlinked: Counter[str] = Counter()
    blocking: Counter[str] = Counter()
    for dependent in dependents_of(rules, key):
        rule, name = dependent.rule, dependent.service.rules.name
        if rule.stops(dependent.record):
            blocking[rule.blockers] += 1
        elif rule.does == DELETE and dependent.owner is dependent.service.rules:
            deleted[name] += 1
        else:
            unlinked[name] += 1
    return Consequences(deleted, unlinked, blocking)


def lock_dependents(rules: EntityRules[Entity], key: int) -> None:
    """Lock every row that refers to a record, before the record itself is locked.

    A change of such a row goes on to the record in this order, as a payment does to its client: to
    lock the record first is a deadlock with it. SQLite has one writer at a time anyway.
    """
    if records.connection().dialect.name == "postgresql":
        for _ in dependents_of(rules, key):
            pass


def dependents_of(rules: EntityRules[Entity], key: int) -> Iterator[Dependent]:
    """Every row that refers to a record, also by its type and key, locked."""
    for service, owner, reference in referring(rules):
        statement = _rows_with(owner.model, key=reference.attribute)
        for record in records.read_all(statement, {"key": key}):
            yield Dependent(service, owner, reference.attribute, reference.rule, record)
    yield from linked_to(rules, key)


def linked_to(rules: EntityRules[Entity], key: int) -> Iterator[Dependent]:
    """Every row that is about a record by its type and key (tasks, documents), locked."""
    for service in services.current.values():
        if service.rules.polymorphic is None:
            continue
        _, attribute = service.rules.polymorphic
        rule = RULES[f"{service.rules.table.name}.{attribute}"]
        for record in linked_records(service.rules, rules.name, key):
            yield Dependent(service, service.rules, attribute, rule, record)


def _in_use(rules: EntityRules[Entity], standing: Sequence[Dependent]) -> InUseError:
    counts = Counter(each.rule.blockers for each in standing)
    kinds = " and ".join(f"{blockers} ({count})" for blockers, count in counts.items())
    details = list(islice(filter(None, map(_named, standing)), _MOST_NAMED))
    return InUseError(f"The {rules.title} cannot be deleted: {kinds} refer to it.", details)


def _named(dependent: Dependent) -> Detail | None:
    """A row that keeps the record, by its name; None for one that the caller may not read."""
    service, owner, attribute, _, referring = dependent
    record: Record | None = referring
    if isinstance(owner, ChildRules):
        record = records.read(service.rules.model, getattr(referring, owner.parent))
    if record is None or not allowed(current_caller(), service.rules.permissions["read"], record):
        return None
    name = next(filter(None, (getattr(record, name, None) for name in _NAMES)), record.id)
    return Detail(
        f"{service.rules.name}({record.id})", f"{name} refers to it by {owner.wire(attribute)}"
    )


def referring(rules: EntityRules[Entity]) -> Iterator[tuple[WritingService, RowRules, Reference]]:
    """Every reference of an entity, or of rows inside one, to the table of ``rules``."""
    for service in services.current.values():
        for owner in (service.rules, *service.rules.children.values()):
            for reference in owner.references.values():
                is_parent = reference.attribute == getattr(owner, "parent", None)
                if reference.target == rules.table.name and not is_parent:
                    yield service, owner, reference


def linked_records(rules: EntityRules[E], name: str, key: int) -> list[E]:
    """The records of an entity about the one ``key`` of the entity type ``name``, locked."""
    if rules.polymorphic is None or name not in ENTITY_TYPES:
        return []
    kind, number = rules.polymorphic
    statement = _rows_with(rules.model, type=kind, key=number)
    return records.read_all(statement, {"type": name, "key": key})


@lru_cache(maxsize=256)
def _rows_with(model: type[Record], **names: str) -> Select[Any]:
    """The rows whose attributes have the values of the parameters of these names, locked."""
    equal = (getattr(model, attribute) == bindparam(name) for name, attribute in names.items())
    return select(model).where(*equal).order_by(model.id).with_for_update(key_share=True)


# --- merges


def move_references(rules: EntityRules[Entity], source: int, target: int) -> dict[str, int]:
    """Let every row that refers to the record ``source`` refer to ``target``.

    Rows of an entity change by its service, with audit and events; others silently.

    Returns: table -> number of rows.
    """
    moved: dict[str, set[int]] = defaultdict(set)
    for service, owner, attribute, _, record in dependents_of(rules, source):
        if owner is service.rules:
            service.apply(record.id, {attribute: target})
        else:
            records.update(owner.table, record.id, {attribute: target})
        moved[owner.table.name].add(record.id)
    counts = {str(table): len(keys) for table, keys in moved.items()}
    seen = {(owner.table.name, each.attribute) for _, owner, each in referring(rules)}
    return {**counts, **_move_plain_rows(rules, seen, source, target)}


def _move_plain_rows(
    rules: EntityRules[Entity], seen: set[tuple[str, str]], source: int, target: int
) -> Mapping[str, int]:
    """Move the rows of tables that have no service of their own, such as payments."""
    counts: dict[str, int] = {}
    for table in Model.metadata.sorted_tables:
        for column in _columns_to(table, rules.table):
            if (table.name, column) in seen or table is rules.table:
                continue
            statement = update(table).where(table.c[column] == source).values({column: target})
            if changed := records.connection().execute(statement).rowcount:
                counts[str(table.name)] = counts.get(table.name, 0) + changed
    return counts


def _columns_to(table: Table, target: Table) -> list[str]:
    """The columns of ``table`` that refer to ``target``."""
    return [
        column.name
        for column in table.columns
        if any(key.column.table is target for key in column.foreign_keys)
    ]
