"""Slips of the hand: what a misspelt word was meant as, among words that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from rapidfuzz import distance

from app.search import wordpiece

_SHORTEST = 3  # of such words a letter is missing, and not the first
_LONGEST = 40  # what is longer is no word that is typed; each letter is tried with every other
_SHORTEST_OF_TWO = 8  # letters of a word in which two slips are undone
_KEYBOARDS = (("qwertyuiop", "asdfghjkl", "zxcvbnm"), ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"))
_ALIKE = ("aeiouyäöü", "csz", "ck", "dt", "bp", "fv", "gj")  # taken for each other by ear
_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß"
# How much likelier a slip is than the next: doubled or transposed, of neighbours, of any letters.
_LIKELIER = 6
_CLEARLY, _SHORT_CLEARLY = 1.3, 2.0


def _neighbours() -> dict[str, frozenset[str]]:
    pairs = [(letter, alike) for group in _ALIKE for letter in group for alike in group]
    for rows in _KEYBOARDS:
        for row, below in zip(rows, (*rows[1:], ""), strict=True):
            for at, key in enumerate(row):
                touched = (*row[at + 1 : at + 2], *below[max(at - 1, 0) : at + 1])
                pairs += [(key, touching) for touching in touched]
    near: dict[str, set[str]] = {letter: set() for letter in _LETTERS}
    for letter, alike in pairs:
        near[letter].add(alike)
        near[alike].add(letter)
    return {letter: frozenset(alike - {letter}) for letter, alike in near.items()}


NEAR = _neighbours()


def intended_stem(word: str, known: Mapping[str, float], stem: Callable[[str], str]) -> str:
    """The stem that a misspelt word was meant to have; empty where none is clearly the likeliest.

    Args:
        word: in small letters.
        known: stem -> how usual it is: of two that are as near the usual one is meant.
    """
    if not _SHORTEST <= len(word) <= _LONGEST or wordpiece.is_piece(word):
        return ""  # a word of the language that means something else is no slip
    same = distance.Prefix.similarity
    least = _SHORTEST + (len(word) == _SHORTEST)
    likely = _likely(known, ((price, stem(undone)) for price, undone in _undone(word)), least)
    if not likely and len(word) >= _SHORTEST_OF_TWO:
        likely = _likely(known, _twice(word, stem(word), known), _SHORTEST_OF_TWO)
    for near in likely:  # the first letters are seldom missed
        likely[near] *= 1 + same(near, word)
    best = max(sorted(likely), key=likely.__getitem__, default="")
    forms = [near for near in likely if near.startswith(best) or best.startswith(near)]
    others = max((likely[near] for near in likely.keys() - forms), default=0)
    clearly = _SHORT_CLEARLY if len(word) == _SHORTEST else _CLEARLY
    if not forms or likely[best] < clearly * others:
        return ""
    return max(forms, key=lambda form: (same(form, word), likely[form], form))


def _likely(
    known: Mapping[str, float], slips: Iterable[tuple[int, str]], least: int
) -> dict[str, float]:
    """How likely each stem is that is known and has so many letters at least."""
    likely: dict[str, float] = {}
    for price, stem in slips:
        if stem in known and len(stem) >= least:
            likely[stem] = max(likely.get(stem, 0), known[stem] / _LIKELIER**price)
    return likely


def _twice(word: str, stem: str, known: Iterable[str]) -> Iterator[tuple[int, str]]:
    """What is two slips away, each with how many; people seldom miss the first letter."""
    for other in known:
        slips = min(distance.OSA.distance(form, other, score_cutoff=2) for form in (word, stem))
        if slips <= 2 and other[0] == word[0]:
            yield slips, other


def _undone(word: str) -> Iterator[tuple[int, str]]:
    """The words that one slip makes this word of, each with how unlikely the slip is."""
    for at in range(1, len(word) + 1):
        for letter in _LETTERS:
            yield int(letter != word[at - 1]), f"{word[:at]}{letter}{word[at:]}"
    if len(word) == _SHORTEST:
        return
    yield from ((2, f"{letter}{word}") for letter in _LETTERS)
    for at, letter in enumerate(word):
        before, rest, near = word[:at], word[at + 1 :], NEAR.get(letter, frozenset())
        beside = {*before[-1:], *rest[:1]}
        yield 0 if letter in beside else 1 if beside & near else 2, before + rest
        if rest and letter != rest[0]:
            yield 0, f"{before}{rest[0]}{letter}{rest[1:]}"
        yield from ((1 if at else 2, f"{before}{other}{rest}") for other in near)
