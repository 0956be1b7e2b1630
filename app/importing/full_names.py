"""A whole name in one cell, as the first and the last name of a person."""

from __future__ import annotations

import re

# What stands before a last name and belongs to it.
_PARTICLES = frozenset((
    "af", "al", "bin", "da", "dal", "de", "del", "della", "den", "der", "di", "dos", "du", "el",
    "ibn", "la", "las", "le", "los", "ten", "ter", "van", "vom", "von", "zu", "zum", "zur",
))  # fmt: skip
# Words of address are no part of a name; titles are, and go with the first one.
_ADDRESS = frozenset((
    "herr", "herrn", "frau", "mr", "mrs", "ms", "miss", "mx", "monsieur", "madame", "mme",
))  # fmt: skip
_TITLE = re.compile(r"(dr|prof|dipl|mag|ing|med|univ|jur|phil|rer|nat|h\.c)\b[\w.-]*", re.I)
_SUFFIX = re.compile(r"(jr|sr|ii|iii|iv|mba|phd|ph\.d|msc|bsc|llm|ll\.m)\.?", re.I)


def split_name(text: str) -> tuple[str, str]:
    """``Müller, Jens`` and ``Jens Müller`` -> ``("Jens", "Müller")``; the first may be empty.

    What stands before a comma is the last name, else it begins at the first particle (``von``,
    ``van der``), or is the last word. ``Dr.`` stays before the first name, ``Jr.`` behind the last.
    """
    before, comma, after = (part.strip() for part in text.partition(","))
    if comma and after and not _SUFFIX.fullmatch(after):
        return " ".join(_without_address(after.split())), " ".join(_without_address(before.split()))
    words = _without_address(text.replace(",", " ").split())
    ends = len(words)
    while ends > 1 and _SUFFIX.fullmatch(words[ends - 1]):
        ends -= 1
    titles = 0
    while titles < ends - 1 and _TITLE.fullmatch(words[titles]):
        titles += 1
    particles = (at for at in range(titles, ends - 1) if _is_particle(words[at], at == titles))
    at = next(particles, ends - 1)
    return " ".join(words[:at]), " ".join(words[at:])


def _is_particle(word: str, is_first: bool) -> bool:
    """Whether a last name begins with a word; at the beginning ``Van`` is a first name."""
    return word.casefold() in _PARTICLES and (word.islower() or not is_first)


def _without_address(words: list[str]) -> list[str]:
    names = [word for word in words if word.rstrip(".").casefold() not in _ADDRESS]
    return names or words
