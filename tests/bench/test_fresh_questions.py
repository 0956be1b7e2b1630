"""Questions for a first asking: each label is well-formed, and a seed draws the same each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask

from app.bi.query import run
from app.http.security import acting_as, system_caller
from bench.nlq import expected_query
from bench.nlq_cases import Case, read_cases
from bench.nlq_fresh import drawn

FOLDER = Path(__file__).parents[2] / "bench" / "questions"
FRESH = sorted(FOLDER.glob("fresh_*.txt"))
REFUSALS = {"unsupported", "clarify"}


def _cases(path: Path) -> list[Case]:
    return list(read_cases(path))


@pytest.mark.parametrize("path", FRESH, ids=lambda path: path.stem)
def test_there_are_200_questions_and_none_is_asked_twice(path: Path) -> None:
    sessions = [(*case.before, case.question) for case in _cases(path)]
    assert len(sessions) == len(set(sessions)) == 200


@pytest.mark.parametrize("path", FRESH, ids=lambda path: path.stem)
def test_each_label_is_a_refusal_or_a_query_that_the_engine_runs(path: Path, app: Flask) -> None:
    labels = {label for case in _cases(path) for label in case.expected.split(" || ")}
    with app.app_context(), acting_as(system_caller()):
        for label in sorted(labels - REFUSALS):
            run(expected_query(label), 1)


def test_a_seed_draws_the_same_meanings_each_time() -> None:
    assert drawn(27, 40) == drawn(27, 40)
    assert drawn(27, 40) != drawn(28, 40)
