"""How-to questions: the sentences of the best articles, word for word, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from app import engine
from app.ai.parts import Ask, Citation, Part, Text, ToolCall, ToolResult
from app.ai.wording import sentences
from app.events import entity_url
from app.kb.rendering import to_text
from app.kb.search import Found, SearchResult, search_articles
from app.kb.use import note_search
from app.lazy import lazy
from app.permissions import allowed
from app.search.embedding import find_model
from app.search.passages import titled
from app.security import current_caller

if TYPE_CHECKING:
    import numpy
else:
    numpy = lazy("numpy")

# An article that is farther from the question does not answer it (measured on help articles).
NEAR_ENOUGH = 0.38
# Without the model: so much of the question's words, by their rarity, must be in the article.
COVERED_ENOUGH = 0.55
# A second article is quoted when it is nearly as good.
ALSO_GOOD = 0.9
QUOTED_SENTENCES = 3
# More of an article is not looked through for the best place.
SENTENCES_LOOKED_AT = 80
NOT_FOUND = (
    "I found nothing about that in the knowledge base. You could put it in other words, or open a"
    " ticket."
)


def answer_from_articles(ask: Ask) -> Iterator[Part]:
    """Quote the best article or two, or say that there is none."""
    if not allowed(current_caller(), "kb:read"):
        yield Text("You may not read the knowledge base.")
        return
    yield ToolCall("search_kb", {"q": ask.text[:300]})
    result = search_articles(ask.text, limit=5)
    shown = [each.article["id"] for each in result.found]
    note_search(ask.text, language=None, total=result.total, shown=shown)
    good = [each for each in result.found if _answers(each, result)]
    yield ToolResult("ok", f"{len(good)} of {result.total} articles fit")
    if not good:
        yield Text(NOT_FOUND)
        return
    best = good[0]
    quoted = [best]
    if len(good) > 1 and good[1].score >= best.score * ALSO_GOOD:
        quoted.append(good[1])
    for place, found in enumerate(quoted):
        yield from _quote(ask.text, found, QUOTED_SENTENCES if place == 0 else 1)


def _answers(found: Found, result: SearchResult) -> bool:
    if result.mode == "keyword":
        return found.score >= COVERED_ENOUGH
    return found.nearness >= NEAR_ENOUGH


def _quote(question: str, found: Found, most: int) -> Iterator[Part]:
    key = found.article["id"]
    article = engine.find_one(f"KbArticles({key})", select="title,body,bodyFormat,status")
    if article is None or article["status"] != "Published":
        return  # taken back since it was found
    lines = sentences(to_text(article["body"], article["bodyFormat"]))
    chosen = best_window(question, article["title"], lines, most)
    source = Citation(
        "KbArticle", key, article["title"], entity_url("KbArticle", key), " ".join(chosen)[:300]
    )
    for sentence in chosen:
        yield Text(sentence, source)


def best_window(question: str, title: str, lines: Sequence[str], most: int) -> list[str]:
    """Up to ``most`` sentences in a row, beginning with the one that fits the question best."""
    lines = lines[:SENTENCES_LOOKED_AT]
    if not lines:
        return []
    values = _fitness(question, title, lines)
    # A heading announces what follows it, and says nothing itself.
    for place, line in enumerate(lines):
        if len(line.split()) < 4 or line[-1] not in ".!?:;":
            values[place] *= 0.6
    start = max(range(len(lines)), key=lambda place: (values[place], -place))
    return list(lines[start : start + most])


def _fitness(question: str, title: str, lines: Sequence[str]) -> Any:
    model = find_model()
    if model is not None:
        vectors = model.embed([question, *(titled(title, line) for line in lines)])
        return vectors[1:] @ vectors[0]
    wanted = set(question.lower().split())
    return [len(wanted & set(line.lower().split())) / (len(wanted) or 1) for line in lines]
