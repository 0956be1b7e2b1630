"""The record that a message names: by its number, ``T-000123``, or by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.ai.context import TITLES, data_sets
from app.ai.parts import Context
from app.container import engine
from app.errors import ForbiddenError, InsufficientScopeError
from app.odata.syntax.literal_text import quoted

_KINDS = (
    r"(?:(?:the |our )?(?:invoice|credit note|ticket|client|customer|company|account|project|lead"
    r"|contact|deal|opportunity)\s+)?"
)
_NUMBER = re.compile(
    rf"{_KINDS}(?<![\w-])(?P<number>(?P<prefix>[A-Za-z]{{1,10}})-(?:\d{{4}}-)?\d{{3,12}})(?![\w-])",
    re.IGNORECASE,
)
# The first letters of numbers that are no invoice's -> the set, and the property of the number.
_NUMBERED: Mapping[str, tuple[str, str]] = {
    "C": ("Clients", "number"), "T": ("Tickets", "number"), "P": ("Projects", "code"),
}  # fmt: skip
_INVOICES = ("Invoices", "number")
_ABOUT = re.compile(
    r"^\W*(?:(?:please|can you|could you)\s+)*(?:tell me (?:more )?about|describe|brief me on"
    r"|(?:give me |show me )?(?:a |an |the )?(?:(?:quick|short|brief) )?"
    r"(?:summary|overview|recap)(?: of| for| on| about)"
    r"|summari[sz]e|what do we know about|who is"
    r"|erz(?:\u00e4|ae)hle? mir (?:etwas |mehr )?(?:von|\u00fcber|zu)"
    r"|was wissen wir (?:von|\u00fcber)"
    r"|(?:gib mir )?(?:eine )?(?:kurze )?zusammenfassung (?:von|zu|\u00fcber))\s+"
    rf"{_KINDS}(?P<name>\S.{{1,199}}?)[?!\s]*$",
    re.IGNORECASE,
)
# Sets whose records people call by name, in the order of looking.
_NAMED = (
    ("Clients", "name"), ("Contacts", "fullName"), ("Leads", "fullName"), ("Leads", "company"),
    ("Projects", "name"), ("Opportunities", "name"),
)  # fmt: skip
_NO_NAME = re.compile(
    r"(?:th(?:is|at|em|ese|ose)|it|him|her|my|your|our|we|you|all|each|every|any)\b"
    r"|(?:the )?(?:client|customer|company|account|ticket|invoice|lead|contact|deal|opportunity"
    r"|project|task|record|owner|assignee)$",
    re.IGNORECASE,
)
# A text that somebody wrote elsewhere names records by the way.
_LONGEST = 300
_SHORTEST_PART = 4
_MOST = 5
_FORMAL = re.compile(r"(?<![\w-])(?:[CTP]-\d{6}|[A-Z]{1,10}-\d{4}-\d{5})(?![\w-])", re.I)


@dataclass(frozen=True)
class Mentioned:
    """A record, and the message with ``it`` where the record was named.

    ``by_name`` is the message with the record's name there: a question about figures knows clients
    by their names.
    """

    context: Context
    text: str
    by_name: str


def find_mentioned(text: str) -> tuple[Mentioned | None, list[Context]]:
    """The one record that a message names and the caller may read, or several of one name."""
    if len(text) > _LONGEST:
        return None, []
    numbers = {match["number"].upper(): match for match in _NUMBER.finditer(text)}
    if len(numbers) == 1:
        ((number, match),) = numbers.items()
        name, by = _NUMBERED.get(match["prefix"].upper(), _INVOICES)
        contexts = _read(name, f"{by} eq {quoted(number)}")
        if len(contexts) != 1:
            return None, []
        named = _NUMBER.sub(lambda _: contexts[0].title or number, text)
        return Mentioned(contexts[0], _NUMBER.sub("it", text), named), []
    contexts = _asked_about(text)
    if len(contexts) != 1:
        return None, contexts
    return Mentioned(contexts[0], "Tell me about it", text), []


def _asked_about(text: str) -> list[Context]:
    about = _ABOUT.match(text)
    if about is None or _NUMBER.search(text) or _NO_NAME.match(about["name"]):
        return []
    return _by_name(about["name"].strip().strip("\"'\N{LEFT DOUBLE QUOTATION MARK}"))


def without_numbers(text: str) -> str:
    """A how-to question without the record that it is asked for, which no article is about."""
    return " ".join(_FORMAL.sub(" ", text).split()) or text


def _by_name(name: str) -> list[Context]:
    """The records of this name, in any case; else the client whose name has these words."""
    literal = quoted(name.lower())
    for place, by in _NAMED:
        contexts = _read(place, f"tolower({by}) eq {literal}")
        if contexts:
            return contexts
    if len(name) < _SHORTEST_PART:
        return []
    contexts = _read("Clients", f"contains(tolower(name),{literal})")
    return contexts if len(contexts) == 1 else []


def _read(name: str, condition: str) -> list[Context]:
    entity = data_sets()[name.lower()].type.name
    title = TITLES.get(entity, "name")
    try:
        rows: list[dict[str, Any]] = engine.read_many(
            name, filter=condition, select=f"id,{title}", orderby="id", top=_MOST
        )
    except (ForbiddenError, InsufficientScopeError):
        return []  # what the caller may not read is not known of
    return [
        Context(name, entity, name, row["id"], row[title] or f"{entity} {row['id']}")
        for row in rows
    ]
