"""Canned answers: what may be one."""

from __future__ import annotations

import pytest
from marshmallow import ValidationError

from app.settings.templates import answers_field, usual_answers


def test_the_usual_answers_may_be_saved() -> None:
    assert answers_field("").deserialize(usual_answers()) == usual_answers()


def test_a_place_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError):
        answers_field("").deserialize({"Hi": "Hello {nobody}"})
