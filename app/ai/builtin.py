"""The built-in assistant: one message, one route, every sentence from a source (docs/adr/0039).

It is deterministic: the same message, over the same data and for the same caller, has the same
answer. It makes no sentence of its own about the business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from app.ai.context import citation_of
from app.ai.figures import (
    SURE,
    TWO_LANGUAGES,
    answer_from_figures,
    is_about_figures,
    is_about_one,
    is_foreign_figures,
    refusal_of_figures,
)
from app.ai.knowledge import NOT_ALLOWED, NOT_FOUND, answer_from_articles
from app.ai.parts import Ask, Part, Text
from app.ai.record import (
    answer_property,
    find_property,
    is_name_of_property,
    summarise,
    wants_summary,
)
from app.ai.references import find_mentioned
from app.ai.refusals import NO_WRITES, is_command, refusal_of
from app.ai.related import answer_related, find_related
from app.ai.requests import NEEDS_RECORD, answer_request
from app.ai.resolution import answer_help, find_help
from app.ai.smalltalk import DECIDE, small_talk

# A summary of what is not there.
_THIS = re.compile(
    r"^\W*(?:please )?(?:summari[sz]e|tell me (?:more )?about|describe|(?:give me )?(?:a |an )?"
    r"(?:summary|overview)(?: of)?)\s+(?:this|it|that)(?: \w+)?\W*$",
    re.IGNORECASE,
)
# All of a record that is named, and nothing else.
_SHOW = re.compile(
    r"^\W*(?:(?:please|can you|show|me|open|find|display|get|look|up|give|see|go to)\s+)*it\W*$",
    re.I,
)
_HOW_TO = re.compile(
    r"^\W*(how (do|can|should|to|does)|where (do|can)|why|can i|what happens)\b", re.I
)


def is_settled(text: str) -> bool:
    """Whether nothing but this assistant's own words answer a message, whoever is asked.

    A mere "yes" is settled here only: a model knows what it has asked.
    """
    return refusal_of(text) is not None or small_talk(text) not in (None, DECIDE)


def answer(ask: Ask) -> Iterator[Part]:
    """The parts of the answer, in the order of saying them."""
    text = ask.text
    settled = refusal_of(text) or small_talk(text)
    if settled is not None:
        yield Text(settled)
        return
    yield from _routed(ask)


def _routed(ask: Ask) -> Iterator[Part]:
    text = ask.text
    is_how_to = _HOW_TO.match(text) is not None
    mentioned, namesakes = (None, []) if is_how_to else find_mentioned(text)
    asked = ask if mentioned is None else replace(ask, context=mentioned.context)
    # Of the record: the message as it is said beside it.
    said = asked if mentioned is None else replace(asked, text=mentioned.text)
    requested = None if is_how_to else answer_request(asked, said.text)
    is_told = not is_command(said.text) or is_name_of_property(said)
    parts = requested or (_of_record(said, is_named=mentioned is not None) if is_told else None)
    if parts is not None:
        if mentioned is not None:
            yield mentioned.context  # "they" in the next message are the ones named here
        yield from parts
        return
    if is_command(text):
        yield Text(NO_WRITES)
        return
    if is_foreign_figures(text) and not is_how_to:
        yield Text(TWO_LANGUAGES)
        return
    if namesakes:
        yield Text("There are several of this name:")
        for each in namesakes:
            yield Text(f"\n- {each.title}", citation_of(each))
        return
    if mentioned is not None and mentioned.context.entity == "Client":
        ask = replace(ask, text=mentioned.by_name)
    yield from _from_sources(ask, is_how_to=is_how_to)


def _from_sources(ask: Ask, *, is_how_to: bool) -> Iterator[Part]:
    """The answer of the figures, or of the articles."""
    if is_about_figures(ask.text) or is_about_one(ask):
        figures = answer_from_figures(ask)
        first = next(figures, None)
        if first is not None:
            yield from chain((first,), figures)
            return
    for part in answer_from_articles(ask):
        if part in (Text(NOT_FOUND), Text(NOT_ALLOWED)) and not is_how_to:
            yield from _last_resort(ask, part)
        else:
            yield part


def _of_record(ask: Ask, *, is_named: bool) -> Iterator[Part] | None:
    """What the record in the context, or the one that the message names, answers; else None."""
    text = ask.text
    if ask.context is None or ask.context.key is None:
        return iter((Text(NEEDS_RECORD),)) if _THIS.match(text) else None
    help_kind = find_help(ask)
    if help_kind is not None:
        return answer_help(ask, help_kind)
    if _HOW_TO.match(text):
        return None
    if wants_summary(text, ask.context.entity) or (is_named and _SHOW.match(text)):
        return summarise(ask)
    listing = find_related(ask)
    if listing is not None:
        return answer_related(ask, listing)
    name = find_property(ask)
    return None if name is None else answer_property(ask, name)


def _last_resort(ask: Ask, otherwise: Part) -> Iterator[Part]:
    """What does not sound like figures may be some (``clients in Berlin``), if that is sure."""
    figures = list(answer_from_figures(ask, SURE))
    refusal = refusal_of_figures(ask)
    yield from figures or (otherwise if refusal is None else Text(refusal),)
