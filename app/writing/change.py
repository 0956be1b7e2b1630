"""One write on its way through the pipeline: what was, what is to be, what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import FromClause, Table

from app.db import records
from app.db.types import json_text
from app.errors import ApiError, Detail
from app.http.security import Caller
from app.settings import Organisation, organisation
from app.writing.rules import EntityRules


@dataclass(slots=True, kw_only=True)
class History:
    """Records that come together from another system, with what they were (docs/adr/0042).

    What such a record says of its own past stands: instants, state, number. ``rules`` are by
    entity type and know these attributes, too; ``changes`` by table and key.
    """

    rules: Mapping[str, EntityRules]
    settings: Organisation
    changes: dict[str, dict[int, Change]] = field(default_factory=dict)

    def of(self, table: FromClause) -> Mapping[int, Change]:
        """The records of a table, by key."""
        return self.changes.get(table.name, {}) if isinstance(table, Table) else {}


@dataclass(slots=True, kw_only=True)
class Change:
    """A record being made (``before`` is None), changed or deleted.

    ``values`` are the attributes to write; hooks add to them. ``given`` names what the caller
    gave and that differs from what is: a derived value must not override it.
    """

    rules: EntityRules
    caller: Caller
    now: datetime
    key: int = 0
    before: Mapping[str, Any] | None = None
    values: dict[str, Any] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    problems: list[Detail] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    history: History | None = None
    # What the hooks of one area hand on to each other.
    work: dict[str, Any] = field(default_factory=dict)

    @property
    def is_new(self) -> bool:
        """Whether the record is being made."""
        return self.before is None

    @property
    def user_id(self) -> int | None:
        """The caller as a foreign key: jobs and commands are no user."""
        return self.caller.user_id or None

    @property
    def settings(self) -> Organisation:
        """The settings of the organisation; read once for all records of a history."""
        return self.history.settings if self.history else organisation(about_to_write=True)

    def related(
        self, table: FromClause, key: int | None, columns: tuple[str, ...] | None = None
    ) -> Mapping[str, Any] | None:
        """A row that the record refers to: as it is or, of the same history, as it will be."""
        if key is None:
            return None
        if self.history is not None and key in (others := self.history.of(table)):
            other = others[key]
            return {**other.rules.defaults, **other.values, "id": key}
        return records.read(table, key, columns)

    def stamp(self, **values: Any) -> None:
        """Write what a step brings along; a record of a history says it itself, if it likes."""
        for name, value in values.items():
            if self.history is None or self.values.get(name) is None:
                self.values[name] = value

    def get(self, attribute: str) -> Any:
        """The value that the record will have."""
        if attribute in self.values:
            return self.values[attribute]
        if self.before is not None:
            return self.before[attribute]
        return self.rules.defaults.get(attribute)

    def was(self, attribute: str) -> Any:
        """The value that the record had; None for a new one."""
        return None if self.before is None else self.before[attribute]

    def changes(self, *attributes: str) -> bool:
        """Whether one of the attributes gets another value; true for every one of a new record."""
        if self.before is None:
            return True
        return any(name in self.values for name in attributes)

    def concerns(self, *attributes: str) -> bool:
        """Whether a rule over these attributes is to be checked now.

        Not when none of them changes, and not when one of them was refused already.
        """
        return self.changes(*attributes) and not self.is_refused(*attributes)

    def is_refused(self, *attributes: str) -> bool:
        """Whether there is a problem with one of the attributes: what it is to be is not known."""
        if not self.problems:
            return False
        refused = {problem.field for problem in self.problems}
        return any(self.rules.wire(name) in refused for name in attributes)

    def refuse(self, attribute: str, message: str) -> None:
        """Note a problem with an attribute."""
        self.problems.append(Detail(self.rules.wire(attribute), message))

    def refuse_field(self, field_name: str, message: str) -> None:
        """Note a problem with a field of the wire, such as ``lineItems[2].taskId``."""
        self.problems.append(Detail(field_name, message))

    def take_refusal(self, error: ApiError) -> None:
        """Note what a refusal says is wrong with the record, to be told with everything else."""
        self.problems.extend(error.details or [Detail("", error.message)])

    def default(self, attribute: str, value: Any) -> None:
        """Fill an attribute that a new record was not given."""
        if attribute not in self.values:
            self.values[attribute] = value

    def drop_unchanged(self) -> None:
        """Forget the values that the record has already."""
        before = self.before
        if before is None:
            return
        comparable = self.rules.json_columns
        same = [
            name
            for name, value in self.values.items()
            if name in before
            and (
                json_text(before[name]) == json_text(value)
                if name in comparable
                else before[name] == value
            )
        ]
        for name in same:
            del self.values[name]
