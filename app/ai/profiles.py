"""What is worth saying of a record of each type, read from ``profiles.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from app.measures import MEASURES


@dataclass(frozen=True)
class Listing:
    """Related records; ``entity`` is None where they are parts, without addresses of their own."""

    navigation: str
    title: str
    line: str
    entity: str | None = None
    condition: str = ""
    order: str = "id desc"
    most: int = 5
    overdue: bool = False


@dataclass(frozen=True)
class Profile:
    """What is told of records of a type.

    ``synonyms``: what people say -> the property that they mean; names of properties are understood
    anyway. ``amounts``: the same behind "how much", where a word means something else otherwise.
    """

    facts: tuple[str, ...]
    listings: tuple[Listing, ...]
    related: tuple[Listing, ...]
    synonyms: Mapping[str, str]
    amounts: Mapping[str, str]


def _listing(*, measure: str = "", condition: str = "", **values: Any) -> Listing:
    """``measure``: the figure whose records are listed, in place of a condition."""
    return Listing(condition=MEASURES[measure].condition if measure else condition, **values)


def _profile(declared: Mapping[str, Any]) -> Profile:
    called = declared.get("called", {})
    return Profile(
        facts=tuple(declared["facts"]),
        listings=tuple(_LISTINGS[name] for name in declared["listings"]),
        related=tuple(_LISTINGS[name] for name in declared.get("related", ())),
        synonyms={word: name for name, words in called.items() for word in words},
        amounts=declared.get("amounts", {}),
    )


_DATA: dict[str, Any] = tomllib.loads(
    files(__package__).joinpath("profiles.toml").read_text(encoding="utf-8")
)
_LISTINGS = {name: _listing(**values) for name, values in _DATA["listings"].items()}
PROFILES = {entity: _profile(declared) for entity, declared in _DATA["types"].items()}
SILENT_ZEROS = frozenset(_DATA["silent_zeros"])
# Navigation property -> what people call who or what is behind it.
PEOPLE: Mapping[str, list[str]] = _DATA["people"]
RECORDS = {name: frozenset(words) for name, words in _DATA["records"].items()}
# The property that names a person of a record, where it is not ``displayName``.
NAMED_BY = {"Client": "name", "Contact": "fullName"}
