"""One write on its way through the pipeline: what was, what is to be, what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, Generic

from app.clock import utc_now
from app.db import records
from app.db.transactions import advisory_lock
from app.db.types import json_text
from app.errors import ApiError, Detail
from app.http.security import Caller
from app.models.columns import Entity
from app.settings import Organisation, organisation
from app.writing.rules import E, E_co, EntityRules

# A longer chain of records that follow one another is a mistake, and every step of it is a query.
DEEPEST = 50


@dataclass(slots=True, kw_only=True)
class History:
    """Records that come together from another system, with what they were (docs/adr/0042).

    What such a record says of its own past stands: instants, state, number. ``rules`` are by
    entity type and know these attributes, too; ``changes`` by table and key.
    """

    rules: Mapping[str, EntityRules[Any]]
    settings: Organisation
    changes: dict[str, dict[int, Change[Any]]] = field(default_factory=dict)

    def of(self, model: type[E]) -> Mapping[int, Change[E]]:
        """The records of a class, by key."""
        return self.changes.get(model.__tablename__, {})


@dataclass(slots=True, kw_only=True)
class Change(Generic[E_co]):
    """A record being made (``before`` is None), changed or deleted.

    ``values`` are the attributes to write; hooks add to them. ``named`` names what the caller
    gave and that differs from what is: a derived value must not override it.
    """

    rules: EntityRules[E_co]
    caller: Caller
    now: datetime
    key: int = 0
    before: E_co | None = None
    # The rows of child lists as they were, by attribute, where they were looked at.
    lists_before: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
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

    def related(self, model: type[E], key: int | None) -> E | None:
        """What the record refers to: as it is or, of the same history, as it will be."""
        if key is not None and self.history is not None and key in self.history.of(model):
            return self.history.of(model)[key].after()
        return records.read(model, key)

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
            return getattr(self.before, attribute)
        return self.rules.defaults.get(attribute)

    def was(self, attribute: str) -> Any:
        """The value that the record had; None for a new one."""
        if attribute in self.rules.children:
            return self.lists_before.get(attribute)
        return None if self.before is None else getattr(self.before, attribute)

    def after(self) -> E_co:
        """The record as it will be; no row of the database."""
        values = {column.name: self.get(column.name) for column in self.rules.table.c}
        values.update(id=self.key, created_at=values["created_at"] or self.now)
        if self.before is not None:
            values["version"] = self.before.version + 1
        return self.rules.model(**values)

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

    def refuse_ring(self, attribute: str, message: str) -> None:
        """Refuse the record that ``attribute`` names where its chain comes back to this one."""
        following = self.get(attribute)
        if following is None or not self.concerns(attribute):
            return
        if not self.is_new:
            # Two records, each made to follow the other at the same time, do not see it otherwise.
            advisory_lock(f"{self.rules.name} {attribute}")
        for _ in range(DEEPEST + 1):
            if following is None:
                return
            if following == self.key:
                break
            following = getattr(self.related(self.rules.model, following), attribute, None)
        self.refuse(attribute, message)

    def take_refusal(self, error: ApiError) -> None:
        """Note what a refusal says is wrong with the record, to be told with everything else."""
        self.problems.extend(error.details or [Detail("", error.message)])

    def default(self, attribute: str, value: Any) -> None:
        """Fill an attribute that a new record was not given."""
        if attribute not in self.values:
            self.values[attribute] = value

    def drop_unchanged(self) -> None:
        """Forget the values that the record has already."""
        if self.before is None:
            return
        for name in [name for name in self.values if name not in self.rules.children]:
            was, value = getattr(self.before, name), self.values[name]
            if name in self.rules.json_columns:
                was, value = json_text(was), json_text(value)
            if was == value:
                del self.values[name]


def date_past(change: Change[Entity]) -> None:
    """Fill the instants that the record leaves out; ``change.now`` is its last change."""
    values = change.values
    created = values.get("created_at") or change.now
    change.stamp(created_at=created)
    change.stamp(updated_at=max(_instants(change), default=created))
    change.now = values["updated_at"]
    for attribute in change.rules.children:
        for row in values.setdefault(attribute, []):
            day = row.get("at") or row.get("paid_on") or created
            row["created_at"] = row.get("created_at") or _instant(day)


def _instants(change: Change[Entity]) -> Iterator[datetime]:
    """What the record says of when something happened to it."""
    now = utc_now()
    for name, value in change.values.items():
        is_past = isinstance(value, datetime) and (value <= now or name == "created_at")
        if is_past and name.endswith("_at") and "due" not in name:
            yield value


def _instant(value: date) -> datetime:
    """An instant as it is; noon of a day."""
    return value if isinstance(value, datetime) else datetime.combine(value, time(12), UTC)
