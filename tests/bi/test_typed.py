"""Questions as they are typed in a hurry: short forms, and words that restrict nothing."""

from __future__ import annotations

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("no of inv's from may", "number of invoices from may"),
        ("n how many custs r in berlin", "how many customers are in berlin"),
        ("overdue inv this yr", "overdue invoices this year"),
        ("who r the owners of open opps", "who are the owners of open deals"),
        ("tickets that arent solved", "tickets that aren't solved"),
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
    ("question", "plain"),
    [
        ("largest unpaid invoice so far by far", "largest unpaid invoice"),
        ("are there literally any high tickets", "are there any high tickets"),
        ("hows the pipeline looking by stage", "pipeline by stage"),
    ],
)
def test_words_that_restrict_nothing_are_left_aside(ask: Ask, question: str, plain: str) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == "answered", said["answer"]
    assert said["query"]["odata"] == wanted["query"]["odata"]


@pytest.mark.parametrize(
    "question",
    ["frobnicated invoices this wk", "very blorby tickets", "open deals of the zorgs so far"],
)
def test_what_nobody_knows_is_still_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"
