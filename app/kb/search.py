"""Finding articles: candidates from the index, and of those what the caller may read.

The index proposes, the query engine decides: whatever is shown was read through it a moment ago,
published, and with its present title and category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import FromClause, select

from app.container import engine
from app.db.engines import read_engine
from app.events import entity_url
from app.http.page_sizes import ARTICLE_SEARCH
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.kb.indexing import ARTICLE
from app.kb.schemas import FoundArticleSchema
from app.models.kb_article import KbArticle
from app.models.search import SearchEntry
from app.odata.syntax.literals import quoted
from app.permissions import OWN, row_filter, scope_of
from app.search.analysis import language_of
from app.search.results import Marker, Mode, Ranked

if TYPE_CHECKING:
    from app.search.index_cache import IndexCache

# So many are looked at for ``total``; nobody pages further.
CANDIDATES = 200
_SHOWN = "title,slug,summary,category,language,visibility,updatedAt,version"


@dataclass(frozen=True)
class FoundArticle:
    """An article that was found, as the caller may see it."""

    article: Mapping[str, Any]
    score: float
    nearness: float
    passages: Sequence[str]

    @property
    def language(self) -> str:
        return language_of(self.article["language"])

    @property
    def texts(self) -> Sequence[str]:
        """What a snippet is taken from."""
        return self.passages or [self.article["summary"] or self.article["title"]]


@dataclass(frozen=True)
class SearchResult:
    """What a search found; ``mode`` is how it was done, where there is no model by words.

    ``covered`` is how much of the question the best text by words has, from 0 to 1.
    """

    mode: Mode
    covered: float
    total: int
    found: Sequence[FoundArticle]
    marker: Marker

    @property
    def items(self) -> list[dict[str, Any]]:
        """The articles as answers show them (contract 11.1)."""
        return [describe_article(article, self.marker) for article in self.found]


def search_articles(
    question: str,
    *,
    mode: Mode = "hybrid",
    limit: int = ARTICLE_SEARCH.default,
    category: str | None = None,
    language: str | None = None,
) -> SearchResult:
    """The published articles that answer a question best, among those that the caller may read.

    Args:
        language: a tag such as ``de``; ``de-AT`` is German too.
    Raises: ForbiddenError, the caller may read no articles.
    """
    from app.search.ranking import rank  # numpy is large: loaded by who searches

    index = index_for_caller(ARTICLE, "kb", KbArticle.__table__)
    question = index.spelled_out(question)
    hits, by_meaning = index.search(
        question, by_words=mode != "semantic", by_meaning=mode != "keyword"
    )
    if mode == "semantic" and not by_meaning:
        hits, _ = index.search(question, by_words=True, by_meaning=False)
    used: Mode = mode if by_meaning else "keyword"
    if category is not None:
        hits = hits.only(hits.categories == category)
    if language is not None:
        hits = hits.only(hits.languages == language_of(language))
    condition = _condition(category)
    total, readable = _readable(rank(hits, used, CANDIDATES), limit, condition, language)
    if len(readable) < limit and len(hits.keys) > CANDIDATES:
        # The caller may not read the best ones: look through all.
        ranked = rank(hits, used, len(hits.keys))
        total, readable = _readable(ranked, limit, condition, language)
    marker = Marker(question, {language_of(row["language"]) for _, row in readable} or {"en"})
    texts = _passages([each.key for each, _ in readable])
    articles = [
        FoundArticle(
            row, each.score, each.nearness,
            # What was indexed before the last change is not shown any more.
            texts[each.key][1] if texts.get(each.key, (0,))[0] == row["version"] else (),
        )
        for each, row in readable
    ]  # fmt: skip
    return SearchResult(used, hits.covered, total, articles, marker)


def index_for_caller(entity: str, resource: str, table: FromClause) -> IndexCache:
    """The index by which a question of the caller is weighed: that of what the caller may read.

    All that is in one is there for everybody, but for whom a role shows own records only: scores
    would tell of the others.
    """
    from app.search.index_cache import PartialIndex, index_cache_of

    caller = current_caller()
    if scope_of(caller, f"{resource}:read") != OWN:
        return index_cache_of(entity)
    own = row_filter(caller, resource, table.c)
    assert own is not None
    keys = select(table.c.id).where(own).params(dyn_caller_id=caller.user_id)
    return PartialIndex(entity, keys)


def describe_article(match: FoundArticle, marker: Marker) -> dict[str, Any]:
    row, snippet = match.article, marker.snippet(match.texts, match.language)
    return answer_body(
        FoundArticleSchema, row, snippet=snippet,
        score=round(match.score, 4), url=entity_url(ARTICLE, row["id"]),
    )  # fmt: skip


def _readable(
    ranked: Sequence[Ranked], limit: int, condition: str, language: str | None
) -> tuple[int, list[tuple[Ranked, Mapping[str, Any]]]]:
    """How many of the candidates the caller may read, and the best of them."""
    total, best = 0, list[tuple[Ranked, Mapping[str, Any]]]()
    for start in range(0, len(ranked), CANDIDATES):
        batch = ranked[start : start + CANDIDATES]
        rows = {
            key: row
            for key, row in engine.read_by_id(
                "KbArticles", [each.key for each in batch], _SHOWN, condition
            ).items()
            if language is None or language_of(row["language"]) == language_of(language)
        }
        total += len(rows)
        best += [(each, rows[each.key]) for each in batch if each.key in rows]
        if len(best) >= limit:
            break
    return total, best[:limit]


def _passages(keys: Sequence[int]) -> Mapping[int, tuple[int, list[str]]]:
    """Key of an article -> (version that was indexed, its passages).

    It asks for no permission: only for keys of records that the caller has just read.
    """
    if not keys:
        return {}
    wanted = select(SearchEntry.entity_id, SearchEntry.revision, SearchEntry.passages).where(
        SearchEntry.entity == ARTICLE, SearchEntry.entity_id.in_(keys)
    )
    with read_engine().connect() as connection:
        return {row.entity_id: (row.revision, row.passages) for row in connection.execute(wanted)}


def _condition(category: str | None) -> str:
    published = "status eq 'Published'"
    if category is None:
        return published
    return f"{published} and category eq {quoted(category)}"
