"""What may help with a ticket: articles that fit it, and tickets like it that were solved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.container import engine
from app.errors import ForbiddenError, NotFoundError
from app.events import entity_url
from app.kb.indexing import ARTICLE, SOLVED, TICKET, TICKET_WORDS
from app.kb.search import FoundArticle, index_for_caller, search_articles
from app.models.ticket import Ticket
from app.search.analysis import language_of
from app.search.results import Marker

SIMILAR_TICKETS = 5
# Below this a ticket is about something else, however few there are.
LEAST_SIMILAR = 0.35
REASON_WORDS = 5


def suggest_for_ticket(ticket_id: int, limit: int) -> dict[str, Any]:
    """The answer of ``kb/suggest`` (contract 11.1).

    Raises: NotFoundError, there is no ticket that the caller may read; ForbiddenError, no articles.
    """
    ticket = read_ticket(ticket_id)
    question = question_of(ticket)
    result = search_articles(question, limit=limit)
    linked = engine.read_many(f"Tickets({ticket_id})/KbArticles", select="id")
    linked_ids = {row["id"] for row in linked}
    return {
        "ticketId": ticket_id,
        "items": [_item(article, result.marker, linked_ids) for article in result.found],
        "similarTickets": _similar(ticket_id, question),
    }


def read_ticket(ticket_id: int) -> Mapping[str, Any]:
    """A ticket with what it is about.

    Raises: NotFoundError, there is none that the caller may read.
    """
    columns = "id,number,subject,description,category,language,status,resolution"
    try:
        return engine.read_one(f"Tickets({ticket_id})", select=columns)
    except (ForbiddenError, NotFoundError):
        raise NotFoundError(f"There is no ticket {ticket_id}.") from None


def question_of(ticket: Mapping[str, Any]) -> str:
    """What a ticket asks: its subject and its first words."""
    words = (ticket["description"] or "").split()[:TICKET_WORDS]
    return " ".join([ticket["subject"], *words])


def _item(match: FoundArticle, marker: Marker, linked: set[int]) -> dict[str, Any]:
    row = match.article
    language = language_of(row["language"])
    texts = match.passages or [row["summary"] or row["title"]]
    common = marker.words_in(" ".join([row["title"], *texts]), language)[:REASON_WORDS]
    return {
        "id": row["id"],
        "title": row["title"],
        "snippet": marker.snippet(texts, language),
        "score": round(match.score, 4),
        "reason": f"matches: {', '.join(common)}" if common else "similar in meaning",
        "linked": row["id"] in linked,
        "url": entity_url(ARTICLE, row["id"]),
    }


def _similar(ticket_id: int, question: str) -> list[dict[str, Any]]:
    from app.search.ranking import rank  # numpy is large: loaded by who searches

    index = index_for_caller(TICKET, "tickets", Ticket.__table__)
    hits, by_meaning = index.search(question, by_words=True, by_meaning=True)
    ranked = rank(hits, "hybrid" if by_meaning else "keyword", SIMILAR_TICKETS * 4)
    near = {each.key: each for each in ranked if each.score >= LEAST_SIMILAR}
    near.pop(ticket_id, None)
    states = " or ".join(f"status eq '{state}'" for state in SOLVED)
    rows = engine.read_by_id("Tickets", near, "number,subject,status,resolution", f"({states})")
    similar = [
        {
            "id": key,
            **{name: rows[key][name] for name in ("number", "subject", "status", "resolution")},
            "score": round(each.score, 4),
        }
        for key, each in near.items()
        if key in rows
    ]
    return similar[:SIMILAR_TICKETS]
