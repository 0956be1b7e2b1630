"""``/api/kb``: finding, reading and judging articles; keeping them is OData's."""

from __future__ import annotations

from typing import Any

from app.container import engine
from app.events import entity_url
from app.http.areas import Area
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.security import requires
from app.kb import drafting, schemas, search, suggestions, usage
from app.kb.operations import describe_search
from app.kb.rendering import to_html
from app.kb.usage import note_search, note_view

area = Area("kb", __name__, description="Knowledge base: search, suggestions, feedback")
BY_WORDS_ONLY = "The embedding model is not installed: the search went by words alone."


@area.get("/search")
@area.arguments(schemas.ArticleSearchQuerySchema, location="query")
@area.response(200, schemas.ArticleSearchSchema)
@requires("kb:read")
def search_articles(query: dict[str, Any]) -> dict[str, Any]:
    """Find published articles by what a question means and by its words, the best first.

    Only articles that you may read are found and counted. Words need not be in the article:
    "cannot sign in" finds "Unlocking an account".
    """
    question = query.pop("q")
    result = search.search_articles(question, **query)
    note_search(question, result, query.get("language"))
    notice = {} if result.mode == query["mode"] else {"notice": BY_WORDS_ONLY}
    return {**describe_search(question, result), **notice}


@area.get("/suggest")
@area.arguments(schemas.SuggestQuerySchema, location="query")
@area.response(200, schemas.SuggestionsSchema)
@area.alt_response(404, response="Error404")
@requires("kb:read")
def suggest_for_ticket(query: dict[str, Any]) -> dict[str, Any]:
    """What may help with a ticket: articles, with the reason, and solved tickets like it."""
    return suggestions.suggest_for_ticket(query["ticket_id"], query["limit"])


@area.post("/from-ticket")
@area.arguments(DryRunSchema, location="query")
@area.arguments(schemas.FromTicketSchema)
@area.response(201, schemas.ArticleDraftSchema)
@area.alt_response(404, response="Error404")
@requires("kb:create")
def draft_from_ticket(query: dict[str, Any], body: dict[str, Any]) -> Any:
    """Draft an article from a ticket: its question, and its resolution or last public answer.

    E-mail addresses and phone numbers are left out, notes of the agents too. The article is linked
    to the ticket where you may change that.
    """
    article_id = drafting.draft_from_ticket(body.pop("ticket_id"), body)
    columns = "id,title,slug,body,status,category,language,visibility,sourceTicketId"
    draft = engine.read_one(f"KbArticles({article_id})", select=columns)
    address = entity_url("KbArticle", article_id)
    if undo_if_dry(query):
        return {**draft, "id": None, "url": None}, 201, {}
    return {**draft, "url": address}, 201, {"Location": address}


@area.get("/articles/<int:article_id>/html")
@area.response(200, schemas.ArticleHtmlSchema)
@requires("kb:read")
def show_html(article_id: int) -> dict[str, Any]:
    """An article as HTML that is safe in any page; reading it so counts as a view."""
    columns = "id,title,slug,summary,language,category,status,version,updatedAt,body,bodyFormat"
    article = engine.read_one(f"KbArticles({article_id})", select=columns)
    body, body_format = article.pop("body"), article.pop("bodyFormat")
    if article["status"] == "Published":
        note_view(article_id)
    return {**article, "html": to_html(body, body_format)}


@area.post("/articles/<int:article_id>/feedback")
@area.arguments(schemas.FeedbackBodySchema)
@area.response(200, schemas.FeedbackSchema)
@requires("kb:read")
def rate_article(body: dict[str, Any], article_id: int) -> dict[str, Any]:
    """Say whether an article helped; saying it again replaces what you said."""
    return usage.rate_article(article_id, is_helpful=body["helpful"], comment=body["comment"])


@area.get("/articles/<int:article_id>/feedback")
@area.response(200, schemas.FeedbackListSchema)
@requires("kb:update")
def list_feedback(article_id: int) -> dict[str, Any]:
    """What readers said of an article, newest first, for those who may change it."""
    return {"items": usage.list_feedback(article_id)}


@area.get("/missing")
@area.arguments(schemas.MissingQuerySchema, location="query")
@area.response(200, schemas.MissingSchema)
@requires("kb:create")
def missing_articles(query: dict[str, Any]) -> dict[str, Any]:
    """What to write next: questions that led to no article, tickets solved without one."""
    return usage.missing_articles(query["days"], query["limit"])
