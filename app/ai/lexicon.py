"""The words of a language, read from its file: which phrase of a list begins at a place.

A list is named by its path in the file, ``task.verbs``. Words are compared without case, accents,
hyphens and apostrophes; those of some lists (``INEXACT``) by their stems.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from app.bi.answering import nouns_of
from app.bi.periods.reader import is_one
from app.bi.words.tokens import Token, tokenise
from app.container.model import container
from app.localisation import catalogue
from app.localisation.data_files import data_beside
from app.search.analysis import fold, stemmer_of, stop_words
from app.search.slips import intended_stem

ENGLISH = "en"
KINDS = "kinds"
# Of what is exact, "open task" asks for one, and "open tasks" for those that there are.
INEXACT = ("verbs", KINDS, "fillers")
_UNCOUNTED = str.maketrans("", "", "'\u2019-")
# The number of a record: INV-2026-00042, T-000012.
RECORD_NUMBER = re.compile(
    r"(?<![\w-])(?P<number>(?P<prefix>[A-Za-z]{1,10})-(?:\d{4}-)?\d{3,12})(?![\w-])"
)
ADDRESS = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")
# What stands around a text or a name, and is no part of it.
SIGNS = " .:,;?!\n\t\"'\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
_LONGEST_KEY = 12
# Words that ask, wherever they stand, and those that do at the beginning.
ASKING = ("language.asking", "language.stating")
Phrase = tuple[str, ...]
# The path of a list in the file, or phrases of the model, which are compared by their stems.
Words = str | tuple[str, ...]


class Numbered(NamedTuple):
    """A record that is named by its kind and a number.

    From which word to which, and where its kind ends; the entity type; the digits where they are
    no formal number.
    """

    start: int
    kind_end: int
    end: int
    entity: str
    key: int | None


class Message:
    """A text and its tokens, with their words as a language compares them."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text = unicodedata.normalize("NFKC", text)
        self.tokens, self._exact = _read(self.text)
        self.lexicon = lexicon

    def without(self, path: Words) -> Message:
        """The same without the phrases of a list."""
        left = [index for index in range(len(self)) if not self.at(path, index)]
        return Message(" ".join(self.tokens[index].text for index in left), self.lexicon)

    def mended(self) -> Message:
        """The same with the words meant that were misspelt among the first ones."""
        message = Message(self.text, self.lexicon)
        message._exact = [
            _intended_word(word, self.lexicon.code) if index < _MENDED else word
            for index, word in enumerate(self._exact)
        ]
        return message

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _stems(self) -> Sequence[str]:
        return [self.lexicon.stem(word) for word in self._exact]

    def words(self, path: Words) -> Sequence[str]:
        """The words as those of a list are compared."""
        is_exact = isinstance(path, str) and path.rpartition(".")[2] not in INEXACT
        return self._exact if is_exact else self._stems

    def at(self, path: Words, index: int) -> int:
        """How many words the longest phrase of a list takes that begins at a place; 0 for none."""
        words = self.words(path)
        if not 0 <= index < len(words):
            return 0
        for phrase in self.lexicon.phrases(path).get(words[index], ()):
            if tuple(words[index : index + len(phrase)]) == phrase:
                return len(phrase)
        return 0

    def at_any(self, paths: Iterable[Words], index: int) -> int:
        """The same of the longest phrase of some lists."""
        return max((self.at(path, index) for path in paths), default=0)

    def starts(self, path: str, word: str) -> bool:
        """Whether a phrase of a list begins with a word."""
        return word in self.lexicon.phrases(path)

    def value(self, path: str, index: int) -> tuple[int, Any]:
        """What the phrase of a table stands for that begins at a place, and how long it is."""
        length = self.at(path, index)
        phrase = tuple(self.words(path)[index : index + length])
        return length, self.lexicon.values(path)[phrase] if length else None

    def places(self, path: Words) -> Iterator[tuple[int, int]]:
        """Where the phrases of a list stand: from which word to which."""
        index = 0
        while index < len(self):
            length = self.at(path, index)
            if length:
                yield index, index + length
            index += length or 1

    def has(self, *paths: Words) -> bool:
        """Whether a phrase of a list stands anywhere."""
        return any(next(self.places(path), None) is not None for path in paths)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The types of records that it names."""
        places = (start for start, _ in self.places(KINDS))
        return frozenset(self.value(KINDS, start)[1] for start in places)

    def skipped(self, index: int, *paths: str) -> int:
        """The place behind phrases of some lists that follow one another."""
        while length := self.at_any(paths, index):
            index += length
        return index

    def has_number(self, index: int) -> bool:
        """Whether the number of a record stands at a place, or its digits behind its kind."""
        is_there = 0 <= index < len(self)
        return is_there and (
            RECORD_NUMBER.fullmatch(self.tokens[index].text) is not None
            or any(each.start < index < each.end for each in self.numbered)
        )

    @cached_property
    def numbered(self) -> Sequence[Numbered]:
        """The records that are named by kind and number: ``ticket 431``, ``client no. 5``."""
        return tuple(self._numbered())

    def _numbered(self) -> Iterator[Numbered]:
        for start in range(len(self)):
            length, entity = self.value(KINDS, start)
            index = self.skipped(start + length, "records.marks")
            is_many = length and not is_one(self.tokens[start + length - 1])
            is_counted = is_many or self.at("records.before", start - 1)
            if not length or index >= len(self) or is_counted:
                continue
            token = self.tokens[index]
            is_count = self.at_any(("records.behind", KINDS), index + 1)
            if token.apart or (is_count and not self.tokens[index + 1].apart):
                continue
            is_set = entity in container().set_of_type
            is_key = is_set and token.text.isdecimal() and len(token.text) <= _LONGEST_KEY
            if is_key or RECORD_NUMBER.fullmatch(token.text):
                key = int(token.text) if is_key else None
                yield Numbered(start, start + length, index + 1, entity, key)

    def written(self, start: int, end: int | None = None) -> str:
        """The text from one word to another, as it was written."""
        if start >= len(self):
            return ""
        until = len(self.text) if end is None or end >= len(self) else self.tokens[end].start
        return self.text[self.tokens[start].start : until]


class Lexicon:
    """All lists of one language."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.data = data_beside(__file__, f"lexicons/{code}.toml")
        self.stem = stemmer_of(code)
        self._phrases: dict[Words, Mapping[str, Sequence[Phrase]]] = {}
        self._values: dict[str, Mapping[Phrase, Any]] = {}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """What records are called, as questions call them, or in the file -> their type."""
        return {**nouns_of(self.code), **self.data.get(KINDS, {})}

    def list_of(self, path: Words) -> Any:
        """A list or a table of the file; an empty one where it has none."""
        if not isinstance(path, str):
            return path
        if path == KINDS:
            return self.kinds
        value: Any = self.data
        for name in path.split("."):
            value = value.get(name, {})
        return value

    def phrases(self, path: Words) -> Mapping[str, Sequence[Phrase]]:
        """The phrases of a list by their first words, the longest first."""
        if path not in self._phrases:
            by_first: dict[str, list[Phrase]] = defaultdict(list)
            for text in self.list_of(path):
                phrase = self.phrase(path, text)
                by_first[phrase[0]].append(phrase)
            for phrases in by_first.values():
                phrases.sort(key=len, reverse=True)
            self._phrases[path] = by_first
        return self._phrases[path]

    def phrase(self, path: Words, text: str) -> Phrase:
        """A phrase of a list as it is compared."""
        return tuple(Message(text, self).words(path))

    def values(self, path: str) -> Mapping[Phrase, Any]:
        """What the phrases of a table stand for."""
        if path not in self._values:
            table = self.list_of(path).items()
            self._values[path] = {self.phrase(path, text): value for text, value in table}
        return self._values[path]


