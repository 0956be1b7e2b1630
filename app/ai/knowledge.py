"""How-to questions: the sentences of the best articles, word for word, each with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.ai.context import cited
from app.ai.extracts import best_extract
from app.ai.parts import Ask, Part, Text, ToolCall, ToolResult
from app.ai.references import without_numbers
from app.ai.wording import sentences
from app.container import engine
from app.http.security import current_caller
from app.kb.rendering import to_html
from app.kb.search import FoundArticle, SearchResult, search_articles
from app.kb.usage import note_search
from app.permissions import allowed
from app.written.catalogue import marked

# An article that is farther from the question does not answer it (measured on help articles).
NEAR_ENOUGH = 0.38
# Without the model: so much of the question's words, by their rarity, must be in the article.
COVERED_ENOUGH = 0.55
# A second article is quoted when it is nearly as good.
ALSO_GOOD = 0.93
_ITEM = re.compile(r"(?:-|\d+\.) ")
# "How to prove that ..." says what an article is about, and answers nothing.
_ANNOUNCEMENT = re.compile(r"(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)
NOT_ALLOWED = marked("You may not read the knowledge base.")
NOT_FOUND = marked(
    "I found nothing about that in the knowledge base. You could put it in other words, or open a"
    " ticket."
)


def answer_from_articles(ask: Ask) -> Iterator[Part]:
    """Quote the best article or two, or say that there is none."""
    if not allowed(current_caller(), "kb:read"):
        yield Text(ask.translated(NOT_ALLOWED))
        return
    question = without_numbers(ask.text)
    yield ToolCall("search_kb", {"q": question[:300]})
    result = search_articles(question, limit=5)
    note_search(ask.text, result)
    good = [each for each in result.found if _answers(each, result)]
    yield ToolResult("ok", f"{len(good)} of {result.total} articles fit")
    if not good:
        yield Text(ask.translated(NOT_FOUND))
        return
    best = good[0]
    quoted = [best]
    if len(good) > 1 and good[1].score >= best.score * ALSO_GOOD:
        quoted.append(good[1])
    for index, match in enumerate(quoted):
        yield from _quote(question, match, whole=index == 0)


def _answers(match: FoundArticle, result: SearchResult) -> bool:
    if result.mode == "keyword":
        return match.score >= COVERED_ENOUGH
    return match.nearness >= NEAR_ENOUGH


def _quote(question: str, match: FoundArticle, *, whole: bool) -> Iterator[Part]:
    """The summary of an article, if it says something, and the piece that fits the question.

    Args:
        whole: whether the piece is quoted beside a summary, too.
    """
    key = match.article["id"]
    columns = "title,summary,body,bodyFormat,status"
    article = engine.find_one(f"KbArticles({key})", select=columns)
    if article is None or article["status"] != "Published":
        return  # taken back since it was found
    summary = article["summary"] or ""
    lines = [] if _ANNOUNCEMENT.match(summary) else [summary] if summary else []
    if whole or not lines:
        html = to_html(article["body"], article["bodyFormat"])
        lines += best_extract(question, article["title"], html)
    source = cited("KbArticle", key, article["title"], " ".join(lines)[:300])
    is_new_paragraph = not whole
    for line in lines:
        if _ITEM.match(line):
            yield Text(f"\n{line}", source)
            continue
        for sentence in sentences(line):
            yield Text(f"\n{sentence}" if is_new_paragraph else sentence, source)
            is_new_paragraph = False
