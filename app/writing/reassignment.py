"""Hanging everything that belongs to one record onto another: what a merge does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Table, update

from app.db import records
from app.extensions import Model
from app.models.columns import Entity
from app.writing.deletion import linked_records, referring, referring_records, services
from app.writing.rules import EntityRules


def move_references(rules: EntityRules[Entity], source: int, target: int) -> dict[str, int]:
    """Let every row that refers to the record ``source`` refer to ``target``.

    Rows of an entity change by its service, with audit and events; others silently.

    Returns: table -> number of rows.
    """
    moved: dict[str, set[int]] = defaultdict(set)
    seen = set()
    for service, owner, reference in referring(rules):
        seen.add((owner.table.name, reference.attribute))
        for record in referring_records(owner.model, reference.attribute, source):
            if owner is service.rules:
                service.apply(record.id, {reference.attribute: target})
            else:
                records.update(owner.table, record.id, {reference.attribute: target})
            moved[owner.table.name].add(record.id)
    for table, key in move_linked(rules, source, target):
        moved[table].add(key)
    counts = {str(table): len(keys) for table, keys in moved.items()}
    return {**counts, **_move_plain_rows(rules, seen, source, target)}


def move_linked(rules: EntityRules[Entity], source: int, target: int) -> list[tuple[str, int]]:
    """Move what is about the record by its type and key (tasks, documents).

    Returns: (table, key) of each.
    """
    moved = []
    for service in services.current.values():
        if service.rules.polymorphic is None:
            continue
        _, key_attribute = service.rules.polymorphic
        for record in linked_records(service.rules, rules.name, source):
            service.apply(record.id, {key_attribute: target})
            moved.append((str(service.rules.table.name), record.id))
    return moved


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
