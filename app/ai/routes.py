"""``/api/ai``: conversations with the assistant, their streams, and what it proposes."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.ai import actions, schemas, store, turns
from app.ai.actions import describe_action
from app.ai.shapes import describe_chat, describe_message, describe_session
from app.ai.streams import open_stream, use_ticket
from app.ai.turns import ask_in, begin_turn
from app.errors import ValidationError, naming
from app.http.areas import Area
from app.http.schema_parts import PageQuerySchema
from app.http.security import current_caller, requires

area = Area("ai", __name__, description="Assistant: chat, streams, proposed actions")


@area.post("/chat")
@area.arguments(schemas.ChatBodySchema)
@area.response(200, schemas.ChatSchema)
@area.alt_response(
    202, schema=schemas.ChatSchema, description="Being made; read `streamUrl`.", success=True
)
@area.alt_response(404, response="Error404")
@requires("ai:chat")
def chat(body: dict[str, Any]) -> Any:
    """Ask the assistant.

    It quotes the knowledge base, sums up the record in `context`, answers questions about figures,
    or proposes a change that you confirm; every sentence about the business names its source. It
    reads nothing that you may not read. A record or conversation that is not yours is 404. Without
    `context` a conversation stays with the record of its last message; null ends that.
    """
    caller = current_caller()
    session_key = body.get("session_id")
    with naming("sessionId"):
        known_session = store.get_session(caller, session_key) if session_key else None
    about, stays = body.get("context"), "context" not in body
    ask = ask_in(known_session, body["message"], about, stays=stays)
    session, message = begin_turn(ask, known_session, streamed=body["stream"])
    return describe_chat(session, message), 202 if body["stream"] else 200


@area.get("/chat/stream")
@area.arguments(schemas.StreamQuerySchema, location="query")
@area.response(200, {}, content_type="text/event-stream")
@area.alt_response(204, description="You have every event.", success=True)
@area.alt_response(404, response="Error404")
@requires("ai:chat")
def stream(query: dict[str, Any]) -> Response:
    """The latest answer of a conversation as server-sent events, from its beginning.

    With `after` or `Last-Event-ID` it goes on behind that event. It ends with `message.end`; the
    answer goes on being made when you leave. `: ping` comes every 15 seconds.
    """
    session = store.get_session(current_caller(), query["session_id"])
    ticket = query.get("ticket")
    has_headers = "Authorization" in request.headers or "X-API-Key" in request.headers
    if ticket is not None and not has_headers:
        use_ticket(ticket, session)
    return open_stream(session, _after(query.get("after")))


@area.post("/messages/<string:message_id>/cancel")
@area.response(200, schemas.AnswerSchema)
@requires("ai:chat")
def cancel_turn(message_id: str) -> dict[str, Any]:
    """Stop an answer that is being made; what was said of it stays."""
    return describe_message(turns.cancel_turn(message_id))


@area.get("/sessions")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, schemas.ConversationPageSchema)
@requires("ai:chat")
def list_sessions(query: dict[str, Any]) -> dict[str, Any]:
    """Your conversations, the latest first."""
    return store.list_sessions(current_caller(), query["limit"], query["offset"])


@area.get("/sessions/<string:session_id>")
@area.response(200, schemas.WholeConversationSchema)
@requires("ai:chat")
def show_session(session_id: str) -> dict[str, Any]:
    """One of your conversations with all its messages and proposals."""
    return describe_session(store.get_session(current_caller(), session_id))


@area.delete("/sessions/<string:session_id>")
@area.response(204)
@requires("ai:chat")
def delete_session(session_id: str) -> None:
    """Delete a conversation with everything in it."""
    store.delete_session(current_caller(), session_id)


@area.post("/actions/<string:action_id>/confirm")
@area.response(200, schemas.AiActionSchema)
@requires("ai:act")
def confirm(action_id: str) -> dict[str, Any]:
    """Do what was proposed, under the rights that you have now; once.

    What the service refuses is answered as by its own operation, and the proposal stays.
    """
    return describe_action(actions.confirm(action_id))


@area.post("/actions/<string:action_id>/reject")
@area.response(200, schemas.AiActionSchema)
@requires("ai:chat")
def reject(action_id: str) -> dict[str, Any]:
    """Leave what was proposed."""
    return describe_action(actions.reject(action_id))


def _after(number: int | None) -> int | None:
    """Where the reader stands; the address goes before what a browser remembers."""
    header = request.headers.get("Last-Event-ID", "").strip()
    if number is not None or not header:
        return number
    if not (header.isascii() and header.isdigit() and len(header) < 19):
        raise ValidationError([("Last-Event-ID", "must be the number of an event")])
    return int(header)
