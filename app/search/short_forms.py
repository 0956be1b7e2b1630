"""Short forms and what they stand for: ``sla`` finds what says "service level agreement".

What an article spells out is noticed when it is taken in: the initials of its title, of names in
capitals, of what it says twice, and what it defines itself, "Service Level Agreement (SLA)". They
are kept among its terms. A small file has those that hardly any text explains, such as ``pw``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from app.search.analysis import fold, stop_words

# ``en:~sla:service level agreement``; no word of a text begins with the mark.
MARK = "~"
SHORTEST, LONGEST = 3, 5
# Of one article, and of one short form in a question.
MOST_OF_TEXT = 60
MOST_MEANINGS = 2
_FILE = Path(__file__).parent / "texts" / "short_forms.txt"
_WORD = r"[^\W\d_]+"
# Words that only a blank or a hyphen stands between.
_RUN = re.compile(rf"{_WORD}(?:[ -]{_WORD})+")
_DEFINED = re.compile(rf"((?:{_WORD}[ -]){{1,7}}{_WORD}) \(([A-Z]{{2,6}})s?\)")
_DEFINING = re.compile(rf"\b([A-Z]{{2,6}}) \(((?:{_WORD}[ -]){{1,7}}{_WORD})\)")
_ASKED = re.compile(r"(?<![\w-])[^\W_]{2,6}(?![\w-])")


def short_forms(title: str, text: str, language: str) -> dict[str, str]:
    """Long form -> its initials, for all that a text spells out; folded."""
    found: dict[str, str] = {}
    for long, short in _defined(text):
        found[fold(long)] = fold(short)
    often = Counter(map(fold, _sequences(text)))
    named = [run for run in _sequences(text) if _is_name(run, language)]
    repeated = [run for run, times in often.items() if times > 1]
    for run in (*map(fold, (*_sequences(title), *named)), *repeated):
        if _is_whole(run, language):
            found.setdefault(run, _initials(run))
    return dict(list(found.items())[:MOST_OF_TEXT])


def term_of(long: str, short: str) -> str:
    """The pair as a term."""
    return f"{MARK}{short}:{long}"


def meanings(terms: Iterable[str]) -> dict[str, Counter[str]]:
    """Short form -> what it stands for and how often, of the terms of an index."""
    found: dict[str, Counter[str]] = {}
    for term in terms:
        _, _, bare = term.partition(":")
        if bare.startswith(MARK):
            short, _, long = bare[1:].partition(":")
            found.setdefault(short, Counter())[long] += 1
    return found


def spelled_out(question: str, known: Mapping[str, Counter[str]]) -> str:
    """A question with what its short forms stand for behind them."""

    def shown(found: re.Match[str]) -> str:
        short = fold(found.group())
        longs = [long for long, _ in known.get(short, Counter()).most_common(MOST_MEANINGS)]
        common = _common().get(short)
        longs += [common] if common is not None and common not in longs else []
        return " ".join((found.group(), *longs))

    return _ASKED.sub(shown, question)


def _defined(text: str) -> Iterator[tuple[str, str]]:
    """What a text itself explains: its last words have the initials, little ones apart."""
    pairs = [(found[1], found[2]) for found in _DEFINED.finditer(text)]
    pairs += [(found[2], found[1]) for found in _DEFINING.finditer(text)]
    for long, short in pairs:
        words = re.split("[ -]", long)
        for start in range(len(words)):
            run = " ".join(words[start:])
            if _initials(fold(run)) == fold(short):
                yield run, short


def _sequences(text: str) -> Iterator[str]:
    for run in _RUN.finditer(text):
        words = re.split("[ -]", run.group())
        for length in range(SHORTEST, LONGEST + 1):
            for start in range(len(words) - length + 1):
                yield " ".join(words[start : start + length])


def _is_name(run: str, language: str) -> bool:
    words = run.split()
    return all(word[0].isupper() or fold(word) in stop_words(language) for word in words)


def _is_whole(run: str, language: str) -> bool:
    """Whether neither its first nor its last word is a little one."""
    first, *_, last = run.split()
    known = stop_words(language)
    return first not in known and last not in known


def _initials(run: str) -> str:
    return "".join(word[0] for word in run.split())


@cache
def _common() -> dict[str, str]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {short: long for short, _, long in pairs}
