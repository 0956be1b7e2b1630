"""Messages and conversations as the API shows them (contract 11.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from app.ai import store
from app.ai.actions import describe_action
from app.ai.schemas import AnswerSchema, PendingActionSchema, WholeConversationSchema
from app.ai.streams import make_ticket
from app.ai.turns import USAGE
from app.http.schema_parts import answer_body
from app.http.security import current_caller

STREAM = "/api/v1/ai/chat/stream"


def describe_chat(session: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a chat, with the address of its stream and a ticket for it."""
    ticket = make_ticket(current_caller(), session)
    url = f"{STREAM}?sessionId={session['key']}"
    pending = [
        answer_body(PendingActionSchema, action)
        for action in map(describe_action, store.actions_of([message["id"]]))
        if action["status"] == "pending"
    ]
    return {
        "sessionId": session["key"],
        **describe_message(message),
        "pendingActions": pending,
        "usage": message.get("usage") or USAGE,
        **({"provider": message["provider"]} if message.get("provider") else {}),
        "streamUrl": f"{url}&ticket={quote(ticket)}" if ticket else url,
    }


def describe_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with its sources and what was looked up; ``completed`` unless it says otherwise."""
    return answer_body(
        AnswerSchema, message, message_id=message["key"], reply=message["body"],
        status=message.get("status") or "completed", citations=message.get("citations") or [],
        tool_calls=message.get("tool_calls") or [],
    )  # fmt: skip


def describe_session(session: Mapping[str, Any]) -> dict[str, Any]:
    messages = store.messages_of(session["id"])
    actions = store.actions_of([message["id"] for message in messages])
    return answer_body(
        WholeConversationSchema, session, session_id=session["key"],
        messages=list(map(describe_message, messages)), actions=list(map(describe_action, actions)),
    )  # fmt: skip
