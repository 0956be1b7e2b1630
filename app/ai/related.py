"""Questions about what belongs to the record in the context: its tasks, lines, payments, comments.

What is counted or chosen by more than that is a question about figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.ai.context import citation_of, entity_type
from app.ai.parts import Ask, Part, Text, ToolCall, ToolResult
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


def find_related(ask: Ask) -> Listing | None:
    """The records of the one in the context that a question asks for, or None."""
    context = ask.context
    if context is None or context.entity is None or context.key is None:
        return None
    said = set(words_of(ask.text))
    if len(ask.text.split()) > _LONGEST_WORDS or _OF_ALL.search(ask.text):
        return None
    profile = PROFILES[context.entity]
    for listing in (*profile.related, *profile.listings):
        if said & RECORDS.get(listing.navigation, frozenset()):
            return listing
    return None


def answer_related(ask: Ask, listing: Listing) -> Iterator[Part]:
    """The records, each with its address; that there is none, too."""
    context = ask.context
    assert context is not None and context.entity is not None
    yield ToolCall("read_record", {"record": context.path, "expand": listing.navigation})
    source = citation_of(context)
    parts = list(list_related(ask, listing, source, _currency(ask)))
    yield ToolResult("ok", listing.title)
    title = ask.translated(listing.title)
    nothing = ask.translated("%(title)s of %(record)s: none.", title=title, record=context.title)
    yield from parts or (Text(nothing, source),)


def _currency(ask: Ask) -> str | None:
    assert ask.context is not None and ask.context.entity is not None
    if "currency" not in entity_type(ask.context.entity).properties:
        return None
    row = engine.read_one(ask.context.path, select="currency")
    currency: str | None = row["currency"]
    return currency
