"""How-to questions: the sentences of the best articles, word for word, each with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.ai.context import cited
from app.ai.extracts import best_extract
from app.ai.lexicon import spoken_language
from app.ai.parts import Ask, Part, Text, ToolCall, ToolResult
from app.ai.references import without_numbers
from app.ai.wording import sentences
from app.container import engine
from app.http.security import current_caller
from app.kb.rendering import to_html
from app.kb.search import FoundArticle, SearchResult, search_articles
from app.kb.usage import note_search
from app.permissions import allowed
from app.search.analysis import language_of
from app.written.catalogue import SOURCE, marked

# The best article answers where it is so near, together with so much of the part of the question's
# words that an article has; a farther one does not (measured on help articles in two languages).
NEAR_ENOUGH, WORDS_COUNT = 0.393, 0.1
# One more that is quoted beside it is so near by itself.
ALSO_NEAR = 0.38
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
    language = spoken_language(question, ask.language)
    good = [each for index, each in enumerate(result.found)
            if _answers(each, result, language, is_best=not index)]  # fmt: skip
    if result.found and good[:1] != result.found[:1]:
        good = []  # the best one is about something else, and so are the others
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


def _answers(match: FoundArticle, result: SearchResult, language: str, *, is_best: bool) -> bool:
    """Whether an article answers the question, in a language that its reader may read."""
    if result.mode == "keyword":
        return match.score >= COVERED_ENOUGH
    written = language_of(match.article["language"])
    if written not in (language, SOURCE) and result.covered < COVERED_ENOUGH:
        return False
    if not is_best:
        return match.nearness >= ALSO_NEAR
    return match.nearness + WORDS_COUNT * result.covered >= NEAR_ENOUGH


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
