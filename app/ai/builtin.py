"""The built-in assistant: one message, one route, every sentence from a source (docs/adr/0039).

It is deterministic: the same message, over the same data and for the same caller, has the same
answer. It makes no sentence of its own about the business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.ai.changes import NEEDS_RECORD, UNKNOWN, Change, answer_change, find_change, is_nothing
from app.ai.context import citation_of
from app.ai.dialogue import change_after, is_of_many, wishes_in
from app.ai.figures import TWO_LANGUAGES, Figures, is_foreign_figures
from app.ai.free_text import TASK
from app.ai.knowledge import NOT_ALLOWED, NOT_FOUND, answer_from_articles, answer_help, find_help
from app.ai.lexicon import is_asked, is_how_to, is_shown
from app.ai.parts import Ask, Part, RecordContext, Text
from app.ai.record import (
    answer_listing,
    answer_properties,
    find_listing,
    reason_asked,
    summarise,
    summary_of,
    wants_summary,
)
from app.ai.references import Mention, find_mentioned, find_numbered
from app.ai.refusals import ABOUT, DECIDE, MANY, NO_WRITES, WELL, is_command, refusal_of, small_talk


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
    record = next(iter(find_numbered(text)), ask.record) if is_instruction else None
    if record is not None and (reason := reason_asked(text, record)) is not None:
        yield from answer_properties(ask, record, (reason,))
        return
    if not is_instruction and is_of_many(text):
        yield Text(ask.translated(MANY))
        return
    called = None if is_instruction else summary_of(text)
    change = find_change(ask) if called is None and not is_instruction else None
    if called is None and (change is None or is_nothing(ask, change)):
        change, is_other = change_after(ask) or (change, False)
        ask = replace(ask, replaces=is_other)
    name = called or (change.name if change else "")
    mention = Mention([]) if is_instruction else find_mentioned(text, name)
    mentioned = mention.records
    is_named = len(mentioned) == 1
    makes_text = change is not None and change.tool.kind == TASK
    if (
        mention.called
        and not mentioned
        and not makes_text
        and (change or called is not None or not is_command(text))
    ):
        yield Text(ask.translated(UNKNOWN, name=mention.called))
        return
    if is_named:
        ask = replace(ask, context=mentioned[0], figures=None)
    if change is not None and (parts := _changed(ask, change, is_named=is_named)) is not None:
        yield from mentioned[:1]
        yield from parts
        return
    figures = Figures(replace(ask, text=mention.about_it or text) if is_named else ask)
    # "Who is the owner of project 3?" asks for more than the project.
    is_more = bool(mention.called) and is_asked(text) and not is_shown(name)
    parts = _of_record(ask, figures, is_named=True) if is_named and is_more else None
    if parts is None and len(mentioned) < 2:
        parts = _summed_up(ask, called, is_known=is_named)
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


def _changed(ask: Ask, change: Change, *, is_named: bool) -> Iterator[Part] | None:
    """What comes of a change that is wanted; None where the words say too little of it.

    Args:
        is_named: whether the record of the context is the one that the message names.
    """
    if change.name and not is_named:
        if change.tool.needs_record:
            return iter((Text(ask.translated(UNKNOWN, name=change.name)),))
        change = change.without_name()
    is_of_record = is_named or change.record is None
    return answer_change(ask, replace(change, record=ask.record) if is_of_record else change)


def _summed_up(ask: Ask, called: str | None, *, is_known: bool) -> Iterator[Part] | None:
    """The summary that is asked for; None where none is, or of what nobody is called."""
    if called is None or (called and not is_known):
        return None
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
