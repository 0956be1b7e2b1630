"""Tickets: the conversation with its answer box, the clocks, what may help, and agents' queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Response, request
from markupsafe import Markup

from app.clock import utc_now
from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.choices import page_links, page_rows, skipped
from app.console.language import translated
from app.console.named_records import Names, names_by_key, names_of
from app.console.sets import PAGES
from app.console.typed import key_in
from app.console.wording import duration, words
from app.container.engine import ask, query_address, read_many
from app.container.measures import MEASURES
from app.errors import ValidationError
from app.extensions import db
from app.http.security import current_caller, requires
from app.kb.suggestions import draft_from_ticket, suggest_for_ticket
from app.settings import organisation
from app.settings.templates import fill

# The latest of them; the page of all has the rest.
COMMENTS = 50
SUGGESTED = 5
ADDRESS = f"{session.ROOT}/tickets"
ASSIGN = "assign"
# What an answer may lead to, besides the steps that the ticket offers as it stands: an answer
# opens a new ticket.
_AFTER_ANSWER = {"New": ("Pending", "Solved"), "Open": ("Pending", "Solved")}
# How the reason begins of an article that was found by words.
_MATCHES = "matches: "
_MINE, _NOBODY = "me", "none"
_OPEN = MEASURES["OpenTickets"].condition


@dataclass(frozen=True)
class Clock:
    """A clock of the service level: ``tone`` is the colour of ``says``."""

    name: str
    due: str | None
    says: str
    tone: str


@dataclass(frozen=True)
class Desk:
    """What an agent works with beside the conversation.

    ``answers`` are canned, filled in for the ticket; ``next_states`` can be set with an answer.
    """

    clocks: Sequence[Clock]
    answers: Mapping[str, str]
    chosen: str
    next_states: Sequence[tuple[str, str]]
    may_assign: bool
    customer: str


class Queue(NamedTuple):
    """Open tickets of an agent, of nobody: how many there are."""

    key: str
    name: str
    tickets: int


@console.get("/tickets/<int:key>/suggestions")
@requires("kb:read")
def show_suggestions(key: int) -> Response:
    """Articles that may help with a ticket, and tickets like it that were solved."""
    suggestions = suggest_for_ticket(key, SUGGESTED)
    ticket = engine.read(f"Tickets({key})", select="id,number,subject").body
    articles = [
        {**article, "snippet": Markup(article["snippet"]), "reason": _reason(article["reason"])}
        for article in suggestions["items"]
    ]
    return page(
        "suggestions.html", ticket=ticket, articles=articles, tickets=suggestions["similarTickets"]
    )


def _reason(message: str) -> str:
    """Why an article may help, in the language of the page."""
    words = message.removeprefix(_MATCHES)
    if words == message:
        return translated("similar in meaning")
    return translated("matches: %(words)s", words=words)


@console.post("/tickets/<int:key>/suggestions")
@requires("tickets:update")
def link_article(key: int) -> Response:
    """Note that an article is about a ticket."""
    article = request.form.get("article", "")
    article_link = {"@odata.id": f"KbArticles({article})"}
    ask("POST", f"Tickets({key})/KbArticles/$ref", body=article_link)
    return see_other(f"{ADDRESS}/{key}/suggestions", translated("Article linked."))


@console.post("/tickets/<int:key>/article")
@requires("kb:create")
def draft_article(key: int) -> Response:
    """Draft an article from what was asked and what solved it."""
    try:
        article = draft_from_ticket(key)
    except ValidationError as error:  # it says too little: the text is for the author to write
        if [detail.field for detail in error.details] != ["body"]:
            raise
        db.session.rollback()
        title = engine.read(f"Tickets({key})", select="subject").body["subject"]
        new = urlencode({"title": title, "sourceTicketId": key})
        message = translated("The ticket says too little for an answer: write it here.")
        return see_other(f"{session.ROOT}/kbarticles/new?{new}", message)
    return see_other(
        f"{session.ROOT}/kbarticles/{article}/edit", translated("Drafted from the ticket.")
    )


@console.get("/queue")
@requires("tickets:read")
def show_queue() -> Response:
    """The open tickets of an agent, what is due first at the top."""
    agent = request.args.get("agent", _MINE)
    key = _agent_key(agent)
    whose = f"assigneeId eq {key}" if key else "assigneeId eq null"
    skip = skipped()
    options: dict[str, str | int | None] = {
        "select": "id,number,subject,status,priority,slaStatus,clientId,requesterEmail,"
        "firstResponseDueAt,firstRespondedAt,resolutionDueAt,solvedAt",
        "filter": f"({_OPEN}) and {whose}",
        "orderby": "resolutionDueAt asc,id asc",
        "top": page_rows(),
        "skip": skip or None,
    }
    result = engine.read("Tickets", count="true", **options)
    return page(
        "queue.html",
        rows=[(row, _nearest(row)) for row in result.rows],
        names=names_of(PAGES["tickets"].entity_set.type, result.rows),
        queues=_queues(),
        chosen=agent if key else _NOBODY,
        links=page_links(int(result.body["@odata.count"])),
        query=query_address("Tickets", options),
    )


def talk_of(key: int) -> list[dict[str, Any]]:
    """The latest comments on a ticket, the oldest first, each with the name of who wrote it."""
    rows = engine.read(f"Tickets({key})/Comments", orderby="id desc", top=COMMENTS).rows[::-1]
    people = names_by_key("User", [row["authorId"] for row in rows if row.get("authorId")])
    authors: dict[Any, str] = {key: person.name for key, person in people.items()}
    return [{**row, "author": authors.get(row.get("authorId"))} for row in rows]


def desk_of(ticket: Mapping[str, Any], names: Names) -> Desk:
    """What the page of a ticket offers besides what was said."""
    actions = ticket.get("allowedActions") or []
    contact = names.of("contactId", ticket)
    client = names.of("clientId", ticket)
    customer = contact or client
    asks = customer.name if customer else ticket.get("requesterEmail") or translated("the customer")
    may_answer = "comment" in actions
    answers = _canned(ticket, asks, client.name if client else asks) if may_answer else {}
    is_mine = ticket.get("assigneeId") == current_caller().user_id
    return Desk(
        clocks_of(ticket),
        answers,
        answers.get(request.args.get("answer", ""), ""),
        _next_states(ticket, actions) if may_answer else [],
        "update" in actions and not is_mine and ticket["status"] != "Closed",
        asks,
    )


def assign_to_me(key: int, version: str | None) -> str:
    """Make the caller the agent of a ticket; returns what is said.

    Raises: an ApiError, as the API would answer.
    """
    ask("PATCH", f"Tickets({key})", body={"assigneeId": current_caller().user_id}, version=version)
    return translated("The ticket is yours.")


def settle_answer(key: int, comment: Mapping[str, Any], state: str) -> tuple[int, str]:
    """Set the state that an answer leads to; returns the ticket that it went to, and what is said.

    Whoever sets the state takes a ticket of nobody.

    Raises: an ApiError, as the API would answer; the answer is undone with it.
    """
    went_to = int(comment.get("ticketId") or key)
    message = translated("Note added.") if comment.get("isInternal") else translated("Answered.")
    if went_to != key:
        return went_to, translated("Answered, in a new ticket that follows the closed one.")
    if not state:
        return key, message
    ticket = engine.read(f"Tickets({key})", select="status").body
    if ticket["status"] != state:
        ask("PATCH", f"Tickets({key})", body={"status": state, **taken_over(key)})
    return key, translated(
        "%(said)s, and set to %(state)s.", said=message.removesuffix("."), state=words(state)
    )


def taken_over(key: int) -> dict[str, Any]:
    """What makes the caller the agent of a ticket of nobody; nothing of one that has an agent."""
    ticket = engine.read(f"Tickets({key})", select="assigneeId").body
    return {"assigneeId": current_caller().user_id} if ticket["assigneeId"] is None else {}


def clocks_of(ticket: Mapping[str, Any]) -> list[Clock]:
    """The first answer and the solution: when they are due, or how they came."""
    pairs = (
        (translated("First answer"), "firstResponseDueAt", "firstRespondedAt"),
        (translated("Solution"), "resolutionDueAt", "solvedAt"),
    )
    return [
        _clock(name, ticket[due], ticket.get(done), ticket)
        for name, due, done in pairs
        if ticket.get(due)
    ]


def _clock(name: str, due: str, done: str | None, ticket: Mapping[str, Any]) -> Clock:
    end = datetime.fromisoformat(due)
    if done:
        late = int((datetime.fromisoformat(done) - end).total_seconds())
        if late <= 0:
            return Clock(name, None, translated("in time"), "good")
        return Clock(name, None, translated("%(time)s late", time=duration(late)), "bad")
    if ticket["status"] in ("Pending", "OnHold"):
        return Clock(name, due, translated("paused"), "plain")
    left = int((end - utc_now()).total_seconds())
    if left < 0:
        return Clock(name, due, translated("%(time)s overdue", time=duration(-left)), "bad")
    tone = "waiting" if ticket["slaStatus"] == "AtRisk" else "plain"
    return Clock(name, due, translated("in %(time)s", time=duration(left)), tone)


def _nearest(ticket: Mapping[str, Any]) -> Clock | None:
    """The clock that matters: the first one that still runs."""
    running = [clock for clock in clocks_of(ticket) if clock.due]
    return running[0] if running else None


def _canned(ticket: Mapping[str, Any], contact: str, client: str) -> dict[str, str]:
    """The canned answers by their names, filled in."""
    agent = names_by_key("User", [current_caller().user_id]).get(current_caller().user_id)
    values = {
        "number": ticket.get("number") or "",
        "subject": ticket["subject"],
        "client": client,
        "contact": contact,
        "agent": agent.name if agent else current_caller().username,
    }
    answers = organisation().help_desk.answers
    return {name: fill(text, values) for name, text in answers.items()}


def _next_states(ticket: Mapping[str, Any], actions: Sequence[str]) -> list[tuple[str, str]]:
    """States that can be set together with an answer, with the words of their buttons."""
    offered = [name.removeprefix("status:") for name in actions if name.startswith("status:")]
    states = _AFTER_ANSWER.get(ticket["status"], tuple(offered))
    named = {
        "Solved": translated("Answer and solve"),
        "Pending": translated("Answer and wait"),
        "Open": translated("Answer and open"),
    }
    return [(state, named[state]) for state in states if state in named]


def _agent_key(agent: str) -> int | None:
    """The key of the user whose queue it is; None for what is nobody's."""
    if agent == _MINE:
        return current_caller().user_id
    return key_in(agent)


def _queues() -> list[Queue]:
    """One's own, nobody's, and those of the colleagues that have open tickets."""
    grouped = read_many(
        "Tickets", apply=f"filter({_OPEN})/groupby((assigneeId),aggregate($count as tickets))"
    )
    counts = {row["assigneeId"]: row["tickets"] for row in grouped}
    me = current_caller().user_id
    others = names_by_key("User", [key for key in counts if key and key != me])
    named = sorted((named.name, key) for key, named in others.items())
    return [
        Queue(_MINE, translated("Mine"), counts.get(me, 0)),
        Queue(_NOBODY, translated("Unassigned"), counts.get(None, 0)),
        *(Queue(str(key), name, counts[key]) for name, key in named),
    ]
