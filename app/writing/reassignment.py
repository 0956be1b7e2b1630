"""Hanging everything that belongs to one record onto another: what a merge does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Table, update

from app.db import records
from app.extensions import Model
from app.models.columns import Entity
from app.writing.deletion import dependents_of, referring
from app.writing.rules import EntityRules


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
