"""What a message asks for: a kind of request, of which record, when, and with which text.

A request begins with words that its language's file knows (``lexicons``), in any order: what is to
be done (``verbs``), with what (``objects``), or one that says both (``alone``); the record, the
day, and words that say nothing. Behind a word that leads to it (``links``), a mark, or where
nothing is known any more, the text begins, in the caller's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, time
from functools import cached_property

from app.ai.due import Due, find_due
from app.ai.lexicon import (
    ASKING,
    KINDS,
    SIGNS,
    Lexicon,
    Message,
    language_of,
    languages,
    lexicon_of,
    message_of,
    spoken,
)
from app.settings.days import today

TASK, NOTE, MAIL, SUMMARY = REQUESTS = ("task", "note", "mail", "summary")
# A request is known by its beginning, and what a record or a state is called is short.
LONGEST_HEAD = 40
LONGEST_NAME = 6
_TOLD = ("(", ":", ",", "-", ";")

# Opening quotation marks that make no one token -> those that close them.
_QUOTATION = {"\u201e": "\u201c\u201d", "\u00ab": "\u00bb", "\u00bb": "\u00ab"}


@dataclass(frozen=True)
class Request:
    """What is asked for.

    ``name``: what the record is called; without one that of the conversation is meant.
    ``is_whole``: it says both what is to be done and with what, or speaks of the record.
    ``link``: what leads to the text: ``about``, ``that``.
    """

    kind: str
    language: str
    text: str = ""
    name: str = ""
    due: date | None = None
    at: time | None = None
    is_whole: bool = False
    link: str = ""
    is_strong: bool = False

    @property
    def strength(self) -> int:
        """How many words say what is wanted, as those of other wishes are counted."""
        return 2 if self.is_strong else 1

    @property
    def is_open(self) -> bool:
        """Whether it does not say yet what is to be done."""
        return self.kind == TASK and not self.text


def read_request(text: str) -> Request | None:
    """What a message asks for; None where it asks for none of these."""
    likeliest = language_of(text)
    for code in sorted(spoken(), key=lambda each: each != likeliest):
        lexicon = lexicon_of(code)
        for wording in _wordings(text, lexicon):
            request = _Head(wording, lexicon).request()
            if request is not None:
                return request
    return None


def is_shown(text: str) -> bool:
    """Whether a message asks for a record whose number it names, and for nothing else."""
    for code in languages():
        message = message_of(text, code)
        words = ("language.fillers", "language.leads", "language.polite", "language.things",
                 KINDS, "show.words")  # fmt: skip
        index = 0
        while index < len(message) and (
            step := message.at_any(words, index) or message.has_number(index)
        ):
            index += step
        if index == len(message):
            return True
    return False


def is_asked(text: str) -> bool:
    """Whether a message begins as a question does."""
    return any(message_of(text, code).at_any(ASKING, 0) for code in languages())


def is_how_to(text: str) -> bool:
    """Whether a message asks how something is done, or whether it can be."""
    return any(message_of(text, code).at("language.how_to", 0) for code in languages())


def _wordings(text: str, lexicon: Lexicon) -> Iterator[str]:
    """A message, and with a verb that stands last put first: ``eine Aufgabe anlegen``.

    Who begins with "can you" has the verb last, whatever the words between could mean.
    """
    message = message_of(text, lexicon.code)
    start = message.skipped(0, "language.leads", "language.polite")
    turned = list(_turned(message, start, tuple(lexicon.data["language"].get("last", ()))))
    yield from (*turned, text) if start else (text, *turned)


def _turned(message: Message, start: int, endings: tuple[str, ...]) -> Iterator[str]:
    if not endings or message.at_any(ASKING, start):
        return
    for index in range(start + 1, min(len(message), LONGEST_HEAD)):
        token = message.tokens[index]
        if token.text.lower().endswith(endings) and any(
            message.at(f"{kind}.verbs", index) or _ends_alone(message, index) for kind in REQUESTS
        ):
            before = message.written(start, index)
            after = message.text[token.start + len(token.text) :]
            yield f"{token.text} {before.rstrip()}{after}"


def _ends_alone(message: Message, index: int) -> bool:
    """Whether a word begins what says all by itself, in its form that stands last."""
    word = message.words("alone")[index]
    return any(message.starts(f"{kind}.alone", word) for kind in REQUESTS)


class _Head:
    """The beginning of a message, read word by word."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._message = message_of(text, lexicon.code)
        self._end = len(self._message)
        while self._end and self._message.at("language.polite", self._end - 1):
            self._end -= 1
        self._verbs: set[str] = set()
        self._objects: set[str] = set()
        self._alone: set[str] = set()
        self._kept = ""
        self._name = ""
        self._refers = False
        self._is_noun = False  # what stands for the record is what such records are called

    def request(self) -> Request | None:
        """The request; None where it is none."""
        index = self._read()
        kind = self._kind()
        if index < 0 or kind is None:
            return None
        return self._of_kind(kind, index)

    # --- the beginning

    _is_led = False  # whether a word or a mark led to the text
    _link_text = ""  # the word
    _is_addressed = False  # "remind me" wants something of the assistant, "task" may be asked for

    def _read(self) -> int:
        """Where the text begins; -1 where it is not wanted."""
        message, index = self._message, 0
        while index < min(self._end, LONGEST_HEAD):
            kind = self._kind()
            if kind is not None and message.tokens[index].mark in _TOLD:
                self._is_led = True
                return self._behind_links(kind, index)
            end = self._due.end_at(index) if self._may_be_dated else 0
            if not end and kind is not None:
                end = self._towards(kind, index)
            if not end and (link := self._link(kind, index)):
                self._is_led = True
                self._link_text = message.written(index, index + link).strip()
                return self._behind_links(self._kind() or "", index + link)
            is_alone = message.at_any(self._alone_paths, index)
            if not end and not is_alone and message.at("language.negations", index):
                return -1
            end = end or self._known(index) or self._dative(index)
            if not end:
                return index
            index = end
        return self._end

    _alone_paths = tuple(f"{kind}.alone" for kind in REQUESTS)

    def _kind(self) -> str | None:
        """The kind of request, as far as it is read."""
        for kinds in (self._verbs & self._objects, self._alone):
            for kind in REQUESTS:
                if kind in kinds:
                    return kind
        return None

    def _known(self, index: int) -> int:
        """The end of the longest phrase that says what is wanted, or nothing."""
        message = self._message
        if TASK in self._alone and message.at("language.persons", index):
            return 0  # "erinnere mich, sie anzurufen"
        lengths = {
            (kind, part): message.at(f"{kind}.{part}", index)
            for kind in REQUESTS
            for part in ("alone", "begun", "verbs", "objects")
        }
        noted = message.at("note.kept", index) if NOTE in self._verbs else 0
        plain = max(
            message.at(f"language.{name}", index)
            for name in ("fillers", "leads", "polite", "things", "persons")
        )
        longest = max(
            *lengths.values(), noted, plain, message.at(KINDS, index), self._number(index)
        )
        if not longest:
            return self._particle(index)
        for (kind, part), length in lengths.items():
            if length == longest:
                sets = {"verbs": self._verbs, "objects": self._objects}
                sets.get(part, self._alone).add(kind)
        self._is_addressed |= lengths[TASK, "alone"] == longest > 1
        if noted == longest:
            self._objects.add(NOTE)
            self._kept = message.written(index, index + noted).strip(SIGNS)
        if self._reference(index) == index + longest:
            self._refers = True
        return index + longest

    def _particle(self, index: int) -> int:
        """The rest of a verb, behind all that belongs to it: ``leg eine Aufgabe an: …``."""
        length = self._message.at("language.particles", index)
        end = index + length
        is_last = end >= self._end or self._message.tokens[end].mark in _TOLD
        return end if length and is_last else 0

    def _link(self, kind: str | None, index: int) -> int:
        return 0 if kind is None else self._message.at(f"{kind}.links", index)

    def _behind_links(self, kind: str, index: int) -> int:
        """``daran, dass …``: several words may lead to a text."""
        link = self._message.at(f"{kind}.links", index)
        is_apart = index < self._end and self._message.tokens[index].mark
        return index + link if link and is_apart else index

    @property
    def _may_be_dated(self) -> bool:
        return TASK in self._alone | (self._verbs & self._objects)

    @cached_property
    def _due(self) -> Due:
        return find_due(self._message, self._lexicon.code, today())

    # --- the record

    def _towards(self, kind: str, index: int) -> int:
        """The end of ``to the client``, ``for Acme Works:``; 0 where no record is spoken of."""
        length = self._message.at(f"{kind}.towards", index)
        start = index + length
        if not length:
            return 0
        end = self._reference(start)
        if end:
            self._refers = True
            return end
        end = self._name_end(kind, start)
        if end:
            self._name = self._message.written(start, end).strip(SIGNS)
        elif self._particle(index):
            return start
        return end

    def _reference(self, index: int) -> int:
        """The end of words that stand for a record: ``it``, ``the client``, ``ticket T-000012``."""
        message = self._message
        start = index
        for paths in ((), ("language.articles",)):
            index = message.skipped(start, *paths) if paths else start
            for path in ("language.things", "language.persons", KINDS):
                length = message.at(path, index)
                if length and index < self._end:
                    self._is_noun = path == KINDS
                    return self._whole_reference(index + length)
            if number := self._number(index):
                return index + number
        return 0

    def _whole_reference(self, index: int) -> int:
        """``this ticket``, ``ticket T-000012``: the rest of a reference, without a mark between."""
        for more in (self._message.at(KINDS, index), self._number(index)):
            if more and index < self._end and not self._message.tokens[index].mark:
                index += more
        return index

    def _number(self, index: int) -> int:
        return int(index < self._end and self._message.has_number(index))

    def _name_end(self, kind: str, start: int) -> int:
        """Where a name ends: before what leads to a text; for some requests at the end, too."""
        message = self._message
        for index in range(start, min(self._end, start + LONGEST_NAME) + 1):
            if index >= self._end:
                return index if kind in (MAIL, SUMMARY) and index > start else 0
            is_told = message.tokens[index].mark in _TOLD
            is_linked = kind != TASK and message.at(f"{kind}.links", index)
            if index > start and (is_told or is_linked):
                return index
        return 0

    def _dative(self, index: int) -> int:
        """The end of a name before what it gets: ``schreib Eva Roth eine Mail``."""
        kinds = self._verbs & {NOTE, MAIL}
        if not kinds or self._objects or self._name:
            return 0
        for end in range(index + 1, min(self._end, index + LONGEST_NAME) + 1):
            following = self._message.skipped(end, "language.fillers")
            if following > end and any(
                self._message.at(f"{kind}.objects", following) for kind in kinds
            ):
                self._name = self._message.written(index, end).strip(SIGNS)
                return end
        return 0

    # --- the text

    def _of_kind(self, kind: str, index: int) -> Request | None:
        is_strong = kind in self._verbs & self._objects
        is_whole = is_strong or self._refers or (kind == TASK and self._is_addressed)
        is_whole = is_whole or (kind == NOTE and bool(self._link_text))
        request = Request(kind, self._lexicon.code, self._text(index), self._name,
                          is_whole=is_whole, link=self._link_text, is_strong=is_strong)  # fmt: skip
        if kind == TASK:
            text = self._text(index, without=self._due)
            request = replace(request, text=text, due=self._due.day, at=self._due.at)
            return request if is_strong or text or self._is_addressed else None
        if kind == NOTE:
            mark = ": " if self._is_led else " "
            text = f"{self._kept}{mark}{request.text}" if self._kept else request.text
            is_wanted = request.text and (is_strong or self._is_led or self._name or self._refers)
            return replace(request, text=text) if is_wanted else None
        if kind == MAIL:
            is_about = bool(request.text) and self._is_reference(index)
            request = replace(request, text="" if is_about else request.text)
            return request if is_strong or self._is_led or self._name or self._refers else None
        is_record = self._refers or self._reference(index) >= self._end > index
        if self._message.at_any(ASKING, 0) and self._is_noun and not self._name:
            return None  # "who is the client?" asks for one of the record
        is_asked = self._message.at_any(ASKING, index)
        is_name = self._end - index <= LONGEST_NAME and not is_asked
        if request.text and not (is_record or self._name or is_name):
            return None
        return replace(request, text="", name=self._name or ("" if is_record else request.text))

    def _is_reference(self, index: int) -> bool:
        """Whether the text is nothing but the record: ``it``, its number."""
        is_thing = self._message.at("language.things", index) or self._number(self._end - 1)
        return bool(is_thing) and self._reference(index) >= self._end

    def _text(self, index: int, without: Due | None = None) -> str:
        """The quotation at a place, else the words from there on without those that say when."""
        pieces, message = [], self._message
        if quoted := self._quoted(index):
            return quoted
        for start, end in sorted(without.spans if without else ()):
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
