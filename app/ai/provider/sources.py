"""What the model was given to speak from, and whether it bears what is said of it (ADR 0039).

Sources are numbered, and every figure in them is known; addresses that none of them has are left
out of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from app.ai.parts import Citation
from app.search.analysis import stemmer_of, stop_words, terms, words
from app.search.embedding import find_model

_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d.,' \u00a0\u202f]*\d(?!\w)|(?<![\w.,])-?\d(?![\w])")
# One to twelve count things that are in sight, or number the lines of a list.
SMALL = 12


class Sources:
    """The sources of one answer; their numbers begin at 1."""

    def __init__(self) -> None:
        self._citations: list[Citation] = []
        self._texts: list[str] = []
        self._figures: set[str] = set()

    def add(self, citation: Citation, text: str) -> int:
        """The number of a source; the same one keeps its number, and has one more text.

        Args:
            text: what the model is given of it.
        """
        for index, known in enumerate(self._citations):
            if (known.type, known.id, known.url) == (citation.type, citation.id, citation.url):
                if text not in self._texts[index]:
                    self._texts[index] += f"\n{text}"
                return index + 1
        self._citations.append(citation)
        self._texts.append(f"{citation.title}\n{text}")
        return len(self._citations)

    def text_of(self, number: int) -> str:
        """What the model was given of a source, its title first."""
        return self._texts[number - 1]

    def find(self, number: int) -> Citation | None:
        """The source of a number; None for one that was never given."""
        return self._citations[number - 1] if 0 < number <= len(self._citations) else None

    def learn(self, text: str) -> None:
        """Take in the figures of a text that the model may repeat."""
        for written in _numbers(text):
            for reading in _readings(written):
                # Rounded figures count: 1234.50 EUR may be said as 1234, or as 1235.
                whole, dot, _ = reading.partition(".")
                self._figures |= {reading, whole}
                if dot and whole.isdigit():
                    self._figures.add(str(int(whole) + 1))

    def unknown_figures(self, text: str) -> list[str]:
        """Figures that the model said and nobody gave it, in their order."""
        figures = dict.fromkeys(_numbers(text))
        return [
            written
            for written in figures
            if not (written.isdigit() and int(written) <= SMALL)
            and not _readings(written) & self._figures
        ]


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield match.group().strip(" .,'")


def _readings(written: str) -> set[str]:
    """A figure in one notation: ``1,234.50`` is ``1234.5``, and may be ``1.234,50`` elsewhere."""
    bare = re.sub(r"[ '\u00a0\u202f]", "", written).lstrip("-")
    readings = {bare.replace(",", ""), bare.replace(".", "").replace(",", ".")}
    values = set()
    for reading in readings:
        try:
            values.add(format(Decimal(reading).normalize(), "f"))
        except InvalidOperation:
            values.add(reading)  # a date, a version: as it is written
    return values


# Shared terms and nearness together, each up to 1: of sentences that their article says, and of
# such that it does not, nearly all stand on their side (tests/ai/provider/test_obedient_model.py).
BORNE = 0.95
# The same by words alone, where there is no model or it does not know the language.
BORNE_BY_WORDS = 0.5
# Fewer terms say nothing that could be looked up: "Yes, you can."
FEWEST_TERMS = 2
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt")
LINK = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:)?//[^\s<>\"'\u201d\u00bb)\]]+"
    r"|(?:mailto|javascript|data|tel):[^\s<>\"')\]]+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[^\s<>\"'\u201d\u00bb)\]]*)"
    r"|(?<![\w@.-])www\.[^\s<>\"'\u201d\u00bb)\]]+",
    re.IGNORECASE,
)
REMOVED = "(link left out)"
NOT_BORNE = " (The source does not say this.)"


def last_sentence(text: str) -> str:
    return _END.split(text.strip())[-1].strip()


def is_borne(claim: str, texts: Sequence[str]) -> bool:
    """Whether the texts of an article say what a sentence says.

    Figures have to be there, its terms and its meaning nearly enough. A sentence in another
    language than its source is judged by its figures alone.
    """
    sources = Sources()
    for text in texts:
        sources.learn(text)
    if sources.unknown_figures(claim):
        return False
    language, other = language_in(claim), language_in(" ".join(texts))
    if language != other:
        return True
    claim_terms = set(terms(claim, language))
    if len(claim_terms) < FEWEST_TERMS:
        return True
    there = set(terms(" ".join(texts), language))
    shared = len(claim_terms & there) / len(claim_terms)
    if language != "en" or find_model() is None:
        return shared >= BORNE_BY_WORDS
    return shared + _nearness(claim, tuple(texts)) >= BORNE


def has_something(claim: str, text: str) -> bool:
    """Whether a sentence shares a word or a figure with a record that it cites."""
    stem = stemmer_of(language_in(claim))
    there = {stem(word) for word in words(text)}
    claim_terms = set(terms(claim, language_in(claim)))
    return len(claim_terms) < FEWEST_TERMS or bool(claim_terms & there)


def language_in(text: str) -> str:
    """The language whose little words a text has most; English where it has none."""
    text_words = list(words(text))
    return max(_LANGUAGES, key=lambda each: sum(word in stop_words(each) for word in text_words))


def without_foreign_links(text: str, known: Collection[str], own_host: str | None) -> str:
    """The text with addresses left out that are neither ours nor in one of the texts ``known``."""

    def checked_link(match: re.Match[str]) -> str:
        address = match.group().rstrip(".,;:!?")
        rest = match.group()[len(address) :]
        is_ours = own_host is not None and urlsplit(address).netloc.lower() == own_host
        is_known = is_ours or any(address in each for each in known)
        return f"{address}{rest}" if is_known else f"{REMOVED}{rest}"

    return LINK.sub(checked_link, text)


def _nearness(claim: str, texts: tuple[str, ...]) -> float:
    model = find_model()
    assert model is not None
    vectors = _vectors_of(texts)
    return float((vectors @ model.embed([claim])[0]).max()) if len(vectors) else 0.0


@lru_cache(maxsize=64)
def _vectors_of(texts: tuple[str, ...]) -> Any:
    """The vectors of the sentences, and of neighbours together."""
    model = find_model()
    assert model is not None
    return model.embed(list(_windows(texts)))


def _windows(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        sentences = [sentence for sentence in _END.split(text) if sentence.strip()]
        yield from sentences
        yield from map(" ".join, pairwise(sentences))
