"""An "or" between properties, and what "without A or B" is."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask

HIGH = 0.8


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("blocked or overdue tasks", "(status eq 'Blocked' or isOverdue)"),
        ("hot or unassigned leads", "(rating eq 'Hot' or ownerId eq null)"),
        ("how many urgent or unassigned open tickets are there",
         "(priority eq 'Urgent' or assigneeId eq null)"),
    ],
)  # fmt: skip
def test_an_or_between_two_properties_takes_both(
    ask: Ask, business: None, question: str, text: str
) -> None:
    assert text in unquote(ask(question)["query"]["odata"])


@pytest.mark.parametrize(
    "question",
    ["blocked, overdue or urgent tasks", "won or overdue deals"],
)
def test_what_an_or_is_between_has_to_be_plain(ask: Ask, business: None, question: str) -> None:
    assert ask(question)["status"] == "unsupported"


def test_without_one_or_another_is_without_both(ask: Ask, business: None) -> None:
    found = ask("contacts without an email or a phone number")
    assert "email eq null and phone eq null" in unquote(found["query"]["odata"])
    assert found["confidence"] < HIGH


def test_two_things_that_were_not_done_in_time_are_asked_for_apart(
    ask: Ask, business: None
) -> None:
    assert ask("tickets neither answered nor closed within 2 days")["status"] == "unsupported"
    assert ask("tickets not answered within 2 days")["status"] == "answered"
