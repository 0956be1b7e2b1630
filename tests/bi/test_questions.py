"""The set of questions, on both databases: nothing is answered wrongly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.extensions import db
from bench.nlq import (
    HIGH,
    QUESTIONS,
    SETS,
    Case,
    demonstration,
    differing,
    judge,
    read_cases,
    read_paraphrases,
)

CASES = list(read_cases(QUESTIONS))
LATER = [case for path in SETS[1:] for case in read_cases(path)]


@pytest.fixture(scope="module")
def asked(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The demonstration at the moment that the questions are about."""
    folder: Path = tmp_path_factory.mktemp("questions")
    own = f"sqlite:///{folder / 'questions.db'}" if database.startswith("sqlite") else database
    with demonstration(folder, own) as app:
        yield
        for engine in db.engines.values():
            engine.dispose()
        assert app is not None


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question[:60])
def test_a_question_is_answered_rightly(case: Case, asked: None, database: str) -> None:
    verdict = judge(case)
    assert verdict.kind == "right", verdict.reason


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("case", LATER, ids=lambda case: case.question[:60])
def test_nothing_is_answered_wrongly_with_confidence(
    case: Case, asked: None, database: str
) -> None:
    verdict = judge(case)
    assert verdict.kind != "wrong" or verdict.confidence < HIGH, verdict.reason


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("wordings", read_paraphrases(), ids=lambda wordings: wordings[0][:60])
def test_a_question_is_answered_alike_in_other_words(
    wordings: tuple[str, ...], asked: None, database: str
) -> None:
    assert differing(wordings) == []


def test_there_are_150_questions_and_a_third_is_held_out() -> None:
    sections = Counter(case.section for case in CASES)
    assert sum(sections.values()) >= 150
    assert sections["held out"] >= 50
