"""What is said around a question is left aside, what belongs to it is not."""

from __future__ import annotations

from app.bi.words.tokens import tokenise
from tests.bi.conftest import Ask


def test_what_nobody_knows_is_told_and_less_sure(ask: Ask) -> None:
    answer = ask("hiya flatmates, how many clients do we have")
    assert answer["rows"] == [{"count": 3}]
    assert "“hiya flatmates” is left aside" in answer["interpretation"]
    assert answer["confidence"] < 0.8


def test_why_somebody_asks_is_left_aside_with_less_confidence(ask: Ask) -> None:
    question = "clients with unpaid invoices, I want to call them before they call me"
    assert ask(question)["confidence"] < 0.8


def test_the_end_of_a_sentence_sets_words_apart() -> None:
    assert [one.mark for one in tokenise("We talked. Which ones? Both - now")] == [
        "", "", ".", "", "?", "-",
    ]  # fmt: skip
    assert [one.mark for one in tokenise("Q1 vs. Q2, approx. 5 000")][1:] == ["", "", ",", ""]
