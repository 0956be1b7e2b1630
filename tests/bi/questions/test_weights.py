"""The weights were fitted to the labels in the tree, and weigh rules of its grammar.

That the command makes them to the byte is not held here: a fit takes minutes.
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


def test_they_were_fitted_to_these_labels(written: Any) -> None:
    """Else they are made anew: ``python -m bench.nlq_fit``."""
    assert written["basis"] == basis()


def test_each_rule_that_weighs_is_one_of_the_grammar(written: Any) -> None:
    known = {*rules_data()["rules"], *rules_data()["lifts"]}
    weighing = {name.removeprefix("rule ").removesuffix(" before")
                for name in written["weights"] if name.startswith("rule ")}  # fmt: skip
    assert weighing <= known
