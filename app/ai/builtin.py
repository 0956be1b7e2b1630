"""The built-in assistant: one message, one route, every sentence from a source (docs/adr/0039).

It is deterministic: the same message, over the same data and for the same caller, has the same
answer. It makes no sentence of its own about the business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.ai.changes import NEEDS_RECORD, Change, answer_change, stronger_change
from app.ai.context import citation_of
from app.ai.dialogue import is_of_many, wish_after, wishes_in
from app.ai.figures import TWO_LANGUAGES, Figures, is_foreign_figures
from app.ai.knowledge import NOT_ALLOWED, NOT_FOUND, answer_from_articles, answer_help, find_help
from app.ai.parts import Ask, Part, RecordContext, Text
from app.ai.record import (
    answer_listing,
    answer_properties,
    find_listing,
    summarise,
    wants_summary,
)
from app.ai.references import Mention, find_mentioned
from app.ai.refusals import ABOUT, DECIDE, MANY, NO_WRITES, WELL, is_command, refusal_of, small_talk
from app.ai.requests import answer_request, offered
from app.ai.understanding import SUMMARY, TASK, Request, is_asked, is_how_to, is_shown, read_request
from app.written.catalogue import marked

UNKNOWN = marked("I found no record that is called “%(name)s”.")


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
    for index, piece in enumerate(wishes_in(ask)):
        for part in _routed(replace(ask, text=piece)):
            if isinstance(part, RecordContext):
                ask = replace(ask, context=part, figures=None)
            if index and isinstance(part, Text):
                part, index = replace(part, text=f"\n{part.text.lstrip()}"), 0
            yield part


def _routed(ask: Ask) -> Iterator[Part]:
    text = ask.text
    is_instruction = is_how_to(text)
    if not is_instruction and is_of_many(text):
        yield Text(ask.translated(MANY))
        return
    request = None if is_instruction else read_request(text)
    if request is not None and request.kind == SUMMARY and not request.name and is_asked(text):
        request = None  # "who is it assigned to?"
    earlier, replaces = (request is None and wish_after(ask)) or (None, False)
    if isinstance(earlier, Request):
        request, ask = earlier, replace(ask, replaces=replaces)
    name = request.name if request else ""
    mention = Mention([]) if is_instruction else find_mentioned(text, name)
    mentioned = mention.records
    is_named = len(mentioned) == 1
    about = replace(ask, context=mentioned[0]) if is_named else ask
    change = None if is_instruction else stronger_change(about, request)
    if change is None and isinstance(earlier, Change):
        change, ask = earlier, replace(ask, replaces=replaces)
    wants_task = request is not None and request.kind == TASK
    if (
        mention.called
        and not mentioned
        and not wants_task
        and (request or change or not is_command(text))
    ):
        yield Text(ask.translated(UNKNOWN, name=mention.called))
        return
    if is_named:
        ask = replace(ask, context=mentioned[0], figures=None)
    if (
        change is not None
        and (parts := answer_change(ask, replace(change, record=change.record or ask.record)))
        is not None
    ):
        yield from mentioned[:1] if is_named else ()
        yield from offered(ask, parts)
        return
    figures = Figures(replace(ask, text=mention.about_it or text) if is_named else ask)
    # "Who is the owner of project 3?" asks for more than the project.
    is_more = bool(mention.called) and is_asked(text) and not is_shown(name)
    parts = _of_record(ask, figures, is_named=True) if is_named and is_more else None
    if parts is None and len(mentioned) < 2:
        parts = _requested(ask, request, is_known=is_named)
    if parts is None and len(mentioned) < 2:
        parts = _of_record(ask, figures, is_named=is_named)
    if parts is not None:
        if is_named:
            yield mentioned[0]  # "they" in the next message are the ones named here
        yield from parts
    elif len(mentioned) > 1:
        yield Text(ask.translated("There are several of this name:"))
        for each in mentioned:
            yield Text(f"\n- {each.title}", citation_of(each))
    elif is_command(text):
        yield Text(ask.translated(NO_WRITES))
    elif is_foreign_figures(text) and not is_instruction:
        yield Text(ask.translated(TWO_LANGUAGES))
    else:
        yield from _from_sources(ask, figures, is_instruction=is_instruction)


def _from_sources(ask: Ask, figures: Figures, *, is_instruction: bool) -> Iterator[Part]:
    """The answer of the figures where it is sure, or asks of which records; else that of articles,
    or what figures say where those say nothing."""
    if not is_instruction and (figures.is_sure or figures.is_choice):
        yield from figures.answer()
        return
    for part in answer_from_articles(ask):
        is_nothing = part in (Text(ask.translated(NOT_FOUND)), Text(ask.translated(NOT_ALLOWED)))
        if is_nothing and not is_instruction:
            yield from list(figures.answer()) or (part,)
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
        unknown = ask.translated(UNKNOWN, name=request.name)
        return None if request.kind == SUMMARY else iter((Text(unknown),))
    if request.kind != SUMMARY:
        return answer_request(ask, request)
    if ask.record is None:
        return iter((Text(ask.translated(NEEDS_RECORD)),))
    return summarise(ask, ask.record)


def _of_record(ask: Ask, figures: Figures, *, is_named: bool) -> Iterator[Part] | None:
    """What the record in the context, or the one that the message names, answers; else None."""
    text, record = ask.text, ask.record
    if record is None:
        return None
    help_kind = find_help(ask, record)
    if help_kind is not None:
        return answer_help(ask, record.key, help_kind)
    if is_how_to(text) or (is_command(text) and not figures.is_of_property):
        return None
    if wants_summary(text) or (is_named and is_shown(text)):
        return summarise(ask, record)
    listing = find_listing(ask, record, parts=True)
    if listing is not None:
        return answer_listing(ask, record, listing)
    if figures.asked_paths is not None:
        return _properties_or_summary(ask, record, figures)
    listing = find_listing(ask, record, parts=False) if figures.is_of_others else None
    return None if listing is None else answer_listing(ask, record, listing)


def _properties_or_summary(ask: Ask, record: RecordContext, figures: Figures) -> Iterator[Part]:
    """The properties that are asked for; the whole record where it is only named."""
    ask = replace(ask, language=figures.language)
    if figures.asked_paths:
        yield from answer_properties(ask, record, figures.asked_paths)
    else:
        yield from summarise(ask, record)
    if figures.reply is not None:
        yield figures.reply.state
