"""Questions as they are typed in a hurry: short forms, and words that restrict nothing."""

from __future__ import annotations

import pytest
from flask import Flask

from app.bi.nlq.understanding import vocabulary_of
from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("no of inv's n custs", "number of invoices and customers"),
        ("whats open this wk", "what's open this week"),
        ("tickets that arent closed", "tickets that aren't closed"),
        ("amts due by EOM", "amounts due until the end of this month"),
        ("invoices over 2 mn", "invoices over 2 million"),
        ("leads since mon", "leads since monday"),
        ("which deals of Smith n Sons r open", "which deals of Smith n Sons are open"),
        ('tickets called "n r u"', 'tickets called "n r u"'),
        ("deals of Inv last yr.", "deals of Inv last year."),
        ("the inv-2026 thing", "the inv-2026 thing"),
    ],
)
def test_short_forms_are_written_out(app: Flask, written: str, plain: str) -> None:
    with app.app_context():
        assert vocabulary_of().typed.plain(written) == plain


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("no of inv's from may", "number of invoices from may"),
        ("n how many custs r in berlin", "how many customers are in berlin"),
        ("overdue inv this yr", "overdue invoices this year"),
        ("who r the owners of open opps", "who are the owners of open deals"),
        ("how many open tix does each client have", "how many open tickets does each client have"),
        ("tickets that arent solved", "tickets that aren't solved"),
        ("rank agents by solved tickets this month",
         "top 100 agents by solved tickets this month"),
        ("is anyone sitting on more than 25 open tickets", "who has more than 25 open tickets"),
        ("does anybody have more than 5 active projects", "who has more than 5 active projects"),
    ],
)  # fmt: skip
def test_what_is_typed_in_a_hurry_asks_for_the_same(ask: Ask, written: str, plain: str) -> None:
    said, wanted = ask(written), ask(plain)
    assert said["status"] == wanted["status"], said["answer"]
    if wanted["status"] == "answered":
        assert said["query"]["odata"] == wanted["query"]["odata"]


@pytest.mark.parametrize(
    ("question", "plain", "confidence"),
    [
        ("largest unpaid invoice so far by far", "largest unpaid invoice", 0.9),
        ("are there literally any high tickets", "are there any high tickets", 0.9),
        ("hows the pipeline looking by stage", "pipeline by stage", 0.7),
        ("how are the active projects coming along", "active projects", 0.7),
        ("how are our tickets doing by priority", "tickets by priority", 0.7),
    ],
)  # fmt: skip
def test_words_that_restrict_nothing_are_left_aside(
    ask: Ask, question: str, plain: str, confidence: float
) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == "answered", said["answer"]
    assert said["query"]["odata"] == wanted["query"]["odata"]
    assert float(said["confidence"]) <= confidence
    assert "left aside" in said["interpretation"]


@pytest.mark.parametrize(
    "question",
    ["frobnicated invoices this wk", "very blorby tickets", "open deals of the zorgs so far"],
)
def test_what_nobody_knows_is_still_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"


def test_a_word_before_a_number_is_not_left_aside(app: Flask) -> None:
    with app.app_context():
        assert vocabulary_of().typed.lighter("invoices of roughly 5000") is None
