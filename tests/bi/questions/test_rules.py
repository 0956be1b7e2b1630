"""Each rule of the grammar does what its examples say."""

from __future__ import annotations

from datetime import date

from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.periods import Periods
from app.bi.questions.ranker import Weights
from app.bi.questions.reading import Reader
from app.bi.questions.rules import rules_data
from app.bi.questions.understanding import language_of, understanding_of
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


def test_each_rule_combines_its_examples(app: Flask) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        missed = [
            (name, example)
            for name, rule in rules_data()["rules"].items()
            for example in rule["examples"]
            if name not in _rules_of(example)
        ]
    assert missed == []


def _rules_of(question: str) -> set[str]:
    """The names of the rules that combine some words of a question."""
    understanding = understanding_of(language_of(question))
    lexicon = understanding.lexicon
    reader = Reader(lexicon, Periods(lexicon.reader, NOW, lexicon.english), understanding.grammar)
    cells = reader.parsed(reader.read(question), Weights()).cells.values()
    features = {feature for cell in cells for item in cell for feature in item.features}
    return {
        feature.removeprefix("rule ").removesuffix(" before")
        for feature in features
        if feature.startswith("rule ")
    }
