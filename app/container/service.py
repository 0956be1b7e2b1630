"""Entity types Ticket, TicketComment, KbArticle and KbRevision."""

from __future__ import annotations

from app.container.common import (
    business_type,
    documents_of,
    refers,
    servers,
    tasks_about,
)
from app.models.kb_article import KbArticle, KbRevision
from app.models.ticket import Ticket, TicketArticle, TicketComment
from app.odata.model import edm
from app.odata.model.declare import prop, to_many, to_one
from app.tickets.comments import COMMENTS

_link = TicketArticle.__table__


def _linked(name: str, target: str, source_column: str, target_column: str, partner: str,
            description: str) -> edm.NavigationProperty:  # fmt: skip
    """A many-to-many relation between tickets and articles."""
    return edm.NavigationProperty(
        name=name,
        target=target,
        collection=True,
        join=lambda source, other: other["id"].in_(
            _link.select()
            .with_only_columns(_link.c[target_column])
            .where(_link.c[source_column] == source["id"])
            .correlate_except(_link)  # however deep it lies, the row is the one outside
            .scalar_subquery()
        ),
        through=(_link, source_column, target_column),
        partner=partner,
        description=description,
    )


TICKET = business_type(
    Ticket,
    [
        "number", "subject", "description", "status", "priority", "type", "channel", "client_id",
        "contact_id", "requester_email", "assignee_id", "category", "language", "pending_until",
        "resolution", "satisfaction_rating", "first_response_due_at", "first_responded_at",
        "resolution_due_at", "sla_status", "solved_at", "closed_at", "reopen_count",
        "merged_into_id", "last_customer_reply_at", "last_agent_reply_at",
    ],
    [
        refers("client_id", partner="Tickets", searched=True),
        refers("contact_id", partner="Tickets", searched=True),
        refers("assignee_id"),
        refers("merged_into_id"),
        to_many(
            "Comments", "TicketComment", "ticket_id", contained=True,
            service=COMMENTS, description="Answers and notes.",
        ),
        _linked(
            "KbArticles", "KbArticle", "ticket_id", "article_id", "Tickets", "Linked articles."
        ),
        documents_of("Ticket"),
        tasks_about("Ticket"),
    ],
    resource="tickets",
    alternate_keys=(("number",),),
    description="A request of a customer.",
)  # fmt: skip

TICKET_COMMENT = business_type(
    TicketComment,
    [
        *servers(TicketComment, "ticket_id"),
        "body",
        "is_internal",
        *servers(TicketComment, "author_id", "created_at"),
    ],
    [refers("author_id")],
    resource="tickets",
    description="An answer on a ticket, or an internal note.",
)

KB_ARTICLE = business_type(
    KbArticle,
    [
        "title", "body", "body_format", "summary", "status", "visibility", "category", "language",
        "review_due_at", "expires_at", "translation_of_id", "source_ticket_id", "slug",
        prop(KbArticle.__table__.c.revision, "version"),
        "published_at", "published_by_id", "archived_at", "view_count", "helpful_count",
        "not_helpful_count", "word_count", "indexed_at",
    ],
    [
        to_one("Author", "User", "created_by_id", description="Who wrote it."),
        refers("translation_of_id"),
        refers("source_ticket_id"),
        to_many(
            "Revisions", "KbRevision", "article_id", contained=True,
            description="The text as it was.",
        ),
        _linked(
            "Tickets", "Ticket", "article_id", "ticket_id", "KbArticles", "Tickets it helped."
        ),
        documents_of("KbArticle"),
    ],
    resource="kb",
    alternate_keys=(("slug",),),
    description="An answer written once for many askers.",
)  # fmt: skip

KB_REVISION = business_type(
    KbRevision,
    [
        *servers(
            KbRevision, "revision", "title", "summary", "body", "author_id", "created_at",
            "published_at",
        ),
    ],
    [refers("author_id")],
    resource="kb",
    description="The text of an article as it was.",
)  # fmt: skip
