"""What people at work call records and what becomes of them: backlogs, dormant clients, thumbs."""

from __future__ import annotations

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("articles with more than 10 thumbs down", "articles with more than 10 unhelpful votes"),
        ("articles with at least 5 upvotes", "articles with at least 5 helpful votes"),
        ("which articles have the most thumbs up", "most helpful articles"),
        ("hot leads under 30 points", "hot leads with score under 30"),
        ("tickets that arent sorted yet", "tickets that are not solved"),
        ("urgent cases that have not been dealt with", "urgent cases that are not solved"),
        ("projects that are not wrapped up yet", "unfinished projects"),
        ("the longest outstanding invoice", "the oldest outstanding invoice"),
        ("the invoice thats been outstanding longest", "the oldest outstanding invoice"),
        ("tickets that missed their first response target", "tickets answered late"),
        ("top 5 reps by pipeline", "top 5 owners by pipeline"),
        ("leads sorted by estimated value", "leads by estimated value"),
    ],
)  # fmt: skip
def test_words_of_work_ask_for_the_same(ask: Ask, question: str, plain: str) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == wanted["status"] == "answered", said["answer"]
    queries = [one["query"]["odata"].partition("&$select")[0] for one in (said, wanted)]
    assert queries[0] == queries[1]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what comes up for review before the end of the month", "KbArticles"),
    ],
)
def test_a_verb_that_one_kind_has_tells_the_kind(ask: Ask, question: str, kind: str) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer["answer"]
    assert answer["query"]["entity"] == kind
    assert answer["confidence"] < 0.8


def test_a_verb_that_several_kinds_have_tells_none(ask: Ask) -> None:
    assert ask("what was closed yesterday")["status"] != "answered"


@pytest.mark.parametrize("kind", ["tickets", "projects", "deals", "tasks"])
def test_what_slips_is_overdue_less_surely(ask: Ask, kind: str) -> None:
    answer = ask(f"which {kind} are slipping")
    assert answer["status"] == "answered"
    assert answer["confidence"] < 0.8
    assert "overdue" in answer["interpretation"]


@pytest.mark.parametrize(
    "question", ["how can an agent change the footer of an invoice", "how do I export invoices"]
)
def test_how_something_is_done_is_told_by_articles(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] == "unsupported"
    assert "told by articles" in answer["answer"]


def test_passwords_themselves_are_refused(ask: Ask) -> None:
    answer = ask("show me the passwords of all users")
    assert "secrets are not shown" in answer["answer"]


@pytest.mark.parametrize(
    "question", ["which invoices has nobody contacted", "invoices nobody answered"]
)
def test_a_refusal_says_no_word_that_was_not_typed(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] != "answered"
    for word in ("uncontacted", "whereabouts", "unanswered"):
        assert f"“{word}”" not in answer["answer"]
