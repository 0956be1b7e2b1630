"""Nothing that is promised goes untested, and no test proves what is not promised."""

from __future__ import annotations

from tests.requirements.listed import REQUIREMENTS
from tests.requirements.marks import marked


def test_every_requirement_has_a_test() -> None:
    assert sorted(REQUIREMENTS.keys() - marked().keys()) == []


def test_every_mark_names_a_requirement() -> None:
    assert sorted(marked().keys() - REQUIREMENTS.keys()) == []
