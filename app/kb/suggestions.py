"""What the knowledge base has for a ticket: articles that fit, tickets like it, a draft of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.container import engine
from app.errors import ForbiddenError, NotFoundError, ValidationError, naming
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.kb.indexing import SOLVED, TICKET, TICKET_WORDS
from app.kb.schemas import SimilarTicketSchema, SuggestionSchema
from app.kb.search import FoundArticle, describe_article, index_for_caller, search_articles
from app.kb.service import KB_ARTICLES
from app.models.ticket import Ticket
from app.permissions import allowed
from app.search.results import Marker
from app.tickets.service import TICKETS, link_article

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
    text = " ".join([match.article["title"], *match.texts])
    common = marker.words_in(text, match.language)[:REASON_WORDS]
    return answer_body(
        SuggestionSchema, describe_article(match, marker), linked=match.article["id"] in linked,
        reason=f"matches: {', '.join(common)}" if common else "similar in meaning",
    )  # fmt: skip


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
        answer_body(SimilarTicketSchema, rows[key], score=round(each.score, 4))
        for key, each in near.items()
        if key in rows
    ]
    return similar[:SIMILAR_TICKETS]


# Who asked is nobody's business in an article.
# From its first letter on, so that a long text without one costs no more than its length.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+\d[\d ()/-]{6,}\d")
_NOTHING_YET = "_To be written._"
# "Done." answers nobody; languages that put no blanks between words say more in one.
_LEAST_WORDS, _LEAST_CHARACTERS = 3, 20


def draft_from_ticket(ticket_id: int, **values: str | None) -> int:
    """Make a draft from a ticket, linked to it; returns its key.

    Args:
        values: attributes of the article, by name; the ticket gives those that are missing.
    Raises: NotFoundError, there is no ticket that the caller may read; ForbiddenError;
        ValidationError, also where what the ticket says is too short for an answer.
    """
    with naming("ticketId"):
        ticket = read_ticket(ticket_id)
    draft = {
        "title": ticket["subject"],
        "body": values.get("body") or _body(ticket_id, ticket["description"], ticket["resolution"]),
        "category": ticket["category"],
        "source_ticket_id": ticket_id,
    }
    if ticket["language"]:
        draft["language"] = ticket["language"]
    article_id = KB_ARTICLES.create(draft | values | {"status": "Draft"})
    caller = current_caller()
    stored = TICKETS.locked(ticket_id, caller)
    if allowed(caller, "tickets:update", stored):
        link_article(caller, stored, article_id)
    return article_id


def _body(ticket_id: int, description: str | None, resolution: str | None) -> str:
    answer = resolution
    if not answer:  # what was last said to the customer; notes of the agents stay among them
        comments = engine.read_many(
            f"Tickets({ticket_id})/Comments",
            filter="isInternal eq false and authorId ne null",
            orderby="id desc", select="body", top=1,
        )  # fmt: skip
        answer = comments[0]["body"] if comments else None
    question = without_persons(description or "") or _NOTHING_YET
    solution = without_persons(answer or "") or _NOTHING_YET
    if len(solution.split()) < _LEAST_WORDS and len(solution) < _LEAST_CHARACTERS:
        problem = (
            f"The ticket says only {solution!r}, which answers nobody: give the text yourself."
        )
        raise ValidationError([("body", problem)])
    return f"## Question\n\n{question}\n\n## Answer\n\n{solution}\n"


def without_persons(text: str) -> str:
    """A text with marks in place of e-mail addresses and telephone numbers."""
    return _PHONE.sub("(phone number)", _EMAIL.sub("(e-mail address)", text)).strip()
