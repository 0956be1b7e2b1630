"""Which articles of the knowledge base helped with which tickets."""

from __future__ import annotations

from sqlalchemy import delete, select

from app import audit
from app.clock import utc_now
from app.db import records
from app.errors import NotFoundError
from app.http.security import Caller
from app.models.kb_article import KbArticle
from app.models.ticket import Ticket, TicketArticle
from app.permissions import allowed, require


def link_article(caller: Caller, ticket: Ticket, article_id: int) -> None:
    """Link an article to a ticket, which the caller has read; twice is as once.

    Raises: ForbiddenError, the caller may not change the ticket; NotFoundError, there is no such
        article that the caller may read.
    """
    require(caller, "tickets:update", ticket)
    article = records.read(KbArticle, article_id)
    if article is None or not allowed(caller, "kb:read", article):
        raise NotFoundError(f"There is no article {article_id}.")
    pair = {"ticket_id": ticket.id, "article_id": article_id}
    known = select(TicketArticle.id).filter_by(**pair)
    if records.connection().execute(known).scalar() is None:
        records.insert(TicketArticle, {"created_at": utc_now(), **pair})
        audit.record("ticket.article_linked", "Ticket", ticket.id, after={"articleId": article_id})


def unlink_article(caller: Caller, ticket: Ticket, article_id: int) -> None:
    """End the link; nothing happens where there is none.

    Raises: ForbiddenError, the caller may not change the ticket.
    """
    require(caller, "tickets:update", ticket)
    pair = (TicketArticle.ticket_id == ticket.id) & (TicketArticle.article_id == article_id)
    if records.connection().execute(delete(TicketArticle).where(pair)).rowcount:
        lost = {"articleId": article_id}
        audit.record("ticket.article_unlinked", "Ticket", ticket.id, before=lost)
