"""Which labelled questions are kept: never used for fitting, nor for writing rules or words.

    python -m bench.nlq_split

A fifth, by meaning and by set: all sessions of the sets in ``KEPT_SETS``, and of the others each
session whose first question means what falls into the bucket. What a question means is the first
query that is right for it, dates and numbers left out, so that two wordings of one meaning stay on
one side. A session that shares a meaning with a kept one of ``KEPT_SETS`` is used for neither.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bench.nlq_cases import SETS, Case, read_cases

KEPT_SETS = ("questions_58",)
# What tests of single wordings asked: written with rules in view, so nothing of it is kept.
UNKEPT_SETS = (
    "questions_60", "questions_61", "questions_62", "questions_67", "questions_68", "questions_69",
    "questions_70", "questions_71",
)  # fmt: skip
# Kinds that failed, with the rules that mend them in view: fitted, but nothing of it is kept.
WORKED_SETS = ("questions_65", "questions_66")
PERCENT = 18  # of the meanings of the other sets
_REFUSALS = ("unsupported", "clarify")
_VARYING = re.compile(r"\d[\d:TZ.-]*|'[^']*'")


@dataclass(frozen=True)
class Labelled:
    """A case of a set; ``part`` is kept, fitted or neither."""

    set_name: str
    number: int  # within its set, from 0
    case: Case
    part: str


def split(paths: Iterable[Path] = SETS) -> list[Labelled]:
    """Every labelled question and the part that it belongs to, in the order of the files."""
    sessions = [one for path in paths for one in _sessions(path)]
    reserved = {meaning(case) for name, cases in sessions if name in KEPT_SETS for _, case in cases}
    found: list[Labelled] = []
    for name, cases in sessions:
        part = _part(name, [case for _, case in cases], reserved)
        found += [Labelled(name, number, case, part) for number, case in cases]
    return found


def meaning(case: Case) -> str:
    """What a question means without its numbers and names; of what is refused, its words."""
    first = case.expected.split(" || ")[0]
    return case.question.lower() if first in _REFUSALS else _VARYING.sub("0", first)


def _sessions(path: Path) -> Iterator[tuple[str, list[tuple[int, Case]]]]:
    numbered = enumerate(read_cases(path))
    begun = 0

    def session(item: tuple[int, Case]) -> int:
        nonlocal begun
        begun += not item[1].before
        return begun

    for _, cases in groupby(numbered, key=session):
        yield path.stem, list(cases)


def _part(name: str, cases: list[Case], reserved: set[str]) -> str:
    digest = hashlib.sha256(meaning(cases[0]).encode()).hexdigest()
    if name in KEPT_SETS or int(digest[:8], 16) % 100 < PERCENT:
        return "neither" if name in (*UNKEPT_SETS, *WORKED_SETS) else "kept"
    return "neither" if reserved & {meaning(case) for case in cases} else "fitted"


def main() -> None:
    """Print how many questions of each set are in which part."""
    counts: dict[str, Counter[str]] = {}
    for one in split():
        counts.setdefault(one.set_name, Counter())[one.part] += 1
    for name, parts in counts.items():
        print(f"{name:14} {dict(sorted(parts.items()))}")
    print(f"{'all':14} {dict(sorted(sum(counts.values(), Counter()).items()))}")


if __name__ == "__main__":
    main()
