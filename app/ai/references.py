"""The record that a message names: by its number, ``T-000123``, or by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.ai.context import data_sets, name_of
from app.ai.lexicon import (
    RECORD_NUMBER,
    Message,
    Numbered,
    is_shown,
    language_of,
    message_of,
    spoken,
)
from app.ai.parts import RecordContext
from app.container import engine
from app.container.model import container, title_of
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
# "revenue of the client 2026" means a year.
_YEARS = range(1900, 2101)
_MOST = 5
_FORMAL = re.compile(r"(?<![\w-])(?:[CTP]-\d{6}|[A-Z]{1,10}-\d{4}-\d{5})(?![\w-])", re.I)


class Mention(NamedTuple):
    """What a message names: the records that the caller may read, one or several of one name.

    ``called`` is the number that it names one by, in its words; ``about_it`` the message with a
    word for the record in place of that.
    """

    records: list[RecordContext]
    called: str = ""
    about_it: str = ""


def find_mentioned(text: str, name: str) -> Mention:
    """The records that a message names, by a number before a name.

    Args:
        name: what a request calls its record; empty where it calls it nothing.
    """
    if len(text) > _LONGEST:
        return Mention([])
    numbers = {match["number"].upper(): match for match in RECORD_NUMBER.finditer(text)}
    message, numbered = _numbered(text)
    about_it = "" if numbered is None else _about_it(message, numbered)
    if len(numbers) == 1:
        ((number, match),) = numbers.items()
        called = number if _FORMAL.fullmatch(number) else ""
        return Mention(_by_number(match)[:1], called, about_it)
    if numbers:
        return Mention([])
    if numbered is None or numbered.key is None:
        return Mention(_by_name(name) if name else [])
    called = message.written(numbered.start, numbered.end).rstrip(" .,:;!?")
    return Mention(_by_kind(numbered.entity, numbered.key), called, about_it)


def _numbered(text: str) -> tuple[Message, Numbered | None]:
    """The one record that is named by its kind and a number; a year after a kind is none."""
    likeliest = language_of(text)
    codes = sorted(spoken(), key=lambda each: each != likeliest)
    messages = [message_of(text, code) for code in codes]
    for message in messages:
        if len({each[3:] for each in message.numbered}) == 1:
            (numbered, *_) = message.numbered
            if numbered.key not in _YEARS or is_shown(text):
                return message, numbered
    return max(messages, key=lambda each: len(each.numbered)), None


def _about_it(message: Message, numbered: Numbered) -> str:
    """``this client`` in place of ``client 501``, as questions read it beside a record."""
    this = message.lexicon.list_of("records.this")
    kind = message.written(numbered.start, numbered.kind_end)
    before = message.written(0, numbered.start) if numbered.start else ""
    return " ".join(f"{before} {this} {kind} {message.written(numbered.end)}".split())


def _by_kind(entity: str, key: int) -> list[RecordContext]:
    """The records of a type with these digits in their number, or with this key."""
    name = next(each.name for each in data_sets().values() if each.type.name == entity)
    conditions = [f"id eq {key}"]
    if name == _INVOICES[0]:
        conditions.append(f"endswith(number,{quoted(f'-{key:05}')})")
    for prefix, (entity_set, by) in _NUMBERED.items():
        if entity_set == name:
            conditions.append(f"{by} eq {quoted(f'{prefix}-{key:06}')}")
    return _read(name, " or ".join(conditions))


def without_numbers(text: str) -> str:
    """A how-to question without the record that it is asked for, which no article is about."""
    return " ".join(_FORMAL.sub(" ", text).split()) or text


def find_numbered(text: str) -> list[RecordContext]:
    """The records whose numbers a message has, or their kinds with a number, in their order."""
    if numbers := list(RECORD_NUMBER.finditer(text)):
        return [each for match in numbers for each in _by_number(match)[:1]]
    message, _ = _numbered(text)
    return [record for each in message.numbered if each.key is not None
            for record in _by_kind(each.entity, each.key)[:1]]  # fmt: skip


def _by_number(match: re.Match[str]) -> list[RecordContext]:
    entity_set, by = _NUMBERED.get(match["prefix"].upper(), _INVOICES)
    return _read(entity_set, f"{by} eq {quoted(match['number'].upper())}")


def find_named(name: str, entity_set: str) -> RecordContext | None:
    """The one record of a set with this name, or this in its name; None for none, or several."""
    by = title_of(container().sets[entity_set].type.name)
    literal = quoted(name.lower())
    for condition in (f"tolower({by}) eq {literal}", f"contains(tolower({by}),{literal})"):
        if contexts := _read(entity_set, condition):
            return contexts[0] if len(contexts) == 1 else None
    return None


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
    entity = container().sets[name].type.name
    select = f"id,{title_of(entity)}"
    try:
        rows: list[dict[str, Any]] = engine.read_many(
            name, filter=condition, select=select, orderby="id", top=_MOST
        )
    except ForbiddenError:
        return []  # what the caller may not read is not known of
    return [RecordContext(name, entity, name, row["id"], name_of(entity, row)) for row in rows]
