"""One turn of a conversation: the question kept, the answer made part by part, each part kept.

An answer that is streamed is made in the background, in a transaction for each part, so that its
readers see it grow, may leave and come back, in any process; one that is not is made within the
request. Both go through the same steps and leave the same events.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import structlog
from flask import Flask, Response, after_this_request, current_app

from app.ai import store
from app.ai.actions import propose
from app.ai.builtin import answer
from app.ai.parts import BUILT_IN, Ask, Citation, Part, Proposal, Text, ToolCall, ToolResult
from app.clock import utc_now
from app.database import transaction
from app.errors import ApiError
from app.request_context import running_app
from app.security import Caller, acting_as, current_caller
from app.types import iso_instant

# Answers that one process makes at the same time for streams; others wait their turn.
WORKERS = 4
USAGE = {"inputTokens": 0, "outputTokens": 0}
FAILED = "Something went wrong while the answer was made; ask again."

_log = structlog.get_logger()
Event = tuple[str, Mapping[str, Any]]
_CITED = ("n", "type", "id", "title", "url")


class Signals:
    """Wakes the readers of streams in this process when something new was kept."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def ring(self) -> None:
        """Something new is committed."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Sleep until something is newer than ``seen``, ``seconds`` at most; the count then."""
        with self._changed:
            self._changed.wait_for(lambda: self._count != seen, seconds)
            return self._count


@dataclass
class Turn:
    """The answer so far."""

    session: Mapping[str, Any]
    message: Mapping[str, Any]
    body: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)

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
        else:
            yield from self._say(part)

    def _say(self, part: Text) -> Iterator[Event]:
        text = part.text
        if part.source is not None:
            number, is_new = self._cite(part.source)
            if is_new:
                shown = self.citations[number - 1]
                yield "citation", {name: shown[name] for name in _CITED}
            text = f"{text} [{number}]"
        # Sentences stand one after the other; a part that brings its own line keeps it.
        if self.body and not text.startswith("\n"):
            text = f" {text}" if not text.startswith(("- ", "(")) else f"\n{text}"
        text = text if self.body else text.lstrip("\n")
        self.body += text
        yield "message.delta", {"text": text}

    def _cite(self, source: Citation) -> tuple[int, bool]:
        """The number of a source, and whether it is cited for the first time."""
        for shown in self.citations:
            if (shown["type"], shown["id"]) == (source.type, source.id):
                return shown["n"], False
        number = len(self.citations) + 1
        self.citations.append(
            {"n": number, "type": source.type, "id": source.id, "title": source.title,
             "snippet": source.snippet[:300], "url": source.url}
        )  # fmt: skip
        return number, True

    def kept(self) -> dict[str, Any]:
        """The columns of the message so far."""
        return {"body": self.body, "citations": self.citations, "tool_calls": self.tool_calls}


def begin_turn(ask: Ask, session: Mapping[str, Any], *, streamed: bool) -> dict[str, Any]:
    """Keep the question and answer it: now, or when the answer to the request is out.

    Returns: the message of the answer; ``in_progress`` when ``streamed``.
    """
    context = None
    if ask.context is not None:
        context = {
            "module": ask.context.module, "entityId": ask.context.key, "title": ask.context.title,
        }  # fmt: skip
    store.add_message(session["id"], "user", ask.text, context=context)
    message = store.add_message(
        session["id"], "assistant", "", context=context, status="in_progress", model=BUILT_IN,
        leased_until=utc_now() + store.WORKED_ON,
    )  # fmt: skip
    started = {"sessionId": session["key"], "messageId": message["key"], "model": BUILT_IN}
    store.add_events(session["id"], message["id"], [("message.start", started)])
    turn = Turn(session, message)
    if streamed:
        _answer_later(ask, turn)
        return message
    _run(ask, turn, nullcontext)
    return store.get_message(current_caller(), message["key"])


def cancel_turn(key: str) -> dict[str, Any]:
    """End an answer that is being made; one that is complete stays as it is.

    Raises: NotFoundError.
    """
    message = store.get_message(current_caller(), key)
    if message["status"] == "in_progress":
        store.change_message(message["id"], {"status": "canceled", "leased_until": None})
        store.add_events(message["session_id"], message["id"], [_end(key, "canceled")])
        _ring_after_commit()
    return {**store.get_message(current_caller(), key)}


def signals() -> Signals:
    """Those of this application."""
    found: Signals = current_app.extensions.setdefault("ai_signals", Signals())
    return found


def _run(ask: Ask, turn: Turn, step: Any) -> None:
    """Make the answer; ``step`` opens the transaction of each part."""
    parts = answer(ask)
    status = "completed"
    try:
        while _take_next(parts, turn, step):
            pass
    except ApiError as error:
        # A record that went away meanwhile, a right that was taken: said, not hidden.
        status = "completed"
        _keep(turn, turn.take(Text(error.message)), step)
    values = {**turn.kept(), "status": status, "usage": USAGE, "leased_until": None}
    with step():
        if store.change_message(turn.message["id"], values, status="in_progress"):
            store.add_events(
                turn.session["id"], turn.message["id"], [_end(turn.message["key"], status)]
            )
    signals().ring()


def _take_next(parts: Iterator[Part], turn: Turn, step: Any) -> bool:
    """Make and keep one more part; False at the end, or when the answer was canceled."""
    part = next(parts, None)
    return part is not None and _keep(turn, turn.take(part), step)


def _keep(turn: Turn, events: Iterator[Event], step: Any) -> bool:
    with step():
        shown: Sequence[Event] = list(events)
        values = {**turn.kept(), "leased_until": utc_now() + store.WORKED_ON}
        if not store.change_message(turn.message["id"], values, status="in_progress"):
            return False
        store.add_events(turn.session["id"], turn.message["id"], shown)
    signals().ring()
    return True


def _end(key: str, status: str) -> Event:
    return "message.end", {"messageId": key, "status": status, "usage": USAGE}


def _answer_later(ask: Ask, turn: Turn) -> None:
    """Make the answer in the background once the question is committed."""
    app = running_app()
    caller = current_caller()
    pool: ThreadPoolExecutor = app.extensions.setdefault(
        "ai_workers", ThreadPoolExecutor(WORKERS, thread_name_prefix="assistant")
    )

    @after_this_request
    def start(response: Response) -> Response:
        response.call_on_close(lambda: pool.submit(_in_background, app, caller, ask, turn))
        return response


def _in_background(app: Flask, caller: Caller, ask: Ask, turn: Turn) -> None:
    step: Any = transaction
    with app.app_context(), acting_as(caller):
        try:
            _run(ask, turn, step)
        except Exception:
            _log.exception("an answer failed", message=turn.message["key"])
            with transaction():
                fail(turn.session["id"], turn.message["id"], turn.message["key"])
            signals().ring()


def fail(session_id: int, message_id: int, key: str) -> None:
    """End an answer that cannot be made, unless it has ended."""
    values = {"status": "failed", "leased_until": None}
    if store.change_message(message_id, values, status="in_progress"):
        said = {"code": "INTERNAL_ERROR", "message": FAILED}
        store.add_events(session_id, message_id, [("error", said), _end(key, "failed")])


def _ring_after_commit() -> None:
    bell = signals()

    @after_this_request
    def ring(response: Response) -> Response:
        response.call_on_close(bell.ring)
        return response
