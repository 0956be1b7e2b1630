"""Tickets: what was said on them, and what may help."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from markupsafe import Markup

from app.console import engine, session
from app.console.area import console, page, see_other
from app.container.engine import read_by_id
from app.http.security import current_caller, requires
from app.kb.suggestions import suggest_for_ticket
from app.permissions import allowed

# The latest of them; the rest is what the query on the page gives.
COMMENTS = 50
SUGGESTED = 5
ADDRESS = f"{session.ROOT}/tickets"


@console.get("/tickets/<int:key>/suggestions")
@requires("kb:read")
def show_suggestions(key: int) -> Response:
    """Articles that may help with a ticket, and tickets like it that were solved."""
    found = suggest_for_ticket(key, SUGGESTED)
    ticket = engine.read(f"Tickets({key})", select="id,number,subject").body
    articles = [{**one, "snippet": Markup(one["snippet"])} for one in found["items"]]
    return page(
        "suggestions.html", ticket=ticket, articles=articles, tickets=found["similarTickets"]
    )


@console.post("/tickets/<int:key>/suggestions")
@requires("tickets:update")
def link_article(key: int) -> Response:
    """Note that an article is about a ticket."""
    session.check_form()
    article = request.form.get("article", "")
    wanted = {"@odata.id": f"KbArticles({article})"}
    engine.send("POST", f"Tickets({key})/KbArticles/$ref", wanted)
    return see_other(f"{ADDRESS}/{key}/suggestions")


def talk_of(key: int) -> list[dict[str, Any]]:
    """The latest comments on a ticket, the oldest first, each with the name of who wrote it."""
    rows = engine.read(f"Tickets({key})/Comments", orderby="id desc", top=COMMENTS).rows[::-1]
    keys = [row["authorId"] for row in rows if row.get("authorId")]
    names: Any = {}
    if keys and allowed(current_caller(), "directory:read"):
        names = read_by_id("Users", keys, "displayName")
    return [
        {**row, "author": names.get(row.get("authorId"), {}).get("displayName")} for row in rows
    ]
