"""The record that a message names: by its number, ``T-000123``, or by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.ai.context import data_sets, name_of
from app.ai.lexicon import RECORD_NUMBER
from app.ai.parts import RecordContext
from app.container import engine
from app.container.model import title_of
from app.errors import ForbiddenError
from app.odata.syntax.literals import quoted

# The first letters of numbers that are no invoice's -> the set, and the property of the number.
_NUMBERED: Mapping[str, tuple[str, str]] = {
    "C": ("Clients", "number"), "T": ("Tickets", "number"), "P": ("Projects", "code"),
}  # fmt: skip
_INVOICES = ("Invoices", "number")
# Sets whose records people call by name, in the order of looking.
_NAMED = (
    ("Clients", "name"), ("Contacts", "fullName"), ("Leads", "fullName"), ("Leads", "company"),
    ("Projects", "name"), ("Opportunities", "name"),
)  # fmt: skip
# A text that somebody wrote elsewhere names records by the way.
_LONGEST = 300
_SHORTEST_PART = 4
_MOST = 5
_FORMAL = re.compile(r"(?<![\w-])(?:[CTP]-\d{6}|[A-Z]{1,10}-\d{4}-\d{5})(?![\w-])", re.I)


def find_mentioned(text: str, name: str) -> list[RecordContext]:
    """The records that a message names and the caller may read: one, or several of one name.

    Args:
        name: what a request calls its record; empty where it calls it nothing.
    """
    if len(text) > _LONGEST:
        return []
    numbers = {match["number"].upper(): match["prefix"] for match in RECORD_NUMBER.finditer(text)}
    if len(numbers) == 1:
        ((number, prefix),) = numbers.items()
        entity_set, by = _NUMBERED.get(prefix.upper(), _INVOICES)
        return _read(entity_set, f"{by} eq {quoted(number)}")[:1]
    return _by_name(name) if name and not numbers else []


def without_numbers(text: str) -> str:
    """A how-to question without the record that it is asked for, which no article is about."""
    return " ".join(_FORMAL.sub(" ", text).split()) or text


def _by_name(name: str) -> list[RecordContext]:
    """The records of this name, in any case; else the client whose name has these words."""
    literal = quoted(name.lower())
    for entity_set, by in _NAMED:
        contexts = _read(entity_set, f"tolower({by}) eq {literal}")
        if contexts:
            return contexts
    if len(name) < _SHORTEST_PART:
        return []
    contexts = _read("Clients", f"contains(tolower(name),{literal})")
    return contexts if len(contexts) == 1 else []


def _read(name: str, condition: str) -> list[RecordContext]:
    entity = data_sets()[name.lower()].type.name
    select = f"id,{title_of(entity)}"
    try:
        rows: list[dict[str, Any]] = engine.read_many(
            name, filter=condition, select=select, orderby="id", top=_MOST
        )
    except ForbiddenError:
        return []  # what the caller may not read is not known of
    return [RecordContext(name, entity, name, row["id"], name_of(entity, row)) for row in rows]
