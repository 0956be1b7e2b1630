"""A draft of an article out of a ticket: what was asked, and what solved it."""

from __future__ import annotations

import re

from app.container import engine
from app.errors import ValidationError, naming
from app.http.security import current_caller
from app.kb.service import KB_ARTICLES
from app.kb.suggestions import read_ticket
from app.permissions import allowed
from app.tickets.service import TICKETS, link_article

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
