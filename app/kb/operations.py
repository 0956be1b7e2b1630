"""The operations of the knowledge base."""

from __future__ import annotations

from typing import Any

from app.container import engine
from app.events import entity_url
from app.kb.schemas import (
    ArticleDraftSchema,
    ArticleSearchQuerySchema,
    FeedbackBodySchema,
    FeedbackListSchema,
    FeedbackSchema,
    FromTicketSchema,
    KbSearchResultSchema,
    MissingQuerySchema,
    MissingSchema,
    SuggestionsSchema,
    SuggestQuerySchema,
)
from app.kb.search import SearchResult, search_articles
from app.kb.suggestions import draft_from_ticket, suggest_for_ticket
from app.kb.usage import list_feedback, missing_articles, rate_article
from app.operations.declaration import Operation

_OF_DRAFT = "id,title,slug,body,status,category,language,visibility,sourceTicketId"


def find_articles(q: str, **wanted: Any) -> dict[str, Any]:
    """What ``search_articles`` finds, as the answer shows it."""
    return describe_search(q, search_articles(q, **wanted))


def describe_search(q: str, result: SearchResult) -> dict[str, Any]:
    """What was found, as the answer shows it (contract 11.1)."""
    return {"query": q, "mode": result.mode, "total": result.total, "items": result.items}


def describe_draft(article_id: int) -> dict[str, Any]:
    """The draft, and its address."""
    draft = engine.read_one(f"KbArticles({article_id})", select=_OF_DRAFT)
    return {**draft, "url": entity_url("KbArticle", article_id)}


def describe_trial(article_id: int) -> dict[str, Any]:
    """The draft of a dry run, which has no address."""
    return {**describe_draft(article_id), "url": None}


DRAFT_FROM_TICKET = Operation(
    name="DraftFromTicket",
    path="/from-ticket",
    permissions=("kb:create",),
    description="""Draft an article from a ticket: its question, and what solved it.

    That is its resolution, or the last public answer. E-mail addresses and phone numbers are left
    out, notes of the agents too. The article is linked to the ticket where you may change that.""",
    arguments=FromTicketSchema,
    run=draft_from_ticket,
    answer=describe_draft,
    answer_of_trial=describe_trial,
    answers=ArticleDraftSchema,
    returns="KbArticle",
    location="/odata/KbArticles({id})",
    asked_by=("draft article", "write article", "entwirf artikel", "schreibe artikel"),
)
SUGGEST_FOR_TICKET = Operation(
    name="SuggestForTicket",
    changes=False,
    path="/suggest",
    permissions=("kb:read",),
    description="What may help with a ticket: articles, each with why, and solved tickets like it.",
    arguments=SuggestQuerySchema,
    run=suggest_for_ticket,
    answers=SuggestionsSchema,
)
MISSING_ARTICLES = Operation(
    name="MissingArticles",
    changes=False,
    path="/missing",
    permissions=("kb:create",),
    description="What to write next: questions that led to no article, tickets solved without one.",
    arguments=MissingQuerySchema,
    run=missing_articles,
    answers=MissingSchema,
)
RATE_ARTICLE = Operation(
    name="Rate",
    bound_to="KbArticle",
    path="/articles/<int:article_id>/feedback",
    permissions=("kb:read",),
    description="Say whether an article helped; saying it again replaces what you said.",
    arguments=FeedbackBodySchema,
    run=rate_article,
    answers=FeedbackSchema,
    asked_by=("bewerte", "évalue", "valora", "valuta"),
)
LIST_FEEDBACK = Operation(
    name="ListFeedback",
    bound_to="KbArticle",
    changes=False,
    path="/articles/<int:article_id>/feedback",
    permissions=("kb:update",),
    description="What readers said of an article, newest first, for those who may change it.",
    run=list_feedback,
    answer=lambda feedback: {"items": feedback},
    answers=FeedbackListSchema,
)
# The view of REST notes what was looked for, and says where words alone were looked at.
KB_SEARCH = Operation(
    name="KbSearch",
    changes=False,
    permissions=("kb:read",),
    description="Find published articles by what a question means and by its words.",
    arguments=ArticleSearchQuerySchema,
    run=find_articles,
    answers=KbSearchResultSchema,
)
OPERATIONS = (
    DRAFT_FROM_TICKET, SUGGEST_FOR_TICKET, MISSING_ARTICLES, RATE_ARTICLE, LIST_FEEDBACK, KB_SEARCH,
)  # fmt: skip
