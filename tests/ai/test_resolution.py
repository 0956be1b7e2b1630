"""Beside a ticket: what the articles say to it, and tickets like it that were solved."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.ai.knowledge import NOT_FOUND
from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api
from tests.kb.test_search import make

Index = Callable[[], None]


@pytest.fixture
def ticket(api: Api, index: Index) -> int:
    """A ticket about a password, an article that fits, and a solved ticket like it."""
    make(api, "password")
    me = api.get("/api/auth/me").json["id"]
    values = {"subject": "I forgot my password", "description": "How do I reset my password?"}
    old = made(api, "Tickets", **values, assigneeId=me)
    solved = {"status": "Solved", "resolution": "Sent a link."}
    assert api.patch(f"/odata/Tickets({old})", solved).status_code == 200
    key = made(api, "Tickets", **values)
    index()
    return key


@pytest.mark.parametrize("message", ["How can I solve this?", "suggest an answer"])
def test_a_solution_quotes_the_article_and_names_tickets_like_it(
    api: Api, ticket: int, message: str
) -> None:
    answer = chat(api, message, context=about("tickets", ticket))
    assert "Choose Forgot password on the sign-in page. [1]" in answer["reply"]
    assert "T-000001 I forgot my password: Sent a link. [2]" in answer["reply"]
    assert [each["type"] for each in answer["citations"]] == ["KbArticle", "Ticket"]
    assert [call["name"] for call in answer["toolCalls"]] == ["search_kb", "suggest_articles"]


def test_articles_and_similar_tickets_are_listed(api: Api, ticket: int) -> None:
    context = about("tickets", ticket)
    articles = chat(api, "which articles help?", context=context)["reply"]
    assert articles.startswith("Articles that fit:\n- Resetting a password (matches: ")
    similar = chat(api, "are there similar tickets?", context=context)["reply"]
    assert similar == ("Solved tickets like it:\n- T-000001 I forgot my password: Sent a link. [1]")


def test_where_nothing_helps_it_is_said(api: Api, ticket: int) -> None:
    key = made(api, "Tickets", subject="Xqzv wvut")
    context = about("tickets", key)
    assert chat(api, "How can I solve this?", context=context)["reply"] == NOT_FOUND
    assert chat(api, "similar tickets?", context=context)["reply"] == "I found none."
