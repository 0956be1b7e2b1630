"""The built-in assistant: one message, one route, every sentence from a source (docs/adr/0039).

It is deterministic: the same message, over the same data and for the same caller, has the same
answer. It makes no sentence of its own about the business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.ai.context import citation_of
from app.ai.dialogue import is_of_many, request_after, wishes_in
from app.ai.figures import (
    SURE,
    TWO_LANGUAGES,
    Figures,
    is_about_figures,
    is_about_one,
    is_foreign_figures,
)
from app.ai.knowledge import NOT_ALLOWED, NOT_FOUND, answer_from_articles, answer_help, find_help
from app.ai.parts import Ask, Part, RecordContext, Text
from app.ai.record import (
    answer_property,
    answer_related,
    find_property,
    find_related,
    is_name_of_property,
    summarise,
    wants_summary,
)
from app.ai.references import find_mentioned
from app.ai.refusals import ABOUT, DECIDE, MANY, NO_WRITES, WELL, is_command, refusal_of, small_talk
from app.ai.requests import NEEDS_RECORD, answer_request
from app.ai.understanding import SUMMARY, TASK, Request, is_how_to, is_shown, read_request


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
        texts = (WELL, ABOUT) if settled == WELL else (settled,)
        yield Text(" ".join(map(ask.translated, texts)))
        return
    pieces = wishes_in(text, lambda piece: _stands_alone(replace(ask, text=piece)))
    for index, piece in enumerate(pieces):
        for part in _routed(replace(ask, text=piece)):
            if isinstance(part, RecordContext):
                ask = replace(ask, context=part)
            if index and isinstance(part, Text):
                part, index = replace(part, text=f"\n{part.text.lstrip()}"), 0
            yield part


def _stands_alone(ask: Ask) -> bool:
    """Whether a text wants something, or asks for something of the record."""
    if is_how_to(ask.text) or read_request(ask.text) is not None:
        return not is_how_to(ask.text)
    return ask.record is not None and find_property(ask, ask.record) is not None


def _routed(ask: Ask) -> Iterator[Part]:
    text = ask.text
    is_instruction = is_how_to(text)
    if not is_instruction and is_of_many(text):
        yield Text(ask.translated(MANY))
        return
    request = None if is_instruction else read_request(text)
    if request is None and (changed := request_after(text, ask.dialogue)) is not None:
        request, ask = changed[0], replace(ask, replaces=changed[1])
    name = "" if request is None else request.name
    mentioned, namesakes = (None, []) if is_instruction else find_mentioned(text, name)
    about_record = ask if mentioned is None else replace(ask, context=mentioned.context)
    # Of the record: the message as it is said beside it.
    beside_record = (
        about_record if mentioned is None else replace(about_record, text=mentioned.text)
    )
    is_told = not is_command(beside_record.text) or is_name_of_property(beside_record)
    parts = None if namesakes else _requested(about_record, request, is_known=mentioned is not None)
    if parts is None and is_told and not namesakes:
        parts = _of_record(beside_record, is_named=mentioned is not None)
    if parts is not None:
        if mentioned is not None:
            yield mentioned.context  # "they" in the next message are the ones named here
        yield from parts
        return
    if is_command(text) and not namesakes:
        yield Text(ask.translated(NO_WRITES))
        return
    if is_foreign_figures(text) and not is_instruction:
        yield Text(ask.translated(TWO_LANGUAGES))
        return
    if namesakes:
        yield Text(ask.translated("There are several of this name:"))
        for each in namesakes:
            yield Text(f"\n- {each.title}", citation_of(each))
        return
    if mentioned is not None and mentioned.context.entity == "Client":
        ask = replace(ask, text=mentioned.by_name)
    yield from _from_sources(ask, is_instruction=is_instruction)


def _from_sources(ask: Ask, *, is_instruction: bool) -> Iterator[Part]:
    """The answer of the figures, or of the articles."""
    figures = Figures(ask)
    if (is_about_figures(ask.text) or is_about_one(ask)) and (answer := list(figures.answer())):
        yield from answer
        return
    for part in answer_from_articles(ask):
        is_nothing = part in (Text(ask.translated(NOT_FOUND)), Text(ask.translated(NOT_ALLOWED)))
        if is_nothing and not is_instruction:
            yield from _last_resort(figures, part)
        else:
            yield part


def _requested(ask: Ask, request: Request | None, *, is_known: bool) -> Iterator[Part] | None:
    """What comes of a request; None where there is none, or it names what nobody is called.

    Args:
        is_known: whether the record that it names is the one of the context now.
    """
    if request is None:
        return None
    is_strange = bool(request.name) and not is_known
    if is_strange and request.kind == TASK:
        request = replace(request, name="", text=f"{request.name}: {request.text}")
    elif is_strange:
        unknown = ask.translated("I found no record that is called “%(name)s”.", name=request.name)
        return None if request.kind == SUMMARY else iter((Text(unknown),))
    if request.kind != SUMMARY:
        return answer_request(ask, request)
    if ask.record is None:
        return iter((Text(ask.translated(NEEDS_RECORD)),))
    return summarise(ask, ask.record)


def _of_record(ask: Ask, *, is_named: bool) -> Iterator[Part] | None:
    """What the record in the context, or the one that the message names, answers; else None."""
    text, record = ask.text, ask.record
    if record is None:
        return None
    help_kind = find_help(ask, record)
    if help_kind is not None:
        return answer_help(ask, record.key, help_kind)
    if is_how_to(text):
        return None
    if wants_summary(text, record.entity) or (is_named and is_shown(text)):
        return summarise(ask, record)
    listing = find_related(ask, record)
    if listing is not None:
        return answer_related(ask, record, listing)
    name = find_property(ask, record)
    return None if name is None else answer_property(ask, record, name)


def _last_resort(figures: Figures, otherwise: Part) -> Iterator[Part]:
    """What does not sound like figures may be some (``clients in Berlin``), if that is sure."""
    refusal = figures.refusal()
    yield from list(figures.answer(SURE)) or (otherwise if refusal is None else Text(refusal),)
