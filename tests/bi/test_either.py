"""An "or" between properties, and what "without A or B" is."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("blocked or overdue tasks", "status eq 'Blocked' or isOverdue"),
        ("hot or unassigned leads", "rating eq 'Hot' or ownerId eq null"),
        ("won or overdue deals", "status eq 'Won' or (status eq 'Open' and closeDate lt "),
        ("how many urgent or unassigned open tickets are there",
         "(priority eq 'Urgent' or assigneeId eq null)"),
    ],
)  # fmt: skip
def test_an_or_between_two_properties_takes_both(
    ask: Ask, business: None, question: str, text: str
) -> None:
    assert text in unquote(ask(question)["query"]["odata"])
