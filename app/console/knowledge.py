"""The knowledge base for readers: found by a question, read, and judged."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from markupsafe import Markup

from app.console import engine, session
from app.console.area import console, page, refused_on, see_other
from app.console.typed import typed_note
from app.errors import ApiError
from app.http.security import current_caller, requires
from app.kb.rendering import to_html
from app.kb.search import search_articles
from app.kb.usage import list_feedback, missing_articles, note_search, note_view, rate_article
from app.permissions import allowed

FOUND = 20
NEWEST = 10
# How far back is looked for what articles lack.
DAYS = 30
LONGEST = 300
ADDRESS = f"{session.ROOT}/knowledge"
_READ = (
    "id,title,summary,language,category,tags,status,visibility,updatedAt,body,bodyFormat,"
    "viewCount,helpfulCount,notHelpfulCount"
)


@console.get("/knowledge")
@requires("kb:read")
def search_knowledge() -> Response:
    """Articles that answer a question; the newest ones where nothing was asked."""
    question = request.args.get("q", "").strip()[:LONGEST]
    articles: list[dict[str, Any]] = []
    total = 0
    if question:
        result = search_articles(question, limit=FOUND)
        articles, total = result.items, result.total
        note_search(question, result)
    newest = [] if question else engine.read(
        "KbArticles", filter="status eq 'Published'", orderby="updatedAt desc", top=NEWEST,
        select="id,title,summary,category,updatedAt",
    ).rows  # fmt: skip
    for article in articles:
        article["snippet"] = Markup(article["snippet"])  # made safe where it was marked
    return page("knowledge.html", question=question, found=articles, total=total, newest=newest)


@console.get("/knowledge/missing")
@requires("kb:create")
def show_missing_articles() -> Response:
    """What to write next: questions that led nowhere, tickets solved without an article."""
    missing = missing_articles(DAYS, FOUND)
    return page("missing.html", days=DAYS, searches=missing["searches"], tickets=missing["tickets"])


@console.get("/knowledge/<int:key>")
@requires("kb:read")
def read_article(key: int, problem: ApiError | None = None) -> Response:
    """An article as it is read; reading counts."""
    article = engine.read(f"KbArticles({key})", select=_READ).body
    if article["status"] == "Published" and request.method == "GET":
        note_view(key)
    feedback: list[dict[str, Any]] = []
    if allowed(current_caller(), "kb:update"):
        try:
            feedback = list_feedback(key)
        except ApiError:  # somebody else's article
            feedback = []
    return page(
        "article.html",
        article=article,
        html=Markup(to_html(article["body"] or "", article["bodyFormat"])),
        feedback=feedback,
        judged="judged" in request.args,
        problem=problem,
    )


@console.post("/knowledge/<int:key>")
@requires("kb:read")
@refused_on(read_article)
def judge_article(key: int) -> Response:
    comment = typed_note("comment", 1000)
    rate_article(key, is_helpful=request.form.get("helpful") == "yes", comment=comment)
    return see_other(f"{ADDRESS}/{key}?judged=1")
