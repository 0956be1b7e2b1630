"""The features of a whole analysis: its shape, the nouns of the question, and its categories."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.ranker import Weights
from app.bi.questions.understanding import understanding_of
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


@pytest.mark.parametrize(
    ("question", "feature"),
    [
        ("how many open tickets", "shape count f:count"),
        ("overdue invoices by client", "shape count/groups f:by"),
        ("overdue invoices", "noun first"),
        ("what is overdue", "noun none"),
        ("open tickets", "next ^ state"),
    ],
)
def test_an_analysis_has_the_feature(app: Flask, question: str, feature: str) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        understood = understanding_of("en").understand(question, NOW, Weights())
    assert any(feature in one.features for one in understood.analyses)
    assert all(feature not in one.features for one in understood.analyses if one.meaning is None)
