"""Where changes are read from: the rows themselves, and the audit log for what they were."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, select

from app.models.event import AuditRecord
from app.odata.names import camel
from app.permissions import ALL, OWNING_COLUMNS, allowed, scope_of

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
