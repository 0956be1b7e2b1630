"""The labelled questions: what is asked, after what, and what is right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "tests" / "bi"
SETS = tuple(sorted(FOLDER.glob("questions*.txt")))
QUESTIONS = FOLDER / "questions.txt"
FRESH = Path(__file__).parent / "questions"
GERMAN = FRESH / "german.tsv"
HELD = FRESH / "held.txt"
WORDINGS = tuple(sorted(FRESH.glob("wordings_*.tsv")))  # of questions that have a label
PARAPHRASES = FOLDER / "paraphrases.txt"


@dataclass(frozen=True)
class Case:
    """A question, those before it in its session, and what is right."""

    section: str
    question: str
    before: tuple[str, ...]
    expected: str


def read_cases(path: Path) -> Iterator[Case]:
    """The questions of a file."""
    section, names = "", {}
    before: tuple[str, ...] = ()
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
        elif section == "names":
            name, _, text = line.partition(": ")
            names["{" + name + "}"] = text
        else:
            question, _, expected = line.rpartition(" => ")
            for name, text in names.items():
                expected = expected.replace(name, text)
            goes_on = question.startswith("+")
            question = question.lstrip("+ ")
            before = before if goes_on else ()
            yield Case(section, question, before, expected)
            before = (*before, question)


def read_wordings(path: Path) -> Iterator[Case]:
    """Other wordings, or translations: each names the set and the number of its question."""
    known: dict[str, list[Case]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        question, name, number = line.split("\t")
        folder = FRESH if name.startswith("fresh_") else FOLDER
        cases = known.setdefault(name, list(read_cases(folder / f"{name}.txt")))
        yield replace(cases[int(number)], question=question)


def read_paraphrases(path: Path = PARAPHRASES) -> list[tuple[str, ...]]:
    """The wordings of each question, the plainest first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(one.split(" | ")) for one in lines if one and not one.startswith("#")]
