"""Questions about figures: asked of the area that answers them, as the caller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from app.ai.lexicon import language_of, pattern
from app.ai.parts import Ask, Citation, Part, Text, ToolCall, ToolResult
from app.bi.answering import LONGEST_QUESTION, Reply, reply_to, speech_of
from app.bi.words.speech import Speech
from app.http.security import current_caller
from app.permissions import allowed
from app.written.catalogue import marked

TWO_LANGUAGES = marked(
    "I understand questions about figures in English and German only, such as: How many open"
    " tickets are there? What the knowledge base says I find in every language of its articles."
)
_IHNEN = re.compile(r"(?<=\s)(?:sie|ihnen)\b")  # in small letters: "Sie" may be whoever is asked
# A reading of a question that is less sure than this is no answer.
SURE_ENOUGH = 0.5
# Of what does not sound like figures, only what is read without any doubt is one.
SURE = 0.9
MOST_CHOICES = 4
MOST_ROWS = 10


def is_about_figures(text: str) -> bool:
    """Whether a message asks for numbers or lists of records."""
    return pattern("figures").search(text) is not None


def is_about_one(ask: Ask) -> bool:
    """Whether a message beside a client asks for records of that client."""
    return _question(ask) != ask.text


def is_foreign_figures(text: str) -> bool:
    """Whether a message asks for numbers in a language in which they cannot be asked for."""
    return pattern("foreign_figures").search(text) is not None


class Figures:
    """What the figures say to a message: they are asked once, by whatever needs it first."""

    def __init__(self, ask: Ask) -> None:
        self._text, self._figures, self._question = ask.text, ask.figures, _question(ask)

    @cached_property
    def _answered(self) -> Reply | None:
        """The answer; None where they may not be asked."""
        if not allowed(current_caller(), "bi:query") or len(self._question) > LONGEST_QUESTION:
            return None
        # What is put for "they" says whose records are meant, whatever was asked before.
        before = self._figures if self._question == self._text else None
        return reply_to(self._question, before, limit=MOST_ROWS)

    def answer(self, least: float = SURE_ENOUGH) -> Iterator[Part]:
        """The answer; nothing at all where there is none that is so sure."""
        answered = self._answered
        if answered is None:
            return
        figures, status = answered.answer, answered.answer["status"]
        least = SURE_ENOUGH if answered.goes_on else least
        if status == "needsClarification":
            yield from _choices(self._question, figures)
            yield answered.state
        elif status == "answered" and figures["confidence"] >= least:
            yield from _answer(self._question, figures, answered.say)
            yield answered.state
        elif status == "unsupported" and figures["interpretation"]:
            # Understood, and not for this caller: an article would be no answer.
            yield Text(str(figures["answer"]))

    def refusal(self) -> str | None:
        """Why a message that sounds like figures has no answer; None for others."""
        if not is_about_figures(self._text) or len(self._text) > LONGEST_QUESTION:
            return None
        if not allowed(current_caller(), "bi:query"):
            return speech_of(self._text)("You may not ask for figures.")
        answered = self._answered
        if answered is None or answered.answer["status"] != "unsupported":
            return None
        return str(answered.answer["answer"])


def _question(ask: Ask) -> str:
    """What is asked; beside a client, ``they`` and unpaid invoices are those of that client."""
    if ask.record is None or ask.record.entity != "Client":
        return ask.text
    title = ask.record.title
    # A name may have words of its own: "e. K." is no category of tax where it stands in quotes.
    name = title if '"' in title else f'"{title}"'
    them, of_all = pattern("them"), pattern("of_all_clients")
    refers = any(each.search(ask.text) for each in (them, _IHNEN, of_all))
    if not refers and pattern("of_client").search(ask.text):
        of = "von" if language_of(ask.text, ask.language) == "de" else "of"
        return f"{ask.text.rstrip(' ?!.')} {of} {name}"
    if _IHNEN.search(ask.text):
        return _IHNEN.sub(name, ask.text)
    return them.sub(lambda word: f"{title}'s" if word[0].lower() == "their" else name, ask.text)


def _answer(question: str, figures: Mapping[str, Any], say: Speech) -> Iterator[Part]:
    url = str((figures.get("query") or {}).get("odata") or "")
    interpretation = str(figures.get("interpretation") or "")
    yield ToolCall("ask_figures", {"question": question})
    yield ToolResult("ok", url or interpretation)
    source = Citation("Query", 0, interpretation.rstrip("."), url, str(figures["answer"])[:300])
    yield Text(str(figures["answer"]), source)
    if interpretation:
        yield Text(f"\n({say('Understood as: {meaning}.', meaning=interpretation.rstrip('.'))})")


def _choices(question: str, figures: Mapping[str, Any]) -> Iterator[Part]:
    yield ToolCall("ask_figures", {"question": question})
    yield ToolResult("ok", "needs clarification")
    yield Text(str(figures["answer"]))
    for choice in list(figures.get("alternatives") or [])[:MOST_CHOICES]:
        yield Text(f"\n- {choice}")
