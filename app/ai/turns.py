"""One turn of a conversation: the question kept, the answer made part by part, each part kept.

An answer that is streamed is made in the background, in a transaction for each part, so that its
readers see it grow, may leave and come back, in any process; one that is not is made within the
request. Both go through the same steps and leave the same events.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from flask import Flask

from app.ai import store
from app.ai.actions import propose
from app.ai.answering import answer, longest_seconds, model_for
from app.ai.context import continued_context, read_context
from app.ai.lexicon import ENGLISH, spoken_language
from app.ai.open_streams import signals
from app.ai.parts import (
    Ask,
    Citation,
    Context,
    Mark,
    Part,
    Proposal,
    Served,
    Text,
    ToolCall,
    ToolResult,
    Words,
)
from app.bi.answers import SessionState
from app.clock import utc_now
from app.db.engines import transaction
from app.db.types import iso_instant
from app.extensions import Extension
from app.http.request_context import running_app, when_answered
from app.http.security import Caller, acting_as, current_caller
from app.jobs.threads import DaemonThreads

# Answers that one process makes at the same time for streams; others wait their turn. Most of the
# time they wait for a model, if there is one.
WORKERS = 16
# An answer that is being made when its process ends has so long; then it has failed, which its
# readers are told when its lease has run out.
END_SECONDS = 10.0
USAGE = {"inputTokens": 0, "outputTokens": 0}
FAILED = "Something went wrong while the answer was made; ask again."

END = "message.end"

_log = structlog.get_logger()
Event = tuple[str, Mapping[str, Any]]
_CITED = ("n", "type", "id", "title", "url")


@dataclass
class Turn:
    """The answer so far."""

    session: Mapping[str, Any]
    message: Mapping[str, Any]
    body: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    served: Served | None = None
    meaning: SessionState | None = None
    context: Context | None = None

    @property
    def usage(self) -> dict[str, int]:
        served = self.served
        if served is None:
            return USAGE
        return {"inputTokens": served.input_tokens, "outputTokens": served.output_tokens}

    def take(self, part: Part) -> Iterator[Event]:
        """Add a part; yields the events that show it (contract 11.3)."""
        if isinstance(part, ToolCall):
            call = {"id": f"call_{len(self.tool_calls) + 1}", "name": part.name,
                    "arguments": dict(part.arguments)}  # fmt: skip
            self.tool_calls.append({**call, "status": "ok", "summary": ""})
            yield "tool.call", call
        elif isinstance(part, ToolResult):
            call = self.tool_calls[-1]
            call |= {"status": part.status, "summary": part.summary[:500]}
            yield "tool.result", {name: call[name] for name in ("id", "status", "summary")}
        elif isinstance(part, Proposal):
            action = propose(self.session["id"], self.message["id"], part)
            self.actions.append(action)
            yield "action.pending", {
                "id": action["key"], "tool": action["tool"], "summary": action["summary"],
                "expiresAt": iso_instant(action["expires_at"]),
            }  # fmt: skip
        elif isinstance(part, Text):
            yield from self._say(part)
        elif isinstance(part, Mark):
            number = yield from self._cited(part.source)
            yield from self._add(f"[{number}]")
        elif isinstance(part, Words):
            yield from self._add(part.text)
        elif isinstance(part, SessionState):
            self.meaning = part
        elif isinstance(part, Context):
            self.context = part
        else:
            self.served = part

    def _say(self, part: Text) -> Iterator[Event]:
        text = part.text
        if part.source is not None:
            number = yield from self._cited(part.source)
            text = f"{text} [{number}]"
        # Sentences stand one after the other; a part that brings its own line keeps it.
        if self.body and not text.startswith("\n"):
            text = f" {text}" if not text.startswith(("- ", "(")) else f"\n{text}"
        if self.body.endswith("\n"):
            text = text.lstrip()
        yield from self._add(text if self.body else text.lstrip("\n"))

    def _add(self, text: str) -> Iterator[Event]:
        self.body += text
        yield "message.delta", {"text": text}

    def _cited(self, source: Citation) -> Generator[Event, None, int]:
        """Show a source that is new; returns its number."""
        for known in self.citations:
            if all(known[name] == getattr(source, name) for name in ("type", "id", "url")):
                return int(known["n"])
        number = len(self.citations) + 1
        citation = {"n": number, **asdict(source), "snippet": source.snippet[:300]}
        self.citations.append(citation)
        yield "citation", {name: citation[name] for name in _CITED}
        return number

    def columns(self) -> dict[str, Any]:
        """The columns of the message so far."""
        row: dict[str, Any] = {
            "body": self.body,
            "citations": self.citations,
            "tool_calls": self.tool_calls,
        }
        if self.meaning is not None:
            row["standing"] = self.meaning.value
        if self.context is not None:
            row["context"] = self.context.stored
        served = self.served
        if served is None:
            return row
        provider = {"status": served.status, "reason": served.reason}
        return {**row, "model": served.model[:100], "provider": provider}


def ask_in(
    session: Mapping[str, Any] | None,
    text: str,
    about: Mapping[str, Any] | None,
    *,
    stays: bool,
    language: str = ENGLISH,
) -> Ask:
    """A message of a conversation, with what the messages before it were about.

    Args:
        session: the conversation that goes on; None begins one.
        about: ``read_context``, unless it ``stays`` with the record of the message before.
        language: to answer in where no word says another.
    Raises: ValidationError, no such module; NotFoundError, no such record for the caller.
    """
    if session is None:
        return Ask(text, read_context(about), language=spoken_language(text, language))
    dialogue, last_context = store.dialogue_of(session["id"])
    context = continued_context(last_context) if stays else read_context(about)
    for user_text in (*(earlier for role, earlier in dialogue if role == "user"), text):
        language = spoken_language(user_text, language)
    before = store.kept_of(session["id"], None if context is None else context.stored)
    return Ask(text, context, before, dialogue, language)


def begin_turn(
    ask: Ask, session: Mapping[str, Any] | None, *, streamed: bool
) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Keep the question and answer it: now, or when the answer to the request is out.

    Args:
        session: the conversation that goes on; None begins one.
    Returns: the conversation, and the message of the answer, ``in_progress`` when ``streamed``.
    """
    context = None if ask.context is None else ask.context.stored
    # What is not streamed is made before anything is written: a transaction that waits for a model
    # would keep all others from writing to SQLite.
    parts = None if streamed else list(answer(ask))
    if session is None:
        session = store.new_session(current_caller(), ask.text)
    model = model_for(ask)
    store.add_message(session["id"], "user", ask.text, context=context)
    message = store.add_message(
        session["id"], "assistant", "", context=context, status="in_progress", model=model,
        leased_until=_lease(),
    )  # fmt: skip
    started = {"sessionId": session["key"], "messageId": message["key"], "model": model}
    store.add_events(session["id"], message["id"], [("message.start", started)])
    turn = Turn(session, message)
    if parts is None:
        _answer_later(ask, turn)
        return session, message
    _run(iter(parts), turn, nullcontext)
    return session, store.get_message(current_caller(), message["key"])