@cache
def lexicon_of(code: str) -> Lexicon:
    return Lexicon(code)


# What is asked of one message, by whatever asks, is read once, and its tokens for all languages.
@lru_cache(maxsize=32)
def message_of(text: str, code: str) -> Message:
    """A text as the words of a language."""
    return Message(text, lexicon_of(code)).mended()


# A request begins with its own words; what comes later is text.
_MENDED = 12
_SHORTEST_SLIP = 5
_PLURALS = ("s", "n", "r")


@lru_cache(maxsize=10_000)
def _intended_word(word: str, code: str) -> str:
    """The word of a language's file that a misspelt one was meant as; itself where none is."""
    if len(word) < _SHORTEST_SLIP or not word.isalpha():
        return word
    if any(word in _words_of(each) for each in languages()):
        return word
    meant = intended_stem(word, dict.fromkeys(_words_of(code), 1.0), str)
    stem = stemmer_of(code)
    # A plural is no slip: "open tasks" asks, and "open task" wants one.
    is_plural = word.endswith(_PLURALS) and stem(meant) == stem(word)
    # Nor is a participle: "verbuchte Zahlungen" asks, and "verbuche" wants it done.
    is_past = word.startswith(meant[:-1]) and word[len(meant) - 1 :].startswith("te")
    # "Kunde schreibt" tells, and "schreibe" wants it done.
    is_told = word.endswith("t") and word[:-1].startswith(meant[:-1])
    return meant if meant and not (is_plural or is_past or is_told) else word


