"""Tickets: what customers ask for, from the first message to the solution."""

from __future__ import annotations

from sqlalchemy import delete, select

from app import audit
from app.clock import utc_now
from app.crm.clients import touch_client
from app.db import records
from app.errors import InvalidStateError, NotFoundError
from app.http.security import Caller, current_caller
from app.models.client import Contact
from app.models.kb_article import KbArticle
from app.models.ticket import Ticket, TicketArticle
from app.permissions import allowed, require
from app.tickets.sla import PAUSED, due_times, pushed, reprioritised, sla_status
from app.writing.change import Change
from app.writing.pipeline import EntityService
from app.writing.rules import COMMON_WRITABLE, EntityRules
from app.writing.transitions import TICKET as TICKET_STATES

TICKET = EntityRules(
    model=Ticket,
    assignment="assignee_id",
)

# What may still be said of a closed ticket.
AFTER_CLOSING = frozenset(("satisfaction_rating", *COMMON_WRITABLE))


class TicketService(EntityService[Ticket]):
    """Writes of tickets."""

    rules = TICKET
    numbered = ("number", "T")
    machine = TICKET_STATES

    def defaults(self, change: Change[Ticket]) -> None:
        """The clocks start; who asks for a contact asks for its client."""
        values = change.values
        if change.history is None:
            level = change.settings.service_level
            values.update(due_times(change.now, change.get("priority"), level))
        if values.get("contact_id") is not None and "client_id" not in values:
            contact = change.related(Contact, values["contact_id"])
            # Whose contact it is must not be told to somebody who may not read it.
            if contact is not None and allowed(change.caller, "contacts:read", contact):
                values["client_id"] = contact.client_id

    def check(self, change: Change[Ticket]) -> None:
        """A closed ticket stays as it is; an assignee opens a new one."""
        if change.was("status") == "Closed":
            _refuse_changes(change)
        is_assigned = change.values.get("assignee_id") is not None
        is_waiting = change.is_new or change.was("status") == "New"
        if is_assigned and is_waiting and "status" not in change.values:
            change.values["status"] = "Open"
        until = change.values.get("pending_until") if "pending_until" in change.named else None
        if change.is_refused("status"):
            return
        if until is not None and change.get("status") != "Pending":
            change.refuse("pending_until", "is only for a ticket that is Pending")
        status = change.values.get("status")
        if (
            status in ("Open", "Solved")
            and change.history is None  # the agent of then may not be here
            and change.was("status") in (None, "New", "Open")
            and change.get("assignee_id") is None
            and not change.is_refused("assignee_id")
        ):
            change.refuse("assignee_id", f"is required for a ticket to become {status}")

    def enter(self, change: Change[Ticket], source: str | None, target: str) -> None:
        """Stop and start the clocks, count, and say what happened."""
        values = change.values
        since = change.was("solved_at") if source == "Solved" else change.was("sla_paused_at")
        if target in PAUSED:
            change.stamp(sla_paused_at=change.now)
        elif target == "Open" and since is not None and change.before is not None:
            values.update(pushed(change.before, since, change.now))
            values["sla_paused_at"] = values["solved_at"] = None
        if source == "Pending":
            values.setdefault("pending_until", None)
        if target == "Solved":
            change.stamp(solved_at=change.now)
        elif target == "Closed":
            change.stamp(closed_at=change.now)
        if source is None:
            return
        change.events.append("ticket.status_changed")
        if source == "Solved" and target == "Open":
            values["reopen_count"] = change.was("reopen_count") + 1
            change.events.append("ticket.reopened")
        elif target in ("Solved", "Closed"):
            change.events.append(f"ticket.{target.lower()}")

    def prepare(self, change: Change[Ticket]) -> None:
        """Another priority has other due times; then see how the service level stands."""
        if change.before is not None and "priority" in change.values:
            level = change.settings.service_level
            change.values.update(reprioritised(change.after(), change.before.priority, level))
        if change.changes("status", "priority", "first_responded_at"):
            change.stamp(sla_status=sla_status(change.after(), change.now))

    def written(self, change: Change[Ticket]) -> None:
        """Something happened around the client."""
        if change.changes("status"):
            touch_client(change.get("client_id"), change.now)

    def link(self, key: int, navigation: str, target: int) -> None:
        """Link an article of the knowledge base (``KbArticles``, the one relation by links)."""
        caller = current_caller()
        link_article(caller, self.locked(key, caller), target)

    def unlink(self, key: int, navigation: str, target: int) -> None:
        """End the link to an article."""
        caller = current_caller()
        unlink_article(caller, self.locked(key, caller), target)


def _refuse_changes(change: Change[Ticket]) -> None:
    """A closed ticket is closed; a step to another state has the state machine's answer."""
    frozen = [name for name in change.named if name not in AFTER_CLOSING and name != "status"]
    if frozen:
        raise InvalidStateError(
            "A closed ticket cannot be changed; a reply opens a new one.",
            [(change.rules.wire(name), "cannot change: the ticket is Closed") for name in frozen],
        )


TICKETS = TicketService()


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
