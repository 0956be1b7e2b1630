"""Whether the caller's own message asks for a change (docs/adr/0039).

A model may be talked into a change by an article, a ticket or any other text that it reads. So
what it proposes is taken only where the words of the caller ask for a change of that kind: a
sentence of the message that wants it done, or a "yes" to the question whether to do it. What the
caller quotes, asks about or does not want is no wish. The words are those of the lexicons, the
names of the model, and what an operation's declaration has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from app.ai.lexicon import (
    ADDRESS,
    ASKING,
    ENGLISH,
    KINDS,
    RECORD_NUMBER,
    Message,
    Words,
    languages,
    lexicon_of,
)
from app.ai.parts import Ask
from app.odata.names import apart
from app.search.analysis import stop_words, words

# What stands between marks was said by others, or is the text of what is to be made.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]+)*[.!?]*")
# Verbs of changes of a value; what raises and lowers a number.
RAISING, LOWERING = "raise.verbs", "lower.verbs"
CHANGING = ("update.verbs", RAISING, LOWERING)
_PARTING = (",", ";", ":")


class Wish:
    """How a change is asked for: by a verb with what it is done to, or by a word that says all.

    ``kinds`` are sections of the lexicons with ``verbs``, ``objects`` and ``alone``; ``objects``
    and ``alone`` are more of those, and ``makes`` is a type whose names are. ``phrases`` begin
    with a verb; one that is a verb alone has to be said of a record of the type ``record``, and so
    has each of ``asked_by``.
    """

    def __init__(
        self,
        *kinds: str,
        makes: str | None = None,
        objects: Iterable[str] = (),
        alone: Iterable[str] = (),
        phrases: Iterable[str] = (),
        asked_by: Iterable[str] = (),
        record: str | None = None,
        takes_address: bool = False,
    ) -> None:
        self._verbs, self._objects, self._alone = (
            [f"{kind}.{part}" for kind in kinds] for part in ("verbs", "objects", "alone")
        )
        self._objects += [f"{kind}.kept" for kind in kinds]
        # What is begun with a thing is all that is said of it: "todo"; "new" wants a thing.
        begun = [f"{kind}.begun" for kind in kinds]
        says_begun = [
            f"{kind}.begun" for kind in kinds if lexicon_of(ENGLISH).list_of(f"{kind}.objects")
        ]
        self._begun = [each for each in begun if each not in says_begun], says_begun
        self._things: Sequence[Words] = (*self._objects, tuple(objects))
        self._says_all = frozenset(alone)
        self._makes = makes
        self._phrases = [(text.split(), len(text.split()) > 1) for text in phrases]
        self._phrases += [(text.split(), False) for text in asked_by]
        # "Buche aus" is one word where it stands last: "ausbuchen".
        particles = {each for code in languages()
                     for each in lexicon_of(code).list_of("language.particles")}  # fmt: skip
        joined = (text.split() for text in asked_by if text.split()[-1] in particles)
        self._phrases += [([f"{last}{first}"], False) for first, last in joined]
        self._record, self._takes_address = record, takes_address

    def is_in(self, sentence: str) -> bool:
        """Whether a sentence wants it done."""
        return any(map(self.strength, chain.from_iterable(clauses_of(sentence))))

    def is_named(self, sentence: str) -> bool:
        """Whether a sentence speaks of it at all."""
        for message in _messages(sentence):
            is_done_to = message.has(*self._things) or message.kinds & {self._makes, self._record}
            if (message.has(*self._verbs) and is_done_to) or message.has(*self._alone):
                return True
            if any(all(message.has((word,)) for word in each) for each, _ in self._phrases):
                return True
        return False

    def strength(self, clause: Message, record: str | None = None) -> int:
        """How many words of a clause want it done; 0 where it is not wanted.

        The clause begins with the verb, or ends with it.

        Args:
            record: the type of the record that is looked at, which needs no word then, nor does
                what only begins a wish say less than a verb.
        """
        begun, says_begun = self._begun if record is not None else ([], [])
        verbs: Sequence[Words] = [*self._verbs, *begun]
        alone = [*self._alone, *says_begun]
        own = [*verbs, *alone, *((each[0],) for each, _ in self._phrases)]
        little = stop_words(clause.lexicon.code)
        content = [index for index, word in enumerate(clause.words("")) if clause.at_any(own, index)
                   or not (word in little or clause.at_any(_LITTLE, index)
                           or (record and clause.tokens[index].number))]  # fmt: skip
        edges = [*content[:2], *content[-1:]]
        is_looked_at = self._record is not None and record == self._record
        is_other = self._record is not None and is_of_another(clause, self._record)
        is_other = is_other and not is_looked_at
        strengths = [0]
        if content and not is_other:
            is_alone = clause.words("")[content[0]] in self._says_all
            strengths.append(max(is_alone, clause.at_any(alone, content[0])))
        is_meant = self._record is not None and (
            is_looked_at or self._record in clause.kinds or has_reference(clause)
        )
        means_record = is_meant and not is_other
        if verb := max((clause.at_any(verbs, index) for index in edges), default=0):
            is_addressed = self._takes_address and ADDRESS.search(clause.text) is not None
            if self._makes in clause.kinds or clause.has(*self._things):
                strengths.append(verb + 1)
            elif is_addressed or means_record:
                strengths.append(verb)
        strengths += (
            len(each) + self._is_direct(clause, each[0])
            for each, says_all in self._phrases
            if (
                says_all
                or means_record
                or (len(each) > 1 and (is_meant or _has_kind(clause, each)))
            )
            and any(clause.at((each[0],), index) for index in edges)
            and all(clause.has((word,)) for word in each[1:])
        )
        return max(strengths)

    def _is_direct(self, clause: Message, verb: str) -> bool:
        """Whether the record stands right behind the verb: ``email this invoice``."""
        for _, end in clause.places((verb,)):
            index = clause.skipped(end, "language.articles", "language.things")
            if clause.at(KINDS, index) and clause.value(KINDS, index)[1] == self._record:
                return True
        return False


def _has_kind(clause: Message, phrase: Sequence[str]) -> bool:
    """Whether a phrase names what it makes: ``buche zahlung``, and not ``buche aus``."""
    places = (start for word in phrase[1:] for start, _ in clause.places((word,)))
    return any(clause.at(KINDS, start) for start in places)


_LITTLE = ("language.fillers", "language.leads", "language.polite", "language.little")


def has_reference(message: Message) -> bool:
    """Whether it has a word that stands for a record, or the number of one."""
    is_meant = message.has("language.things", "language.persons")
    return is_meant or RECORD_NUMBER.search(message.text) is not None


def is_of_another(message: Message, entity: str) -> bool:
    """Whether it names another type of records, and not this one."""
    return bool(message.kinds) and entity not in message.kinds


def sentences_asking(ask: Ask, wish: Wish) -> list[str]:
    """The sentences in which the caller wants it; the message and what it answers to are looked at.

    None, and the caller does not want it.
    """
    sentences = list(filter(wish.is_in, sentences_of(ask.text)))
    if sentences:
        return sentences
    earlier = list(ask.dialogue)
    if not earlier or earlier[-1][0] != "assistant" or "?" not in earlier[-1][1]:
        return []
    offers = [each for each in sentences_of(earlier[-1][1]) if each.endswith("?")]
    if _is_yes(ask.text):
        return list(filter(wish.is_named, offers))
    if ask.text.rstrip().endswith("?"):
        return []
    # An answer to what was asked back: the wish is that of the message before.
    before = next((text for role, text in reversed(earlier) if role == "user"), "")
    sentences = list(filter(wish.is_in, sentences_of(before)))
    return [*sentences, ask.text] if sentences else []


def is_said(name: str, value: Any, sentences: Iterable[str]) -> bool:
    """Whether one of the sentences names a property, by the last of its words, or has its value."""
    value_words = set(words(str(value)))
    return any(
        any(message.has((head_of(name),)) for message in _messages(sentence))
        or (value_words and value_words <= set(words(sentence)))
        for sentence in sentences
    )


def head_of(name: str) -> str:
    """What a property is called in short: ``billingAddress`` -> ``Address``."""
    return apart(name.removesuffix("Id")).split()[-1]


@lru_cache(maxsize=1024)
def clauses_of(sentence: str) -> tuple[Sequence[Message], ...]:
    """The clauses that want something, each in the words of every language; none of a question
    that asks whether."""
    is_question = sentence.endswith("?")
    if is_question and any(each.at_any(ASKING, 0) for each in _messages(sentence)):
        return ()
    return tuple(
        _messages(text)
        for text in _apart(_messages(sentence))
        if not _is_asked_or_not(text, is_question=is_question)
    )


def _is_asked_or_not(text: str, *, is_question: bool) -> bool:
    for message in _messages(text):
        if message.has("language.asking", "language.negations"):
            return True
        # "Can I close it?" asks whether, and so does "can a ticket be closed?".
        is_whether = message.at("language.whether", 0) or message.at("language.whether", 1)
        if is_question and is_whether:
            return True
    return False


def _apart(messages: Sequence[Message]) -> Iterator[str]:
    """The clauses of a sentence, of which it is read in several languages."""
    start, first = 0, messages[0]
    for index in range(1, len(first) + 1):
        is_end = index == len(first) or first.tokens[index].mark in _PARTING
        joint = max(message.at("language.joints", index) for message in messages)
        if index >= start and (is_end or joint):
            yield first.written(start, index)
            start = index + joint


@lru_cache(maxsize=256)
def _messages(text: str) -> Sequence[Message]:
    """A text in the words of each language: nobody says which it is in."""
    return [Message(text, lexicon_of(code)) for code in languages()]


def sentences_of(text: str) -> Iterator[str]:
    """What the caller says, without what others said."""
    for match in _SENTENCE.finditer(_QUOTED.sub(" ", text)):
        yield match.group().strip()


def _is_yes(text: str) -> bool:
    messages = _messages(text)
    paths = ("language.agreeing", "language.polite")
    count = len(messages[0])
    return 0 < count <= 12 and all(
        any(message.at_any(paths, index) for message in messages) for index in range(count)
    )
