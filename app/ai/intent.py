"""Whether the caller's own message asks for a change (docs/adr/0039).

A model may be talked into a change by an article, a ticket or any other text that it reads. So
what it proposes is taken only where the words of the caller ask for a change of that kind: a
sentence of the message that wants it done, or a "yes" to the question whether to do it. What the
caller quotes, asks about or does not want is no wish. The words are in ``texts/wishes.toml``, and
those of an operation in its declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from app.ai.lexicon import RECORD_NUMBER
from app.ai.parts import Ask
from app.odata.names import apart
from app.search.analysis import stemmer_of, stop_words, words
from app.written.data_files import data_beside

# What stands between marks was said by others, or is the text of what is to be made.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]+)*[.!?]*")
_CLAUSE = re.compile(r"[,;:]|\b(?:and|then|but|und|dann|aber|et|puis|mais|y|luego|e|poi)\b", re.I)
_PHRASAL = re.compile(r"\bset(?:ting)?[ -]up\b", re.I)
_E_MAIL = re.compile(r"\be-mail", re.I)
_ADDRESS = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_LANGUAGES = ("en", "de", "fr", "es", "it")


class Wish:
    """How a change is asked for: by a verb with what it is done to, or by a word that says all.

    ``names`` are phrases that begin with the verb; one that is a verb alone has to be said of a
    record of the type ``record``, and so has each of ``phrases``. ``alone`` says all.
    """

    def __init__(
        self,
        *,
        verbs: str = "",
        objects: str = "",
        alone: str = "",
        names: Sequence[str] = (),
        phrases: Sequence[str] = (),
        record: str | None = None,
        takes_address: bool = False,
    ) -> None:
        self._record = record
        self._verbs = _stems(verbs)
        self._objects = _stems(objects)
        self._alone = frozenset(words(alone))
        self._names = tuple(map(_phrase, names))
        self._phrases = tuple(map(_phrase, phrases))
        self._takes_address = takes_address
        # Its own words are no little ones, whatever language they are little in.
        first = (next(words(phrase)) for phrase in (*names, *phrases))
        self._own = frozenset((*words(f"{verbs} {alone}"), *first))

    @classmethod
    def declared(cls, kind: str, *, objects: str = "", alone: str = "", **more: Any) -> Wish:
        """The wish that the file has as ``kind``, with more objects and words that say all."""
        declaration: dict[str, str] = _declared()[kind]
        return cls(
            verbs=declaration["verbs"],
            objects=f"{declaration.get('objects', '')} {objects}",
            alone=f"{declaration.get('alone', '')} {alone}",
            **more,
        )

    def is_in(self, sentence: str) -> bool:
        """Whether a sentence wants it done."""
        return any(self._is_wanted(clause) for clause in _clauses(sentence))

    def is_named(self, sentence: str) -> bool:
        """Whether a sentence speaks of it at all."""
        sentence_words = list(words(_hyphenless(sentence)))
        stems = _stems_of(sentence_words)
        things = self._objects | (_nouns(self._record) if self._record else frozenset())
        if (stems & self._verbs and stems & things) or set(sentence_words) & self._alone:
            return True
        return any(all(stems & word for word in phrase) for phrase in self._names + self._phrases)

    def _is_wanted(self, clause: _Clause) -> bool:
        little = _little_words() - self._own
        content = [word for word in clause.words if word not in little]
        # A wish begins with its verb, or ends with it: "eine Aufgabe anlegen".
        verbs = _stems_of([*content[:2], *content[-1:]])
        is_other = self._record is not None and clause.is_of_another(self._record)
        if not is_other and set(content[:1]) & self._alone:
            return True
        means_record = self._record is not None and clause.means(self._record)
        if verbs & self._verbs:
            is_addressed = self._takes_address and _ADDRESS.search(clause.text) is not None
            if is_addressed or means_record or clause.stems & self._objects:
                return True
        for phrase in (*self._names, *self._phrases):
            verb, *others = phrase
            says_all = bool(others) and phrase in self._names
            is_begun = verb & verbs and (says_all or means_record)
            if is_begun and all(word & clause.stems for word in others):
                return True
        return False


def nouns_of(entity: str) -> str:
    """What records of a type are called."""
    return f"{apart(entity)} {_declared()['types'].get(entity, '')}"


def alone_for(entity: str) -> str:
    """The words that ask for a new record of a type without naming it."""
    return str(_declared()["alone"].get(entity, ""))


def sentences_asking(ask: Ask, wish: Wish) -> list[str]:
    """The sentences in which the caller wants it; the message and what it answers to are looked at.

    None, and the caller does not want it.
    """
    sentences = list(filter(wish.is_in, _sentences(ask.text)))
    if sentences:
        return sentences
    earlier = list(ask.dialogue)
    if not earlier or earlier[-1][0] != "assistant" or "?" not in earlier[-1][1]:
        return []
    offers = [sentence for sentence in _sentences(earlier[-1][1]) if sentence.endswith("?")]
    if _is_yes(ask.text):
        return list(filter(wish.is_named, offers))
    if ask.text.rstrip().endswith("?"):
        return []
    # An answer to what was asked back: the wish is that of the message before.
    before = next((text for role, text in reversed(earlier) if role == "user"), "")
    sentences = list(filter(wish.is_in, _sentences(before)))
    return [*sentences, ask.text] if sentences else []


def is_said(name: str, value: Any, sentences: Iterable[str]) -> bool:
    """Whether one of the sentences names a property, by the last of its words, or has its value."""
    head = head_of(name)
    value_words = list(words(str(value)))
    for sentence in sentences:
        sentence_words = list(words(_hyphenless(sentence)))
        if _stems(head) & _stems_of(sentence_words) or (
            value_words and set(value_words) <= set(sentence_words)
        ):
            return True
    return False


def head_of(name: str) -> str:
    """What a property is called in short: ``billingAddress`` -> ``Address``."""
    return apart(name.removesuffix("Id")).split()[-1]


@dataclass(frozen=True)
class _Clause:
    """A part of a sentence that may want something, and its words."""

    text: str
    words: tuple[str, ...]
    stems: frozenset[str]

    def means(self, entity: str) -> bool:
        """Whether it speaks of a record of a type: by a noun, its number, or a word such as it."""
        if self.stems & _nouns(entity):
            return True
        is_meant = (
            bool(_words("pronouns") & set(self.words))
            or RECORD_NUMBER.search(self.text) is not None
        )
        return is_meant and not self.is_of_another(entity)

    def is_of_another(self, entity: str) -> bool:
        """Whether it names another type of records, and not this one."""
        if self.stems & _nouns(entity):
            return False
        return any(self.stems & _nouns(other) for other in _declared()["types"])


@lru_cache(maxsize=1024)
def _clauses(sentence: str) -> tuple[_Clause, ...]:
    """The clauses that want something; none of a question that asks how or whether."""
    sentence = _PHRASAL.sub("setup", _hyphenless(sentence))
    first = next(words(sentence), "")
    is_question = sentence.endswith("?")
    if is_question and first in _words("stating") | _words("asking"):
        return ()
    clauses = []
    for clause in _CLAUSE.split(sentence):
        clause_words = tuple(words(clause))
        if set(clause_words) & (_words("not") | _words("asking")):
            continue
        if is_question and ("i" in clause_words[:3] or set(clause_words[1:2]) & _words("any")):
            continue  # "can I close it?" asks whether
        clauses.append(_Clause(clause, clause_words, _stems_of(clause_words)))
    return tuple(clauses)


def _hyphenless(text: str) -> str:
    return _E_MAIL.sub("email", text)


def _phrase(text: str) -> tuple[frozenset[str], ...]:
    """The stems of each word."""
    return tuple(map(_stems_of_word, words(text)))


@cache
def _nouns(entity: str) -> frozenset[str]:
    return _stems(nouns_of(entity))


@cache
def _declared() -> dict[str, Any]:
    return data_beside(__file__, "texts/wishes.toml")


@cache
def _words(kind: str) -> frozenset[str]:
    """A closed class of words."""
    return frozenset(words(_declared()["words"][kind]))


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(_QUOTED.sub(" ", text)):
        yield match.group().strip()


def _is_yes(text: str) -> bool:
    text_words = list(words(text))
    return (
        bool(text_words)
        and len(text_words) <= 12
        and all(word in _words("yes") for word in text_words)
    )


@cache
def _little_words() -> frozenset[str]:
    """What a wish may begin with before its verb."""
    known = frozenset[str]().union(*map(stop_words, _LANGUAGES))
    return known | _words("little")


def _stems(text: str) -> frozenset[str]:
    return _stems_of(words(text))


def _stems_of(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_stems_of_word, tokens))


@lru_cache(maxsize=10_000)
def _stems_of_word(word: str) -> frozenset[str]:
    """The stem of each language: nobody says which it is in."""
    return frozenset(stemmer_of(language)(word) for language in _LANGUAGES)
