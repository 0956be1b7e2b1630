"""Words that are passed over: whole clauses of politeness, and what is said twice."""

from __future__ import annotations

from datetime import date

from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.ranker import Weights
from app.bi.questions.understanding import understanding_of
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


def read(app: Flask, question: str) -> tuple[tuple[str, ...], list[str]]:
    """The features of the best meaning, and the words that it leaves aside."""
    with app.app_context(), acting_as(system_caller("test")):
        understood = understanding_of("en").understand(question, NOW, Weights())
    analysis = next(one for one in understood.analyses if one.meaning is not None)
    return analysis.features, list(understood.read.words_at(analysis.aside))


def test_what_is_said_again_is_not_left_aside(app: Flask) -> None:
    features, aside = read(app, "how many articles are published in the knowledge base")
    assert "again kind" in features
    assert aside == []


def test_an_unknown_word_is_left_aside(app: Flask) -> None:
    assert read(app, "draft invoices frobnicated")[1] == ["frobnicated"]


def test_each_clause_of_politeness_costs_once(app: Flask) -> None:
    features, _ = read(app, "hi there, sorry to bother you again: how many open tickets")
    assert features.count("cross clause") == 2
    assert "cross unknown" not in features
