"""Marking what was found: HTML with ``<mark>``, everything else escaped."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Iterator

from app.models.searched import search_text


def highlight(text: str, words: Iterable[str]) -> str:
    """``Müller & Co`` for ``mull`` -> ``<mark>Müll</mark>er &amp; Co``.

    Args:
        words: in plain form; each is marked where it begins a word, else wherever it stands.
    """
    plain, origins = _with_origins(text)
    marked = [False] * len(text)
    for word in words:
        for start in _places(plain, word):
            for at in range(start, start + len(word)):
                marked[origins[at]] = True
    return "".join(_pieces(text, marked))


def _with_origins(text: str) -> tuple[str, list[int]]:
    """The plain form, a blank before it, and where each of its letters stands in ``text``."""
    plain, origins = [" "], [0]
    for at, character in enumerate(text):
        for letter in search_text(character):
            if letter == " " and plain[-1] == " ":
                continue
            plain.append(letter)
            origins.append(at)
    return "".join(plain), origins


def _places(plain: str, word: str) -> Iterator[int]:
    """Where to mark ``word``; nowhere for an empty one."""
    if not word:
        return
    piece, ahead = (f" {word}", 1) if f" {word}" in plain else (word, 0)
    start = plain.find(piece)
    while start >= 0:
        yield start + ahead
        start = plain.find(piece, start + len(word))


def _pieces(text: str, marked: list[bool]) -> Iterator[str]:
    inside = False
    for character, is_marked in zip(text, marked, strict=True):
        # An accent of its own belongs to the letter before it.
        wanted = is_marked or (inside and unicodedata.combining(character) != 0)
        if wanted != inside:
            yield "<mark>" if wanted else "</mark>"
            inside = wanted
        yield html.escape(character)
    if inside:
        yield "</mark>"
