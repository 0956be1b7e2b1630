"""From the file to drafts of the services: names become columns, values are checked.

Every problem is told with its set, its index and its field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.importing.sets import COMPUTED, NOT_READ, ImportSet, import_sets
from app.models.columns import Entity
from app.writing.bodies import by_attribute
from app.writing.change import Change, History
from app.writing.rules import ChildRules

# A file with more is wrong in one way many times; the count still tells.
MOST_LISTED = 200


@dataclass
class Problems:
    """The problems found so far, in the order of the file.

    Each names a value, ``Invoices[12].lineItems[0].taxRate``, and says why it cannot be taken.
    """

    listed: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, set_name: str, index: int, field_name: str, message: str) -> None:
        """Note a problem; past ``MOST_LISTED`` they are only counted."""
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            location = f"{set_name}[{index}]" if index >= 0 else set_name
            path = ".".join(filter(None, (location, field_name)))
            self.listed.append(f"{path}: {message}")

    def take(self, set_name: str, index: int, change: Change[Entity]) -> None:
        """Note the problems of a record, which has none of its own then."""
        for detail in change.problems:
            self.add(set_name, index, detail.field, detail.message)
        change.problems.clear()

    def stop(self) -> None:
        """Raise ImportProblemsError where there are problems."""
        if self.count:
            raise ImportProblemsError(self.listed, self.count)


class ImportProblemsError(Exception):
    """The file cannot be taken as it is; nothing of it was."""

    def __init__(self, problems: Iterable[str], count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        super().__init__("\n".join(self.problems))


Progress = Callable[[int], None]


@dataclass(slots=True)
class Entry:
    """One record of the file on its way into a table.

    ``compared`` are the computed values that the file claims, by column, ``claimed`` those of the
    rows of its lists; ``given_id`` is its id there.
    """

    target: ImportSet
    index: int
    change: Change[Entity]
    compared: dict[str, Any]
    given_id: int | None
    claimed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


Entries = dict[str, list[Entry]]


def read_entries(data: object, history: History, problems: Problems, progress: Progress) -> Entries:
    """Every record of the file, set by set in the order of ``import_sets``."""
    if not isinstance(data, Mapping):
        problems.add("the file", -1, "", "must be one object: entity set -> list of records")
        return {}
    for name in data:
        if name not in import_sets() and name != "Users":
            known = ", ".join(import_sets())
            problems.add(str(name), -1, "", f"is no entity set; there are {known}")
    entries: Entries = {}
    for name, target in import_sets().items():
        records = data.get(name, [])
        if not isinstance(records, list):
            problems.add(name, -1, "", "must be a list")
            continue
        entries[name] = [
            entry
            for index, record in enumerate(records)
            if (entry := _read(target, index, record, history, problems)) is not None
        ]
        progress(len(records))
    return entries


def _read(
    target: ImportSet, index: int, record: object, history: History, problems: Problems
) -> Entry | None:
    if not isinstance(record, Mapping):
        problems.add(target.name, index, "", "must be an object")
        return None
    rules = target.rules
    values, unknown = by_attribute(rules, _without_computed(record))
    compared = {name: values.pop(name) for name in target.compared if name in values}
    given_id = _read_id(target, index, record.get("id"), problems)
    claimed: dict[str, list[dict[str, Any]]] = {}
    for attribute, child in rules.children.items():
        if isinstance(values.get(attribute), list):
            rows = values[attribute] = list(values[attribute])
            for at, row in enumerate(rows):
                if isinstance(row, Mapping):
                    rows[at], wrong = by_attribute(child, _without_computed(row))
                    prefix = f"{rules.wire(attribute)}[{at}]."
                    unknown += [each._replace(field=prefix + each.field) for each in wrong]
            claimed[attribute] = [_computed_of(child, row) for row in rows]
    change = target.service.draft(values, history)
    change.problems += unknown
    problems.take(target.name, index, change)
    return Entry(target, index, change, compared, given_id, claimed)


def _computed_of(rules: ChildRules, row: object) -> dict[str, Any]:
    """What a row of a list claims of values that are computed."""
    unread = NOT_READ | {rules.parent, *rules.writable}
    named = row if isinstance(row, dict) else {}
    return {name: value for name, value in named.items() if name not in unread}


def _read_id(target: ImportSet, index: int, value: object, problems: Problems) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 < value < 2**63:
        problems.add(target.name, index, "id", "must be a whole number, 1 or more")
        return None
    return value


def _without_computed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what is computed as it is read, and without what OData adds."""
    return {
        name: value for name, value in record.items() if name not in COMPUTED and "@" not in name
    }
