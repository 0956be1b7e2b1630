"""Whether a source bears what is said of it, and which addresses an answer may show (ADR 0039)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from app.ai.provider.sources import Sources
from app.search.analysis import Stems, stop_words, terms, words
from app.search.embedding import find_model

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
    """What a citation at the end of ``text`` is for."""
    return _END.split(text.strip())[-1].strip()


def is_borne(claim: str, texts: Sequence[str]) -> bool:
    """Whether the texts of an article say what a sentence says.

    Figures have to be there, its terms and its meaning nearly enough. A sentence in another
    language than its source is judged by its figures alone.
    """
    known = Sources()
    for text in texts:
        known.learn(text)
    if known.unknown_figures(claim):
        return False
    language, other = language_in(claim), language_in(" ".join(texts))
    if language != other:
        return True
    wanted = set(terms(claim, language))
    if len(wanted) < FEWEST_TERMS:
        return True
    there = set(terms(" ".join(texts), language))
    shared = len(wanted & there) / len(wanted)
    if language != "en" or find_model() is None:
        return shared >= BORNE_BY_WORDS
    return shared + _nearness(claim, tuple(texts)) >= BORNE


def has_something(claim: str, text: str) -> bool:
    """Whether a sentence shares a word or a figure with a record that it cites."""
    stem = Stems.of(language_in(claim))
    there = {stem(word) for word in words(text)}
    wanted = set(terms(claim, language_in(claim)))
    return len(wanted) < FEWEST_TERMS or bool(wanted & there)


def language_in(text: str) -> str:
    """The language whose little words a text has most; English where it has none."""
    said = list(words(text))
    return max(_LANGUAGES, key=lambda each: sum(word in stop_words(each) for word in said))


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
