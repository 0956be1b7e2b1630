"""Questions about what belongs to the record in the context: its tasks, lines, payments, comments.

What is counted or chosen by more than that is a question about figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.ai.context import citation_of, entity_type
from app.ai.parts import Ask, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.profiles import PROFILES, RECORDS, Listing
from app.ai.record import list_related
from app.ai.wording import words_of
from app.container import engine

# What is said of all records, or asks for a number, is not asked of this one.
_OF_ALL = re.compile(
    r"\b(all|our|we|my|mine|everyone|every|each|overall|in total|per|by|top|how (many|much)|number"
    r"|count|there|average|total)\b",
    re.IGNORECASE,
)
_LONGEST_WORDS = 10


def find_related(ask: Ask, record: RecordContext) -> Listing | None:
    """The records of the one in the context that a question asks for, or None."""
    said = set(words_of(ask.text))
    if len(ask.text.split()) > _LONGEST_WORDS or _OF_ALL.search(ask.text):
        return None
    profile = PROFILES[record.entity]
    for listing in (*profile.related, *profile.listings):
        if said & RECORDS.get(listing.navigation, frozenset()):
            return listing
    return None


def answer_related(ask: Ask, record: RecordContext, listing: Listing) -> Iterator[Part]:
    """The records, each with its address; that there is none, too."""
    yield ToolCall("read_record", {"record": record.path, "expand": listing.navigation})
    source = citation_of(record)
    parts = list(list_related(ask, record, listing, source, _currency(record)))
    yield ToolResult("ok", listing.title)
    title = ask.translated(listing.title)
    nothing = ask.translated("%(title)s of %(record)s: none.", title=title, record=record.title)
    yield from parts or (Text(nothing, source),)


def _currency(record: RecordContext) -> str | None:
    if "currency" not in entity_type(record.entity).properties:
        return None
    currency: str | None = engine.read_one(record.path, select="currency")["currency"]
    return currency
