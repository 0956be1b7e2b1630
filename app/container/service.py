"""Entity types Ticket, TicketComment, KbArticle and KbRevision."""

from __future__ import annotations

from app.container.common import (
    business_type,
    common,
    documents_of,
    kept,
    key,
    owner,
    priority,
    server,
    tasks_about,
)
from app.models.kb_article import KbArticle, KbRevision
from app.models.ticket import Ticket, TicketArticle, TicketComment
from app.odata.declare import prop, to_many, to_one
from app.odata.model import edm
from app.tickets.comments import COMMENTS

_ticket = Ticket.__table__
_comment = TicketComment.__table__
_link = TicketArticle.__table__
_article = KbArticle.__table__
_revision = KbRevision.__table__


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
    "Ticket",
    _ticket,
    [
        key(_ticket),
        prop(_ticket.c.number),
        prop(_ticket.c.subject),
        prop(_ticket.c.description),
        kept(_ticket.c.status),
        priority(_ticket.c.priority),
        prop(_ticket.c.type),
        prop(_ticket.c.channel),
        prop(_ticket.c.client_id),
        prop(_ticket.c.contact_id),
        prop(_ticket.c.requester_email),
        kept(_ticket.c.assignee_id),
        prop(_ticket.c.category),
        prop(_ticket.c.language),
        prop(_ticket.c.pending_until),
        prop(_ticket.c.resolution),
        prop(_ticket.c.satisfaction_rating),
        prop(_ticket.c.first_response_due_at),
        prop(_ticket.c.first_responded_at),
        prop(_ticket.c.resolution_due_at),
        prop(_ticket.c.sla_status),
        prop(_ticket.c.solved_at),
        prop(_ticket.c.closed_at),
        prop(_ticket.c.reopen_count),
        prop(_ticket.c.merged_into_id),
        prop(_ticket.c.last_customer_reply_at),
        prop(_ticket.c.last_agent_reply_at),
        *common(_ticket),
    ],
    [
        to_one(
            "Client", "Client", "client_id", partner="Tickets", searched=True,
            description="Client.",
        ),
        to_one(
            "Contact", "Contact", "contact_id", partner="Tickets", searched=True,
            description="Contact.",
        ),
        to_one("Assignee", "User", "assignee_id", description="Agent who works on it."),
        to_one("MergedInto", "Ticket", "merged_into_id", description="Ticket it went into."),
        to_many(
            "Comments", "TicketComment", "ticket_id", contained=True,
            service=COMMENTS, description="Answers and notes.",
        ),
        _linked(
            "KbArticles", "KbArticle", "ticket_id", "article_id", "Tickets", "Linked articles."
        ),
        documents_of("Ticket"),
        tasks_about("Ticket"),
        owner(),
    ],
    resource="tickets",
    etag="version",
    alternate_keys=(("external_id",), ("number",)),
    description="A request of a customer.",
)  # fmt: skip

TICKET_COMMENT = business_type(
    "TicketComment",
    _comment,
    [
        key(_comment),
        prop(_comment.c.ticket_id, computed=True),
        prop(_comment.c.body),
        prop(_comment.c.is_internal),
        server(_comment.c.author_id),
        server(_comment.c.created_at),
    ],
    [to_one("Author", "User", "author_id", description="Agent who wrote it.")],
    resource="tickets",
    description="An answer on a ticket, or an internal note.",
)

KB_ARTICLE = business_type(
    "KbArticle",
    _article,
    [
        key(_article),
        prop(_article.c.title),
        prop(_article.c.body),
        prop(_article.c.body_format),
        prop(_article.c.summary),
        kept(_article.c.status),
        prop(_article.c.visibility),
        prop(_article.c.category),
        prop(_article.c.language),
        prop(_article.c.review_due_at),
        prop(_article.c.expires_at),
        prop(_article.c.translation_of_id),
        prop(_article.c.source_ticket_id),
        prop(_article.c.slug),
        prop(_article.c.revision, "version"),
        prop(_article.c.published_at),
        prop(_article.c.published_by_id),
        prop(_article.c.archived_at),
        prop(_article.c.view_count),
        prop(_article.c.helpful_count),
        prop(_article.c.not_helpful_count),
        prop(_article.c.word_count),
        prop(_article.c.indexed_at),
        *common(_article),
    ],
    [
        to_one("Author", "User", "created_by_id", description="Who wrote it."),
        to_one("TranslationOf", "KbArticle", "translation_of_id", description="Original."),
        to_one("SourceTicket", "Ticket", "source_ticket_id", description="Ticket behind it."),
        to_many(
            "Revisions", "KbRevision", "article_id", contained=True,
            description="The text as it was.",
        ),
        _linked(
            "Tickets", "Ticket", "article_id", "ticket_id", "KbArticles", "Tickets it helped."
        ),
        documents_of("KbArticle"),
        owner(),
    ],
    resource="kb",
    etag="version",
    alternate_keys=(("external_id",), ("slug",)),
    description="An answer written once for many askers.",
)  # fmt: skip

KB_REVISION = business_type(
    "KbRevision",
    _revision,
    [
        key(_revision),
        server(_revision.c.revision),
        server(_revision.c.title),
        server(_revision.c.summary),
        server(_revision.c.body),
        server(_revision.c.author_id),
        server(_revision.c.created_at),
        server(_revision.c.published_at),
    ],
    [to_one("Author", "User", "author_id", description="Who wrote it.")],
    resource="kb",
    description="The text of an article as it was.",
)
