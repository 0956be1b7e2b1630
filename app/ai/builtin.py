"""The built-in assistant: one message, one route, every sentence from a source (docs/adr/0092).

It is deterministic: the same message, over the same data and for the same caller, has the same
answer. It makes no sentence of its own about the business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from app.ai.figures import (
    ENGLISH_ONLY,
    SURE,
    answer_from_figures,
    is_about_figures,
    is_foreign_figures,
    refusal_of_figures,
)
from app.ai.knowledge import NOT_FOUND, answer_from_articles
from app.ai.parts import Ask, Part, Text
from app.ai.record import answer_property, find_property, summarise, wants_summary
from app.ai.refusals import NO_WRITES, is_command, refusal_of
from app.ai.requests import answer_request
from app.ai.smalltalk import DECIDE, small_talk

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
    requested = None if is_how_to else answer_request(ask)
    if requested is not None:
        yield from requested
        return
    if is_command(text):
        yield Text(NO_WRITES)
        return
    has_record = ask.context is not None and ask.context.key is not None
    if has_record and not is_how_to:
        name = find_property(ask)
        if wants_summary(text):
            yield from summarise(ask)
            return
        if name is not None:
            yield from answer_property(ask, name)
            return
    if is_foreign_figures(text) and not is_how_to:
        yield Text(ENGLISH_ONLY)
        return
    if is_about_figures(text):
        figures = answer_from_figures(ask)
        first = next(figures, None)
        if first is not None:
            yield from chain((first,), figures)
            return
    for part in answer_from_articles(ask):
        if part == Text(NOT_FOUND) and not is_how_to:
            yield from _last_resort(ask)
        else:
            yield part


def _last_resort(ask: Ask) -> Iterator[Part]:
    """What does not sound like figures may be some (``clients in Berlin``), if that is sure."""
    figures = list(answer_from_figures(ask, SURE))
    yield from figures or (Text(refusal_of_figures(ask) or NOT_FOUND),)
