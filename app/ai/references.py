"""The record that a message names: by its number, ``T-000123``, or by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.ai.context import TITLES, data_sets, title_of
from app.ai.lexicon import RECORD_NUMBER, Lexicon, Message, language_of, lexicon_of
from app.ai.parts import RecordContext
from app.container import engine
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


@dataclass(frozen=True)
class Mentioned:
    """A record, and the message with ``it`` where the record was named.

    ``by_name`` is the message with the record's name there: a question about figures knows clients
    by their names.
    """

    context: RecordContext
    text: str
    by_name: str


def find_mentioned(text: str, name: str) -> tuple[Mentioned | None, list[RecordContext]]:
    """The one record that a message names and the caller may read, or several of one name.

    Args:
        name: what a request calls its record; empty where it calls it nothing.
    """
    if len(text) > _LONGEST:
        return None, []
    numbers = {match["number"].upper(): match for match in RECORD_NUMBER.finditer(text)}
    if len(numbers) == 1:
        ((number, match),) = numbers.items()
        entity_set, by = _NUMBERED.get(match["prefix"].upper(), _INVOICES)
        contexts = _read(entity_set, f"{by} eq {quoted(number)}")
        if len(contexts) != 1:
            return None, []
        lexicon = lexicon_of(language_of(text))
        it = lexicon.list_of("language.things")[0]
        by_name = _replaced(text, lexicon, contexts[0].title)
        return Mentioned(contexts[0], _replaced(text, lexicon, it), by_name), []
    contexts = _by_name(name) if name and not numbers else []
    return (Mentioned(contexts[0], text, text), []) if len(contexts) == 1 else (None, contexts)


def _replaced(text: str, lexicon: Lexicon, called: str) -> str:
    """A message with other words for its numbers, and for what stands before: ``the invoice``."""
    message = Message(text, lexicon)
    pieces, end = [], 0
    for index in range(len(message)):
        if not message.has_number(index):
            continue
        start = index
        for path in ("language.nouns", "language.articles"):
            for length in (2, 1):
                if start - length >= end and message.at(path, start - length) == length:
                    start -= length
                    break
        pieces.append(f"{message.written(end, start)}{called}")
        token_end = message.tokens[index].start + len(message.tokens[index].text)
        following = message.tokens[index + 1].start if index + 1 < len(message) else None
        pieces.append(message.text[token_end:following])
        end = index + 1
    return "".join((*pieces, message.written(end)))


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
    select = f"id,{TITLES.get(entity, 'name')}"
    try:
        rows: list[dict[str, Any]] = engine.read_many(
            name, filter=condition, select=select, orderby="id", top=_MOST
        )
    except ForbiddenError:
        return []  # what the caller may not read is not known of
    return [RecordContext(name, entity, name, row["id"], title_of(entity, row)) for row in rows]
