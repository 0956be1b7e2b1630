"""The weights are those that the command makes of what is in the tree.

By a digest of what it reads, not by the fit itself, which takes minutes.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.bi.questions.rules import rules_data
from bench.nlq_fit import FILE, basis


@pytest.fixture(scope="module")
def written() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_they_were_made_of_these_labels_words_and_rules(written: Any) -> None:
    """Else they are made anew: ``python -m bench.nlq_fit``."""
    assert written["basis"] == basis()


def test_each_rule_that_weighs_is_one_of_the_grammar(written: Any) -> None:
    known = {*rules_data()["rules"], *rules_data()["lifts"]}
    weighing = {name.removeprefix("rule ").removesuffix(" before")
                for name in written["weights"] if name.startswith("rule ")}  # fmt: skip
    assert weighing <= known
