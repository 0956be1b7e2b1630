"""What questions say to a message: asked once, as the caller, beside the record in the context.

A message is about figures, or about the record, where the grammar of questions is sure of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from app.ai.lexicon import languages, message_of
from app.ai.parts import Ask, Citation, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.wording import label
from app.bi.answering import LONGEST_QUESTION, Reply, reply_to, state_of_record
from app.bi.answers import SessionState
from app.bi.words.speech import Speech
from app.http.security import current_caller
from app.localisation.catalogue import marked
from app.permissions import allowed
from app.search.analysis import words

# Questions for numbers in other languages: an article would be quoted for them otherwise.
TWO_LANGUAGES = marked(
    "I understand questions about figures in English and German only, such as: How many open"
    " tickets are there? What the knowledge base says I find in every language of its articles."
)
# From here on the answer is given before articles are looked for: of 150 questions that articles
# answer 4 are as sure, of 197 about figures 159 (five less than from 0.6 on, where it is 6).
SURE = 0.75
MOST_CHOICES = 4
MOST_ROWS = 10


def is_foreign_figures(text: str) -> bool:
    """Whether a message asks for numbers in a language in which they cannot be asked for."""
    for code in languages():
        message = message_of(text, code)
        if message.at("figures.asking", message.skipped(0, "figures.leads")):
            return True
    return False


def state_of(record: RecordContext, language: str) -> SessionState:
    """What questions beside a record go on from."""
    return state_of_record(record.entity_set, record.key, record.title, language)


class Figures:
    """What the grammar says to a message: it reads it once, whatever needs it first."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    @cached_property
    def reply(self) -> Reply | None:
        """The reply; None to a message that is too long for a question."""
        ask = self._ask
        if len(ask.text) > LONGEST_QUESTION:
            return None
        before = ask.figures
        if before is None and ask.record is not None:
            before = state_of(ask.record, ask.language)
        return reply_to(ask.text, before, limit=MOST_ROWS)

    @property
    def language(self) -> str:
        """The language that the message is read in: that of the answer."""
        return self._ask.language if self.reply is None else self.reply.say.code

    @property
    def asked_paths(self) -> tuple[str, ...] | None:
        """The properties of the record in the context that are asked for: ``Reply``."""
        reply = self.reply
        return reply.asked_paths if reply and (reply.asked_paths or self.is_sure) else None

    @property
    def is_of_property(self) -> bool:
        """Whether the message begins with the name of one: ``credit limit`` commands nothing."""
        first = next(words(self._ask.text), "")
        return any(
            label(path, self.language).lower().startswith(first) for path in self.asked_paths or ()
        )

    @property
    def is_of_others(self) -> bool:
        """Whether it is answered by records that are not those of the one in the context."""
        reply = self.reply
        if reply is None or reply.is_of_all or reply.answer["status"] != "answered":
            return False
        record, query = self._ask.record, reply.answer["query"]
        is_of_itself = record is not None and query["entity"] == record.entity_set
        return is_of_itself or not reply.goes_on

    @property
    def is_sure(self) -> bool:
        """Whether it is answered before articles are looked for."""
        reply = self.reply
        if reply is None or reply.answer["status"] == "needsClarification" or not _may_ask():
            return False
        if reply.answer["status"] == "unsupported":  # understood, and not for this caller
            return bool(reply.answer["interpretation"])
        return reply.goes_on or reply.confidence >= SURE

    @property
    def is_choice(self) -> bool:
        """Whether only "of which records?" is open, so that a choice says more than articles.

        None of 150 questions that articles answer is read so.
        """
        return self.reply is not None and self.reply.lacks_subject and _may_ask()

    def answer(self) -> Iterator[Part]:
        """The answer, a choice, or why there is none; nothing at all to what is no question."""
        reply = self.reply
        if reply is None or not (
            reply.is_question or self.is_sure or reply.answer["status"] != "unsupported"
        ):
            return
        if not _may_ask():
            if reply.is_question:
                yield Text(reply.say("You may not ask for figures."))
            return
        figures, status = reply.answer, reply.answer["status"]
        if status == "needsClarification":
            yield from _choices(self._ask.text, figures)
        elif status == "answered":
            yield from _answer(self._ask.text, figures, reply.say)
        else:
            yield Text(str(figures["answer"]))
            return
        yield reply.state


def _may_ask() -> bool:
    return allowed(current_caller(), "bi:query")


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
