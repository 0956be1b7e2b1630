"""What is guarded for a spreadsheet is taken back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from app.localisation.guards import guarded, marked, unguarded


@pytest.mark.parametrize(
    "text", ["=1+1", "+49 30 1", "-5", "@SUM(A1)", "\uff1d1", " x", "x ", "'=1"]
)
def test_what_a_spreadsheet_would_change_is_guarded(text: str) -> None:
    assert guarded(text) == "'" + text
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", ["Acme", "it's", "'til", "1+1", ""])
def test_any_other_text_stays(text: str) -> None:
    assert guarded(text) == unguarded(text) == text


def test_blanks_around_what_nobody_guarded_go() -> None:
    assert unguarded("  Acme ") == "Acme"


@given(st.text())
def test_what_is_guarded_or_marked_comes_back(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert unguarded(marked(text)) == text
