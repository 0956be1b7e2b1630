"""Each rule of the grammar does what its examples say."""

from __future__ import annotations

from datetime import date

from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.ranker import Weights
from app.bi.questions.rules import rules_data
from app.bi.questions.understanding import understanding_of
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


def test_each_rule_combines_its_examples(app: Flask) -> None:
    understanding, weights = understanding_of("en"), Weights()
    missed = []
    with app.app_context(), acting_as(system_caller("test")):
        for name, told in rules_data()["rules"].items():
            missed += [
                (name, example) for example in told["examples"]
                if name not in understanding.rules_of(example, NOW, weights)
            ]  # fmt: skip
    assert missed == []
