"""Questions that leave open what they are about, what is still to be done, texts to look for."""

from __future__ import annotations

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("show me the top 7", "7"),
        ("compare May with April", "-04-01 to "),
        ("show me everything for June", " June "),
        ("which ones are overdue?", "(overdue)"),
        ("how many are still open?", "Number of "),
        ("what is our best quarter?", "quarter"),
    ],
)
def test_a_vague_question_offers_readings_of_itself(ask: Ask, question: str, kept: str) -> None:
    answer = ask(question)
    assert answer["status"] == "needsClarification", answer["answer"]
    assert 2 <= len(answer["alternatives"]) <= 4
    assert all(kept in one for one in answer["alternatives"])
    for one in answer["alternatives"]:
        assert ask(one)["status"] == "answered", one


def test_a_ranking_by_what_is_not_kept_offers_none(ask: Ask) -> None:
    assert ask("top 3 open meetings")["status"] == "unsupported"


@pytest.mark.parametrize("question", ["hello", "which ones are purple?", "meetings this week"])
def test_what_is_foreign_offers_none(ask: Ask, question: str) -> None:
    assert ask(question)["status"] == "unsupported"


def test_in_a_session_a_state_goes_on(ask: Ask) -> None:
    first = ask("invoices of this year")
    later = ask("which ones are overdue?", sessionId=first["sessionId"])
    assert later["status"] == "answered"
    assert later["query"]["entity"] == "Invoices"


def test_what_is_still_to_be_done_is_not_done(ask: Ask) -> None:
    answer = ask("how many tasks are still to be done?")
    assert answer["interpretation"] == "Number of tasks (to be done)."
    assert "'Done'" not in answer["query"]["odata"].replace("%27", "'")
    assert ask("tickets to be refunded")["status"] == "unsupported"
    assert ask("leads to be contacted this week")["status"] != "answered"
    assert ask("how much do we still have to pay?")["status"] == "unsupported"


def test_refusals_say_why(ask: Ask) -> None:
    assert "secrets are not shown" in ask("show me all passwords")["answer"]
    assert "questions change nothing" in ask("delete all tickets")["answer"]
    strange = ask("tickets by bananas")["answer"]
    assert "“bananas”" in strange
    assert "“by”" not in strange
