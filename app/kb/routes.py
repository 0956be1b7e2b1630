"""``/api/kb``: finding, reading and judging articles; keeping them is OData's."""

from __future__ import annotations

from typing import Any

from app.container import engine
from app.http.areas import Area
from app.http.security import requires
from app.kb import schemas, search
from app.kb.operations import OPERATIONS, describe_search
from app.kb.rendering import to_html
from app.kb.usage import note_search, note_view
from app.operations.rest import publish

area = Area("kb", __name__, description="Knowledge base: search, suggestions, feedback")
publish(area, *(each for each in OPERATIONS if each.path is not None))
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