def cancel_turn(key: str) -> dict[str, Any]:
    """End an answer that is being made; one that is complete stays as it is.

    Raises: NotFoundError.
    """
    message = store.get_message(current_caller(), key)
    if message["status"] == "in_progress":
        store.change_message(message["id"], {"status": "canceled", "leased_until": None})
        store.add_events(message["session_id"], message["id"], [_end(key, "canceled")])
        when_answered(signals.current.ring)
    return {**store.get_message(current_caller(), key)}


background = Extension(
    "ai_workers", lambda: DaemonThreads(WORKERS, "assistant", end_seconds=END_SECONDS)
)


def _run(parts: Iterator[Part], turn: Turn, step: Any) -> None:
    """Keep the answer as it is made; ``step`` opens the transaction of each part."""
    while (part := next(parts, None)) is not None:
        if not _keep(turn, turn.take(part), step):
            break  # canceled
    end = _end(turn.message["key"], "completed", turn)
    values = {
        **turn.columns(), "status": "completed", "usage": turn.usage, "leased_until": None,
    }  # fmt: skip
    with step():
        if store.change_message(turn.message["id"], values, status="in_progress"):
            store.add_events(turn.session["id"], turn.message["id"], [end])
    signals.current.ring()


def _keep(turn: Turn, events: Iterator[Event], step: Any) -> bool:
    with step():
        stored: Sequence[Event] = list(events)
        values = {**turn.columns(), "leased_until": _lease()}
        if not store.change_message(turn.message["id"], values, status="in_progress"):
            return False
        store.add_events(turn.session["id"], turn.message["id"], stored)
    signals.current.ring()
    return True


def _end(key: str, status: str, turn: Turn | None = None) -> Event:
    ending: dict[str, Any] = {"messageId": key, "status": status, "usage": USAGE}
    if turn is not None and turn.served is not None:
        ending |= {"usage": turn.usage, "provider": turn.columns()["provider"]}
    return END, ending


def _lease() -> datetime:
    """Until when a message is being worked on, if nothing is heard of it meanwhile."""
    return utc_now() + timedelta(seconds=longest_seconds())


def _answer_later(ask: Ask, turn: Turn) -> None:
    """Make the answer in the background once the question is committed."""
    app = running_app()
    begin = background.of(app).submit
    when_answered(partial(begin, _in_background, app, current_caller(), ask, turn))


def _in_background(app: Flask, caller: Caller, ask: Ask, turn: Turn) -> None:
    step: Any = transaction
    with app.app_context(), acting_as(caller):
        try:
            with closing(answer(ask)) as parts:
                _run(parts, turn, step)
        except Exception:
            _log.exception("an answer failed", message=turn.message["key"])
            with transaction():
                fail(turn.session["id"], turn.message["id"], turn.message["key"])
            signals.current.ring()


def fail(session_id: int, message_id: int, key: str) -> None:
    """End an answer that cannot be made, unless it has ended."""
    values = {"status": "failed", "leased_until": None}
    if store.change_message(message_id, values, status="in_progress"):
        error = {"code": "INTERNAL_ERROR", "message": FAILED}
        store.add_events(session_id, message_id, [("error", error), _end(key, "failed")])
