"""What a name in a question stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """A name of the data: ``kind`` is client, user, project, country, or a text property.

    ``key`` is the id of a record, or the text itself.
    """

    kind: str
    name: str
    key: str
    exact: bool = True  # or what is said is only like it


@dataclass(frozen=True)
class Match:
    """Values that a run of words may mean, all equally well."""

    length: int
    values: tuple[Value, ...]
