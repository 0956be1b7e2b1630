"""Short forms and what they stand for: ``sla`` finds what says "service level agreement".

What an article defines itself, "Service Level Agreement (SLA)", is noticed when it is taken in,
and so are the initials of its title, of names in capitals, and of what it says twice. Initials
count only where no text has them as a word: "was" is no short form. They are kept among the terms.
A small file has those that hardly any text explains, such as ``pw``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from app.search.analysis import STEMMERS, fold, stop_words

# ``en:=sla:service level agreement`` is defined, ``en:~sla:...`` has such initials; no word of a
# text begins with these marks.
DEFINED, INITIALS = "=", "~"
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


def short_forms(title: str, text: str, language: str) -> list[str]:
    """What a text spells out, as terms for its entry."""
    forms = dict.fromkeys(f"{DEFINED}{fold(short)}:{fold(long)}" for long, short in _defined(text))
    known = stop_words(language)
    runs = [run for run in _sequences(title) if _is_plain(run, known)]
    for run in (words := list(_sequences(text))):
        if _is_plain(run, known) and all(word[0].isupper() for word in run.split()):
            runs.append(run)
    often = Counter(map(fold, words))
    runs += [run for run, times in often.items() if times > 1 and _is_whole(run, known)]
    forms |= dict.fromkeys(f"{INITIALS}{_initials(fold(run))}:{fold(run)}" for run in runs)
    return list(forms)[:MOST_OF_TEXT]


def meanings(terms: Iterable[str]) -> dict[str, Counter[str]]:
    """Mark and short form -> what it stands for and how often, of the terms of an index."""
    by_short: dict[str, Counter[str]] = {}
    for term in terms:
        _, _, bare = term.partition(":")
        if bare[:1] in (DEFINED, INITIALS):
            short, _, long = bare.partition(":")
            by_short.setdefault(short, Counter())[long] += 1
    return by_short


def spelled_out(
    question: str, known: Mapping[str, Counter[str]], is_word: Callable[[str], bool]
) -> str:
    """A question with what its short forms stand for behind them.

    Args:
        known: as of ``meanings``.
        is_word: whether texts have a word.
    """

    def with_long_forms(match: re.Match[str]) -> str:
        short = fold(match.group())
        if short in _little_words():
            return match.group()
        meant = known.get(f"{DEFINED}{short}", Counter[str]())
        if not meant and not is_word(short):
            meant = known.get(f"{INITIALS}{short}", Counter[str]())
        longs = [long for long, _ in meant.most_common(MOST_MEANINGS)]
        common = _common().get(short)
        longs += [common] if common is not None and common not in longs else []
        return " ".join((match.group(), *longs))

    return _ASKED.sub(with_long_forms, question)


def _defined(text: str) -> Iterator[tuple[str, str]]:
    """What a text itself explains: its last words have the initials, little ones apart."""
    pairs = [(match[1], match[2]) for match in _DEFINED.finditer(text)]
    pairs += [(match[2], match[1]) for match in _DEFINING.finditer(text)]
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


def _is_plain(run: str, known: Collection[str]) -> bool:
    """Whether none of its words is a little one."""
    return not any(fold(word) in known for word in run.split())


def _is_whole(run: str, known: Collection[str]) -> bool:
    """Whether neither its first nor its last word is a little one."""
    first, *_, last = run.split()
    return first not in known and last not in known


def _initials(run: str) -> str:
    return "".join(word[0] for word in run.split())


def is_little(word: str) -> bool:
    """Whether a word tells nothing, in any language."""
    return word in _little_words()


@cache
def _little_words() -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, STEMMERS))


@cache
def _common() -> dict[str, str]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {short: long for short, _, long in pairs}
