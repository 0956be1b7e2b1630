"""What is wrong with a file: every problem with its set, index and field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.models.columns import Entity
from app.writing.change import Change

# A file with more is wrong in one way many times; the count still tells.
MOST_LISTED = 200


@dataclass(frozen=True)
class Problem:
    """``Invoices[12].lineItems[0].taxRate``: one value, and why it cannot be taken."""

    set: str
    index: int
    field: str
    message: str

    def __str__(self) -> str:
        location = f"{self.set}[{self.index}]" if self.index >= 0 else self.set
        return f"{location}{'.' if self.field else ''}{self.field}: {self.message}"


@dataclass
class Problems:
    """The problems found so far, in the order of the file."""

    listed: list[Problem] = field(default_factory=list)
    count: int = 0

    def add(self, set_name: str, index: int, field_name: str, message: str) -> None:
        """Note a problem; past ``MOST_LISTED`` they are only counted."""
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(Problem(set_name, index, field_name, message))

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

    def __init__(self, problems: Iterable[Problem], count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        super().__init__("\n".join(map(str, self.problems)))
