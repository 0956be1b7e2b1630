"""What a message is beside those before it: one wish or several, and a change of the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.ai.changes import Change, amends, fills, find_change, stronger_change
from app.ai.due import find_due
from app.ai.lexicon import Message, languages, lexicon_of, message_of, spoken
from app.ai.parts import Ask
from app.ai.understanding import (
    LONGEST_HEAD,
    MAIL,
    TASK,
    Request,
    is_asked,
    is_how_to,
    read_request,
)
from app.settings.days import today

_MOST_WISHES = 4
# So many changes of one wish are followed; who changes more says it anew.
_MOST_CHANGES = 5
_ENDS = (".", ";", "!", "?")
_SIGNS = " .,;!?\n\t"


def is_of_many(text: str) -> bool:
    """Whether a message wants something done to all of a kind: ``close all tickets``."""
    before_whom = (
        "language.fillers", "language.polite", *(f"{kind}.{part}" for kind in (MAIL, "update")
        for part in ("objects", "towards")),
    )  # fmt: skip
    doing = ("commands.words", "commands.many", "mail.verbs", "mail.alone", "update.verbs",
             "update.alone")  # fmt: skip
    for code in languages():
        message = message_of(text, code)
        start = message.skipped(0, "language.leads", "language.polite", "language.fillers")
        length = message.at_any(doing, start)
        is_last = message.at("commands.behind", len(message) - 1)
        following = message.skipped(start + length, *before_whom)
        if (length or is_last) and message.at("language.everyone", following):
            return True
    return False


def wish_in(ask: Ask) -> Request | Change | None:
    """What a message wants done: a request, or a change where more of its words say so."""
    request = read_request(ask.text)
    return stronger_change(ask, request) or request


def wishes_in(ask: Ask) -> Sequence[str]:
    """The wishes of a message, in its words: ``log a call: … and remind me on Monday``.

    Returns: one where nothing is to be taken apart: what follows "and" belongs to the first.
    """
    for code in spoken():
        message = message_of(ask.text, code)
        if len(message) > LONGEST_HEAD * 2:
            continue
        starts = [0]
        for start, end in _joints(message):
            if starts[-1] < start and end < len(message) and len(starts) < _MOST_WISHES:
                before, rest = message.written(starts[-1], start), message.written(end)
                if _are_two(ask, before, rest, is_ended=message.tokens[start].mark in _ENDS):
                    starts += [start, end]
        if len(starts) > 1:
            bounds = [*starts, len(message)]
            pieces = [message.written(start, end).strip(_SIGNS)
                      for start, end in zip(bounds[::2], bounds[1::2], strict=True)]  # fmt: skip
            return pieces
    return (ask.text,)


def _joints(message: Message) -> Iterator[tuple[int, int]]:
    """Where one wish may end, and where the next begins: ``and``, the end of a sentence."""
    for index in range(1, len(message)):
        length = message.at("language.joints", index)
        if length or message.tokens[index].mark in _ENDS:
            yield index, index + length


def _are_two(ask: Ask, before: str, rest: str, *, is_ended: bool) -> bool:
    """Whether what stands behind "and" is a wish of its own, and no part of a text.

    A request says both what is to be done and with what, or speaks of the record; another change
    may be one of a text as well, but for that of the next sentence.
    """
    first = None if is_how_to(before) else wish_in(replace(ask, text=before.strip(_SIGNS)))
    if first is None:
        return False
    if (request := read_request(rest)) is not None and request.is_whole:
        return True
    has_text = isinstance(first, Request) or ":" in before
    if (has_text and not is_ended) or is_asked(rest):
        return False
    change = find_change(replace(ask, text=rest))
    if change is None or isinstance(first, Request):
        return change is not None
    return first.tool is not change.tool and not fills(first, rest)


def wish_after(ask: Ask) -> tuple[Request | Change, bool] | None:
    """What a message changes or completes of those before, as it is then: ``no, at 4``.

    Returns: the wish, and whether it takes the place of one that was proposed; None where the
        message is no such thing.
    """
    later = [ask.text]
    for role, text in reversed(ask.dialogue):
        if role != "user":
            continue
        wish = wish_in(replace(ask, text=text))
        if isinstance(wish, Request):
            return _changed(text, wish, reversed(later))
        if wish is not None:
            after = replace(wish, later=tuple(reversed(later)))
            return (after, True) if amends(ask, wish, ask.text) else None
        later.append(text)
        if len(later) > _MOST_CHANGES:
            break
    return None


def _changed(text: str, request: Request, changes: Iterator[str]) -> tuple[Request, bool] | None:
    is_other = False
    for change in changes:
        after: Request | None
        if request.is_open:
            after = read_request(f"{text.strip(_SIGNS)} {change}")
        else:
            after, is_other = _amended(request, change), True
        if after is None or after.is_open:
            return None
        request = after
    return request, is_other


def _amended(request: Request, text: str) -> Request | None:
    """A request with another day, time, subject or state; None where a message is no change."""
    message = message_of(text, request.language)
    start = message.skipped(0, "language.correcting", "language.polite")
    end = len(message)
    while end > start and message.at("language.polite", end - 1):
        end -= 1
    rest = Message(message.written(start, end), lexicon_of(request.language))
    if not start or not len(rest):
        return None
    if request.kind == TASK:
        return _with_time(request, rest)
    if request.kind == MAIL and (length := rest.at("mail.links", 0)):
        return replace(request, text=rest.written(length).strip(_SIGNS),
                       link=rest.written(0, length).strip())  # fmt: skip
    return None


def _with_time(request: Request, message: Message) -> Request | None:
    due = find_due(message, request.language, today(), near=request.at)
    dated = {index for start, end in due.spans for index in range(start, end)}
    others = [index for index in range(len(message)) if index not in dated
              and not message.at_any(("language.fillers", "language.due"), index)
              and message.tokens[index].kind != "sign"]  # fmt: skip
    if not due.spans or others:
        return None
    if due.names_day:
        return replace(request, due=due.day, at=due.at or request.at)
    return replace(request, due=request.due or due.day, at=due.at)
