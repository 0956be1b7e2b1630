"""Canned answers: what may be one."""

from __future__ import annotations

import pytest

from app.settings.templates import check_answers, usual_answers
from app.settings.values import BadPartsError


def test_the_usual_answers_may_be_saved() -> None:
    assert check_answers(usual_answers()) == usual_answers()


def test_a_place_that_there_is_not_is_refused() -> None:
    with pytest.raises(BadPartsError):
        check_answers({"Hi": "Hello {nobody}"})