@lru_cache(maxsize=8)
def _read(text: str) -> tuple[Sequence[Token], Sequence[str]]:
    """The tokens of a text, and their words as they are compared exactly."""
    tokens = tokenise(text)
    return tokens, [_bare(token.text) for token in tokens]


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file, English first."""
    names = (file.name for file in files(__package__).joinpath("lexicons").iterdir())
    codes = sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return (ENGLISH, *(code for code in codes if code != ENGLISH))


@cache
def spoken() -> tuple[str, ...]:
    """Those in which requests are understood without a model."""
    return tuple(code for code in languages() if "summary" in lexicon_of(code).data)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """How messages of a kind are known by their form, whatever language they are in.

    Args:
        name: that of ``texts/patterns.toml``.
    """
    parts: list[str] = data_beside(__file__, "texts/patterns.toml")[name]
    wholes = (part if part.startswith("^") else rf"\b(?:{part})\b" for part in parts)
    return re.compile("|".join(wholes), re.IGNORECASE)


def spoken_language(text: str, otherwise: str = ENGLISH) -> str:
    """The language to answer a text in: its own, where there is a catalogue of it."""
    code = language_of(text, otherwise)
    return code if code in catalogue.languages() else ENGLISH


def language_of(text: str, otherwise: str = ENGLISH) -> str:
    """The language that a text has most words of; ``otherwise`` where no other has more."""
    words = [_bare(token.text) for token in tokenise(text[:_ENOUGH])]

    has_umlauts = any(letter in "äöüß" for letter in text[:_ENOUGH].lower())

    def known(code: str) -> tuple[int, bool]:
        count = sum(word in _words_of(code) for word in words)
        return count + (has_umlauts and code == "de"), code == otherwise

    return max(languages(), key=known)


# A language is known by the beginning of a text.
_ENOUGH = 500


@cache
def _words_of(code: str) -> frozenset[str]:
    """Every word of the file, and the little words of the language."""
    lexicon = lexicon_of(code)
    return stop_words(code) | frozenset(_all_words([lexicon.data, list(lexicon.kinds)]))


def _all_words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (_bare(token.text) for token in tokenise(value))
        return
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _all_words(item)


def _bare(word: str) -> str:
    return fold(word).translate(_UNCOUNTED) or word


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


def is_number(token: Token) -> bool:
    number = token.number if token.kind == "number" else None
    return number is not None and number == number.to_integral_value()
