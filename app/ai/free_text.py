"""The text that a message has for a task, a note or a mail, and what it says before it.

A message begins with words that its language's file knows (``lexicons``), in any order: what is to
be done (``verbs``), with what (``objects``), or one that says both (``alone``, ``begun``); the
record, the day, and words that say nothing. Behind a word that leads to it (``links``), a mark, or
where nothing is known any more, the text begins, in the caller's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import time
from functools import cached_property

from app.ai.due import NO_DAY, Due, find_due
from app.ai.lexicon import ASKING, KINDS, SIGNS, Message, lexicon_of, message_of
from app.settings.days import today

TASK, SUMMARY = "task", "summary"
# A wish is known by its beginning, and what a record is called is short.
LONGEST_HEAD = 40
LONGEST_NAME = 6
_TOLD = ("(", ":", ",", "-", ";")
# Opening quotation marks that make no one token -> those that close them.
_QUOTATION = {"\u201e": "\u201c\u201d", "\u00ab": "\u00bb", "\u00bb": "\u00ab"}


@dataclass(frozen=True)
class FreeText:
    """What a message says of a text.

    ``head``: the words before it. ``name``: what the record is called; without one that of the
    conversation is meant, and ``refers``: words stand for it. ``link``: what leads to the text:
    ``about``, ``that``; ``is_led``, a mark may do so, too. ``is_record``: the text is nothing but
    the record: ``it``, its number.
    """

    head: str = ""
    text: str = ""
    name: str = ""
    link: str = ""
    due: Due = NO_DAY
    refers: bool = False
    is_led: bool = False
    is_record: bool = False


def read_text(text: str, code: str, kind: str) -> FreeText | None:
    """What a message in a language says of a text of a kind; None where it has none of these.

    Args:
        kind: the section of the lexicons: ``task``.
    """
    for wording in _wordings(message_of(text, code), kind):
        if (free_text := _Reader(wording, kind).read()) is not None:
            return free_text
    return None


def amended(before: FreeText, text: str, code: str, kind: str) -> FreeText | None:
    """What is said after another message: another day or text; None where that says neither.

    What had no text takes all of a message that asks nothing.
    """
    message = message_of(text, code)
    start = message.skipped(0, "language.correcting", "language.polite")
    is_open = not before.text and kind != "mail"
    if is_open and ("?" in text or message.at("language.asking", 0)):
        return None
    rest = Message(message.written(start), lexicon_of(code))
    if not (start or is_open) or not len(rest):
        return None
    between = "language.none" if is_open else "language.fillers"
    free_text = _Reader(rest, kind, near=before.due.at).read(between)
    is_said = free_text is not None and (bool(free_text.link) or (is_open and free_text.text))
    if free_text is None or not (is_said or (free_text.due.spans and not free_text.text)):
        return None
    due = free_text.due if free_text.due.spans else before.due
    due = replace(due, day=due.day if due.names_day else before.due.day or due.day,
                  at=due.at or (before.due.at if due.names_day else None))  # fmt: skip
    if not is_said:
        return replace(before, due=due)
    return replace(
        before, text=free_text.text, link=free_text.link, is_record=free_text.is_record, due=due
    )


def _wordings(message: Message, kind: str) -> Iterator[Message]:
    """A message, and with a verb that stands last put first: ``eine Aufgabe anlegen``.

    Who begins with "can you" has the verb last, whatever the words between could mean.
    """
    start = message.skipped(0, "language.leads", "language.polite")
    turned = (message_of(text, message.lexicon.code) for text in _turned(message, start, kind))
    yield from (*turned, message) if start else (message, *turned)


def _turned(message: Message, start: int, kind: str) -> Iterator[str]:
    endings = tuple(message.lexicon.list_of("language.last"))
    if not endings or message.at_any(ASKING, start):
        return
    for index in range(start + 1, min(len(message), LONGEST_HEAD)):
        token = message.tokens[index]
        # A word may begin what says all by itself, in its form that stands last.
        is_verb = message.at(f"{kind}.verbs", index) or message.starts(
            f"{kind}.alone", message.words("alone")[index]
        )
        if is_verb and token.text.lower().endswith(endings):
            before = message.written(start, index)
            after = message.text[token.start + len(token.text) :]
            yield f"{token.text} {before.rstrip()}{after}"


class _Reader:
    """Reads the beginning of a message word by word."""

    def __init__(self, message: Message, kind: str, near: time | None = None) -> None:
        self._message, self._kind, self._near = message, kind, near
        self._end = len(message)
        while self._end and message.at("language.polite", self._end - 1):
            self._end -= 1
        self._head = 0  # where what says the wish ends
        self._has_verb = self._has_object = self._is_said = False
        self._is_led = self._refers = False
        self._is_noun = False  # what stands for the record is what such records are called
        self._prefix = self._name = self._link = ""

    def read(self, begun: str = "") -> FreeText | None:
        """What is said; None where the kind is not spoken of, or not wanted.

        Args:
            begun: words that say nothing where it was spoken of before.
        """
        self._is_said, self._begun = bool(begun), begun
        index = self._start()
        if index < 0 or not self._is_said:
            return None
        text = self._text(index)
        if self._prefix and text:
            text = f"{self._prefix}{': ' if self._is_led else ' '}{text}"
        free_text = FreeText(
            self._message.written(0, self._head), text, self._name, self._link, self._due,
            self._refers, self._is_led, is_record=bool(text) and self._is_record(index),
        )  # fmt: skip
        return self._called(index, free_text) if self._kind == SUMMARY else free_text

    def _called(self, index: int, free_text: FreeText) -> FreeText | None:
        """The record that is to be told of; its name is all that may follow."""
        message, end = self._message, self._end
        if message.at_any(ASKING, 0) and self._is_noun and not free_text.name:
            return None  # "who is the client?" asks for one of the record
        is_record = free_text.refers or self._reference(index) >= end > index
        is_name = end - index <= LONGEST_NAME and not message.at_any(ASKING, index)
        if free_text.text and not (is_record or free_text.name or is_name):
            return None
        return replace(free_text, name=free_text.name or ("" if is_record else free_text.text))

    # --- the beginning

    def _start(self) -> int:
        """Where the text begins; -1 where it is not wanted."""
        message, kind, index = self._message, self._kind, 0
        while index < min(self._end, LONGEST_HEAD):
            end = 0
            if self._is_said:
                if index and message.tokens[index].mark in _TOLD:
                    self._is_led = True
                    return self._behind_links(index)
                end = self._due.end_at(index) or self._towards(index)
                link = 0 if end else message.at(f"{kind}.links", index)
                if link:
                    self._is_led = True
                    self._link = message.written(index, index + link).strip()
                    return self._behind_links(index + link)
            if not end and message.at("language.negations", index) and not self._alone(index):
                return -1
            end = end or self._said_before(index)
            if not end:
                return index
            index = end
        return self._end

    def _said_before(self, index: int) -> int:
        """The end of words that are no text; 0 where it begins."""
        if self._begun:
            length = self._message.at(self._begun, index)
            return length and index + length
        return self._known(index) or self._dative(index)

    def _alone(self, index: int) -> int:
        return self._message.at_any((f"{self._kind}.alone", f"{self._kind}.begun"), index)

    def _known(self, index: int) -> int:
        """The end of the longest phrase that says what is wanted, or nothing; 0 for none."""
        message, kind = self._message, self._kind
        if kind == TASK and self._is_said and message.at("language.persons", index):
            return 0  # "erinnere mich, sie anzurufen"
        alone, verb = self._alone(index), message.at(f"{kind}.verbs", index)
        prefix = message.at(f"{kind}.kept", index) if self._has_verb else 0
        thing = max(message.at(f"{kind}.objects", index), prefix)
        longest = max(
            alone, verb, thing, message.at_any(_PLAIN, index), message.at(KINDS, index),
            self._number(index),
        )  # fmt: skip
        if not longest:
            return self._particle(index)
        end = index + longest
        self._has_verb |= verb == longest
        self._has_object |= thing == longest
        self._is_said |= alone == longest or (self._has_verb and self._has_object)
        if longest in (alone, verb, thing):
            self._head = end
        if prefix == longest:
            self._prefix = message.written(index, end).strip(SIGNS)
        if self._reference(index) == end:
            self._refers = True
        return end

    def _particle(self, index: int) -> int:
        """The rest of a verb, behind all that belongs to it: ``leg eine Aufgabe an: …``."""
        length = self._message.at("language.particles", index)
        end = index + length
        is_last = end >= self._end or self._message.tokens[end].mark in _TOLD
        return end if length and is_last else 0

    def _behind_links(self, index: int) -> int:
        """``daran, dass …``: several words may lead to a text."""
        link = self._message.at(f"{self._kind}.links", index)
        is_apart = index < self._end and self._message.tokens[index].mark
        return index + link if link and is_apart else index

    @cached_property
    def _due(self) -> Due:
        if self._kind != TASK:
            return NO_DAY
        return find_due(self._message, self._message.lexicon.code, today(), near=self._near)

    # --- the record

    def _towards(self, index: int) -> int:
        """The end of ``to the client``, ``for Acme Works:``; 0 where no record is spoken of."""
        length = self._message.at(f"{self._kind}.towards", index)
        start = index + length
        if not length:
            return 0
        end = self._reference(start)
        if end:
            self._refers = True
            return end
        end = self._name_end(start)
        if end:
            self._name = self._message.written(start, end).strip(SIGNS)
        elif self._particle(index):
            return start
        return end

    def _reference(self, index: int) -> int:
        """The end of words that stand for a record: ``it``, ``the client``, ``ticket T-000012``."""
        message = self._message
        for start in (index, message.skipped(index, "language.articles")):
            for path in ("language.things", "language.persons", KINDS):
                length = message.at(path, start)
                if length and start < self._end:
                    self._is_noun = path == KINDS
                    return self._whole_reference(start + length)
            if number := self._number(start):
                return start + number
        return 0

    def _whole_reference(self, index: int) -> int:
        """``this ticket``, ``ticket T-000012``: the rest of a reference, without a mark between."""
        for more in (self._message.at(KINDS, index), self._number(index)):
            if more and index < self._end and not self._message.tokens[index].mark:
                index += more
        return index

    def _number(self, index: int) -> int:
        return int(index < self._end and self._message.has_number(index))

    def _name_end(self, start: int) -> int:
        """Where a name ends: before what leads to a text; for some kinds at the end, too."""
        message = self._message
        for index in range(start, min(self._end, start + LONGEST_NAME) + 1):
            if index >= self._end:
                return index if self._kind in ("mail", SUMMARY) and index > start else 0
            is_told = message.tokens[index].mark in _TOLD
            is_linked = self._kind != TASK and message.at(f"{self._kind}.links", index)
            if index > start and (is_told or is_linked):
                return index
        return 0

    def _dative(self, index: int) -> int:
        """The end of a name before what it gets: ``schreib Eva Roth eine Mail``."""
        is_given = self._kind in ("mail", "note") and self._has_verb
        if not is_given or self._has_object or self._name or self._is_other(index):
            return 0
        for end in range(index + 1, min(self._end, index + LONGEST_NAME) + 1):
            following = self._message.skipped(end, "language.fillers")
            if following > end and self._message.at(f"{self._kind}.objects", following):
                self._name = self._message.written(index, end).strip(SIGNS)
                return end
        return 0

    def _is_other(self, index: int) -> bool:
        """Whether something else is to be made: "write a note about the mail"."""
        return bool(self._message.at_any(("task.objects", "note.objects", "mail.objects"), index))

    # --- the text

    def _is_record(self, index: int) -> bool:
        is_thing = self._message.at("language.things", index) or self._number(self._end - 1)
        return bool(is_thing) and self._reference(index) >= self._end

    def _text(self, index: int) -> str:
        """The quotation at a place, else the words from there on without those that say when."""
        pieces, message = [], self._message
        if quoted := self._quoted(index):
            return quoted
        for start, end in sorted(self._due.spans):
            if start >= index:
                pieces.append(message.written(index, start))
                index = end
        pieces.append(message.written(index, self._end) if index < self._end else "")
        text = " ".join(piece.strip(" ,") for piece in pieces if piece.strip(" ,"))
        return text.strip(SIGNS)

    def _quoted(self, index: int) -> str:
        """The quotation that begins at a word; in a text that is led to the marks are its own."""
        if self._is_led or index >= self._end:
            return ""
        text, token = self._message.text, self._message.tokens[index]
        if token.kind == "quoted":
            return token.text.strip()
        start = token.start + 1
        for mark in _QUOTATION.get(token.text, ""):
            if (end := text.find(mark, start)) >= 0:
                return text[start:end].strip()
        return ""


_PLAIN = tuple(f"language.{name}" for name in ("fillers", "leads", "polite", "things", "persons"))
