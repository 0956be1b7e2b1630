"""The operations of the knowledge base."""

from __future__ import annotations

from typing import Any

from app.kb.schemas import ArticleSearchQuerySchema, KbSearchResultSchema
from app.kb.search import SearchResult, search_articles
from app.operations.declaration import Operation


def find_articles(q: str, **wanted: Any) -> dict[str, Any]:
    """What ``search_articles`` finds, as the answer shows it."""
    return describe_search(q, search_articles(q, **wanted))


def describe_search(q: str, result: SearchResult) -> dict[str, Any]:
    """What was found, as the answer shows it (contract 11.1)."""
    return {"query": q, "mode": result.mode, "total": result.total, "items": result.items}


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
OPERATIONS = (KB_SEARCH,)
