"""What a message is beside those before it: one wish or several, and a change of the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.ai.changes import Change, amends, fills, find_change, is_open
from app.ai.free_text import LONGEST_HEAD
from app.ai.lexicon import Message, is_asked, is_how_to, languages, message_of, spoken
from app.ai.parts import Ask
from app.ai.wishes import CHANGING

_MOST_WISHES = 4
# So many changes of one wish are followed; who changes more says it anew.
_MOST_CHANGES = 5
_ENDS = (".", ";", "!", "?")
_SIGNS = " .,;!?\n\t"


def is_of_many(text: str) -> bool:
    """Whether a message wants something done to all of a kind: ``close all tickets``."""
    before_whom = (
        "language.fillers", "language.polite", *(f"{kind}.{part}" for kind in ("mail", "update")
        for part in ("objects", "towards")),
    )  # fmt: skip
    doing = ("commands.words", "commands.many", "mail.verbs", "mail.alone", "update.alone",
             *CHANGING)  # fmt: skip
    for code in languages():
        message = message_of(text, code)
        start = message.skipped(0, "language.leads", "language.polite", "language.fillers")
        length = message.at_any(doing, start)
        is_last = message.at("commands.behind", len(message) - 1)
        following = message.skipped(start + length, *before_whom)
        if (length or is_last) and message.at("language.everyone", following):
            return True
    return False


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

    One with a text says both what is to be done and with what, or speaks of the record; another
    change may be one of a text as well, but for that of the next sentence.
    """
    first = None if is_how_to(before) else find_change(replace(ask, text=before.strip(_SIGNS)))
    if first is None:
        return False
    change = find_change(replace(ask, text=rest))
    if change is None or change.free_text is not None:
        return change is not None and change.is_whole
    has_text = first.free_text is not None or ":" in before
    if (has_text and not is_ended) or is_asked(rest):
        return False
    if first.free_text is not None:
        return True
    return first.tool is not change.tool and not fills(first, rest)


def change_after(ask: Ask) -> tuple[Change, bool] | None:
    """The change before that a message completes or corrects, as it is then: ``no, at 4``.

    Returns: the change, and whether it takes the place of one that was proposed; None where the
        message is no such thing.
    """
    later = [ask.text]
    for role, text in reversed(ask.dialogue):
        if role != "user":
            continue
        before = find_change(replace(ask, text=text))
        if before is not None:
            return _changed(ask, before, reversed(later))
        later.append(text)
        if len(later) > _MOST_CHANGES:
            break
    return None


def _changed(ask: Ask, change: Change, messages: Iterator[str]) -> tuple[Change, bool] | None:
    is_other = False
    for text in messages:
        if not amends(ask, change, text):
            return None
        is_other = not is_open(ask, change)
        change = replace(change, later=(*change.later, text))
    return change, is_other
