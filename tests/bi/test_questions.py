"""The sets of questions: none is confidently wrong; each answer is what its address gives."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bi.answering import answer_question, state_after
from app.extensions import db
from app.http.security import acting_as, system_caller
from bench.nlq import (
    EXAMPLES,
    HIGH,
    ROWS,
    Verdict,
    counts,
    demonstration,
    differing,
    example_queries,
    judged,
)
from bench.nlq_cases import QUESTIONS, SETS, read_cases, read_paraphrases
from bench.nlq_split import KEPT_SETS, UNKEPT_SETS, WORKED_SETS, meaning, split
from tests.architecture.modules import ROOT
from tests.bi.addresses import check_address, signed_in
from tests.contract.conftest import Api

# How many of each set are asked, and right (``python -m bench.nlq --store tests/bi/ratchet.json``).
RATCHET = json.loads(Path(__file__).with_name("ratchet.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def caller(demonstration_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An administrator of the demonstration at the moment that the questions are about."""
    folder = tmp_path_factory.mktemp("questions")
    shutil.copytree(demonstration_folder, folder, dirs_exist_ok=True)
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
            answer = answer_question(case.question, state_after(case.before), limit=ROWS)
            verdict = judged(case, answer)
        verdicts.append(verdict)
        if verdict.kind == "wrong" and verdict.confidence >= HIGH:
            wrong.append(f"{case.question}: {verdict.kind}: {verdict.reason}")
        if answer["status"] == "answered":
            check_address(caller, answer)
    assert wrong == []
    reached, kept = counts(verdicts), RATCHET[path.stem]
    assert (reached["asked"], reached["right"]) == (kept["asked"], kept["right"]), reached


def test_the_examples_of_each_rule_ask_what_they_asked(caller: Api) -> None:
    """A rule that goes may leave the sets as they are, and its wordings answered otherwise."""
    known = json.loads(Path(__file__).with_name(EXAMPLES).read_text(encoding="utf-8"))
    with acting_as(system_caller("test")):
        assert example_queries() == known


def test_what_the_page_says_can_be_asked_is_answered(caller: Api) -> None:
    """The examples of the table in docs/bi.md, asked of the demonstration."""
    page = (ROOT / "docs/bi.md").read_text(encoding="utf-8")
    table = page.partition("What can be asked:")[2].lstrip().partition("\n\n")[0]
    # Periods are only parts of questions (test_periods.py).
    rows = [
        line.split("|")[2] for line in table.splitlines()[2:] if not line.startswith("| periods")
    ]
    asked = [one.strip() for row in rows for one in row.split(";")]
    assert len(asked) > 90
    with acting_as(system_caller("test")):
        sent_back = [one for one in asked if answer_question(one)["status"] != "answered"]
    assert sent_back == []


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
    worked = {*UNKEPT_SETS, *WORKED_SETS}  # with rules in view
    parts = Counter(one.part for one in labelled if one.set_name not in worked)
    assert 0.18 <= parts["kept"] / parts.total() <= 0.22
    reserved = {meaning(one.case) for one in labelled if one.set_name in KEPT_SETS}
    fitted = {meaning(one.case) for one in labelled if one.part == "fitted"}
    assert not reserved & fitted
