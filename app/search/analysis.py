"""Texts to terms: what counts as the same word when texts are found by their words.

The same on both databases: neither takes part (docs/adr/0041).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path

# Languages whose endings and little words are known; others keep their words as they are.
STEMMERS = {
    "da": "danish", "de": "german", "en": "porter", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
# No word is longer; what is, is no word (a key, an encoded file) and is cut.
LONGEST_WORD = 64
_FOLDER = Path(__file__).parent / "texts"
_WORD = re.compile(r"[^\W_]+")
# Scripts without blanks between words: pairs of neighbours stand for words.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0002fa1f]+)")
_CACHED_STEMS = 50_000


def language_of(tag: str | None) -> str:
    """``de-AT`` -> ``de``; English where nothing is said."""
    return (tag or "en").partition("-")[0].lower()


def terms(text: str, language: str) -> list[str]:
    """The terms of a text in its order: folded, without little words, as stems.

    Args:
        language: two letters; another language than those known leaves the words whole.
    """
    known = stop_words(language)
    stem = stemmer_of(language)
    return [stem(word) for word in words(text) if word not in known]


def words(text: str) -> Iterator[str]:
    """The words of a text, without accents and case."""
    for match in _WORD.finditer(fold(text)):
        word = match.group()
        if word.isascii() or not _UNSPACED.search(word):
            yield word[:LONGEST_WORD]
        else:
            yield from _unspaced(word)


def fold(text: str) -> str:
    """Text without case and accents: ``Größe`` -> ``grosse``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that stand in every text of a language and tell nothing."""
    path = _FOLDER / f"stop_words_{language}.txt" if language in STEMMERS else None
    if path is None or not path.exists():
        return frozenset()
    return frozenset(fold(path.read_text(encoding="utf-8")).split())


@cache
def stemmer_of(language: str) -> Callable[[str], str]:
    """Takes the endings off the words of a language; what was asked once is remembered."""
    if (name := STEMMERS.get(language)) is None:
        return str
    import snowballstemmer  # type: ignore[import-untyped]  # all its languages at once

    stemmer, lock = snowballstemmer.stemmer(name), threading.Lock()

    @lru_cache(maxsize=_CACHED_STEMS)
    def stem(word: str) -> str:
        with lock:  # the stemmer keeps the word that it works on
            return str(stemmer.stemWord(word))

    return stem


def _unspaced(word: str) -> Iterator[str]:
    """``東京駅 3`` has no blanks to go by: ``東京``, ``京駅``."""
    for part in filter(None, _UNSPACED.split(word)):
        if _UNSPACED.fullmatch(part):
            yield from (part[start : start + 2] for start in range(max(1, len(part) - 1)))
        else:
            yield part[:LONGEST_WORD]
