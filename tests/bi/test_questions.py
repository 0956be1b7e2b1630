"""The sets of questions: nothing is answered wrongly, and each answer is what its address gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bi.answering import answer_question
from app.extensions import db
from app.http.security import acting_as, system_caller
from bench.nlq import (
    HIGH,
    ROWS,
    Verdict,
    counts,
    demonstration,
    differing,
    judged,
)
from bench.nlq_cases import QUESTIONS, SETS, read_cases, read_paraphrases
from bench.nlq_split import KEPT_SETS, meaning, split
from tests.bi.addresses import check_address, signed_in
from tests.contract.conftest import Api

# How many of each set are asked, and right (``python -m bench.nlq --store tests/bi/ratchet.json``).
RATCHET = json.loads(Path(__file__).with_name("ratchet.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An administrator of the demonstration at the moment that the questions are about."""
    folder: Path = tmp_path_factory.mktemp("questions")
    with demonstration(folder) as app:
        yield signed_in(app)
        for engine in db.engines.values():
            engine.dispose()


@pytest.mark.costly(20)
@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_a_set_of_questions_is_answered(caller: Api, path: Path) -> None:
    """Each is asked once, and both checks are made of its answer."""
    wrong: list[str] = []
    verdicts: list[Verdict] = []
    for case in read_cases(path):
        with acting_as(system_caller("test")):
            answer = answer_question(case.question, case.before, limit=ROWS)
            verdict = judged(case, answer)
        verdicts.append(verdict)
        if not is_allowed(path, verdict):
            wrong.append(f"{case.question}: {verdict.kind}: {verdict.reason}")
        if answer["status"] == "answered":
            check_address(caller, answer)
    assert wrong == []
    reached, kept = counts(verdicts), RATCHET[path.stem]
    assert (reached["asked"], reached["right"] >= kept["right"]) == (kept["asked"], True), reached


def is_allowed(path: Path, verdict: Verdict) -> bool:
    """Of the first set all is answered rightly, of the others nothing wrongly with confidence."""
    if path == QUESTIONS:
        return verdict.kind == "right"
    return verdict.kind != "wrong" or verdict.confidence < HIGH


@pytest.mark.costly(6)
@pytest.mark.parametrize("wordings", read_paraphrases(), ids=lambda wordings: wordings[0][:60])
def test_a_question_is_answered_alike_in_other_words(
    wordings: tuple[str, ...], caller: Api
) -> None:
    with acting_as(system_caller("test")):
        assert differing(wordings) == []


def test_there_are_150_questions_and_a_third_is_held_out() -> None:
    sections = Counter(case.section for case in read_cases(QUESTIONS))
    assert sum(sections.values()) >= 150
    assert sections["held out"] >= 50


def test_a_fifth_is_kept_and_no_kept_meaning_of_the_reserved_set_is_fitted() -> None:
    labelled = split()
    parts = Counter(one.part for one in labelled)
    assert 0.18 <= parts["kept"] / len(labelled) <= 0.22
    reserved = {meaning(one.case) for one in labelled if one.set_name in KEPT_SETS}
    fitted = {meaning(one.case) for one in labelled if one.part == "fitted"}
    assert not reserved & fitted
