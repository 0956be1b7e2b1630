"""How a ticket may be solved: articles that fit it, and tickets like it that were solved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from app.ai.context import cited
from app.ai.knowledge import NOT_ALLOWED, NOT_FOUND, answer_from_articles
from app.ai.parts import Ask, Part, RecordContext, Text, ToolCall, ToolResult
from app.http.security import current_caller
from app.kb.suggestions import question_of, read_ticket, suggest_for_ticket
from app.permissions import allowed
from app.written.catalogue import marked

MOST_ARTICLES = 3
NONE_FOUND = marked("I found none.")
_SIMILAR = re.compile(
    r"\b(similar|like (this|it)|comparable|same (problem|issue)|\u00e4hnlich\w*|vergleichbar\w*"
    r"|(gleiche|selbe)\w* (problem|fehler))\b",
    re.IGNORECASE,
)
_ARTICLES = re.compile(
    r"\b((which|what|any|suggest\w*|recommend\w*|find|show|relevant|matching|helpful) (\w+ )?"
    r"articles?|articles? (that )?(help|fit|match|for)|(welche|passende|hilfreiche)\w* (\w+ )?"
    r"artikel|artikel (die |der )?(hilft|helfen|pass(t|en)))\b",
    re.IGNORECASE,
)
_SOLVE = re.compile(
    r"\b((solve|fix|resolve|answer|handle|help with) (this|it|them|the (ticket|problem|issue"
    r"|customer|client|requester))|(suggest|propose|recommend) (me )?(an? |the )?(answer|solution"
    r"|fix|reply|response)|what (can|should|do) i (answer|reply|do|tell)"
    r"|how (can|do|should) i help|(l\u00f6se|beheb\w*|beantworte) ich (das|es|dies\w*)"
    r"|schlag\w* .{0,20}(l\u00f6sung|antwort)|was (kann|soll) ich (antworten|tun|sagen)"
    r"|wie (kann|soll) ich (helfen|antworten))\b",
    re.IGNORECASE,
)


def find_help(ask: Ask, record: RecordContext) -> str | None:
    """What kind of help with the ticket in the context is asked for, if any."""
    if record.entity != "Ticket":
        return None
    if _SIMILAR.search(ask.text):
        return "similar"
    if _ARTICLES.search(ask.text):
        return "articles"
    return "solution" if _SOLVE.search(ask.text) else None


def answer_help(ask: Ask, key: int, kind: str) -> Iterator[Part]:
    """What the best article says to the ticket, the articles that fit, or the tickets like it."""
    if not allowed(current_caller(), "kb:read"):
        yield Text(ask.translated(NOT_ALLOWED))
        return
    quoted: list[Part] = []
    if kind == "solution":
        quoted = list(answer_from_articles(replace(ask, text=question_of(read_ticket(key)))))
        quoted = [part for part in quoted if part != Text(ask.translated(NOT_FOUND))]
        yield from quoted
    yield ToolCall("suggest_articles", {"ticketId": key})
    suggested = suggest_for_ticket(key, MOST_ARTICLES)
    articles = suggested["items"] if kind == "articles" else []
    tickets = [] if kind == "articles" else suggested["similarTickets"]
    if kind == "solution":
        tickets = [each for each in tickets if each["resolution"]]
    yield ToolResult(
        "ok", f"{len(suggested['items'])} articles, {len(suggested['similarTickets'])} tickets"
    )
    yield from _listed(ask.translated("Articles that fit:"), [
        (f"{each['title']} ({each['reason']})", "KbArticle", each["id"], each["title"])
        for each in articles
    ])  # fmt: skip
    yield from _listed(ask.translated("Solved tickets like it:"), [
        (" ".join(f"{each['number']} {each['subject']}: {each['resolution'] or each['status']}"
                  .split()), "Ticket", each["id"], each["subject"])
        for each in tickets
    ])  # fmt: skip
    if not (articles or tickets or any(isinstance(part, Text) for part in quoted)):
        nothing = NOT_FOUND if kind == "solution" else NONE_FOUND
        yield Text(ask.translated(nothing))


def _listed(title: str, lines: list[tuple[str, str, int, str]]) -> Iterator[Part]:
    if lines:
        yield Text(f"\n{title}")
    for line, entity, key, name in lines:
        yield Text(f"\n- {line}", cited(entity, key, name, line))
