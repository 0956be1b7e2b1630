"""``/api/crm``: what customer relations do besides keeping records."""

from __future__ import annotations

from typing import Any

from app.crm.area import area
from app.crm.operations import OPERATIONS
from app.crm.search.schemas import SearchAnswerSchema, SearchQuerySchema
from app.crm.search.service import search as find
from app.importing import views
from app.operations.rest import publish

__all__ = ["area", "views"]

publish(area, *OPERATIONS)


@area.get("/search")
@area.arguments(SearchQuerySchema, location="query")
@area.response(200, SearchAnswerSchema)
def search(query: dict[str, Any]) -> dict[str, Any]:
    """Find clients, contacts, leads or opportunities, the best first.

    Every word must be there, at least inside another; what two letters are must begin a word.
    Case, accents and punctuation do not matter. Where fewer than ten records have what was typed,
    those with typing errors follow. Only records that you may read are found and counted.
    """
    return find(query.pop("q"), **query)
