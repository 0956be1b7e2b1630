"""The assistant: conversations, answers that grow while they are made, changes to confirm.

With a script the answer is read as a stream of events; without one the page comes when the answer
is complete. Both show the same conversation in the end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flask import Response, request
from markupsafe import Markup, escape

from app.ai import store
from app.ai.actions import confirm, reject
from app.ai.context import read_context
from app.ai.parts import BUILT_IN
from app.ai.schemas import LONGEST_MESSAGE
from app.ai.shapes import describe_session
from app.ai.streams import open_stream
from app.ai.turns import ask_in, begin_turn, cancel_turn
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_links, page_rows, skipped
from app.console.language import marked, page_language, translated
from app.console.sets import page_of_type
from app.console.typed import key_in, typed_text
from app.console.wording import deleted
from app.errors import ApiError, NotFoundError, ValidationError
from app.extensions import db
from app.http.security import current_caller, requires

ADDRESS = f"{session.ROOT}/assistant"
EXAMPLES = (
    marked("How do I reset a password?"), marked("Which invoices are overdue?"),
    marked("Create a task to call Eva tomorrow"),
)  # fmt: skip
_NUMBER = re.compile(r"\[(\d{1,3})\]")


@console.get("/assistant")
@requires("ai:chat")
def show_conversations(problem: ApiError | None = None) -> Response:
    about = _about(request.values)
    context = None
    if about is not None:
        try:
            context = read_context(about)
        except (NotFoundError, ValidationError) as error:
            problem, about = error, None
    sessions = store.list_sessions(current_caller(), page_rows(), skipped())
    return page(
        "assistant.html",
        conversations=sessions["items"],
        links=page_links(sessions["total"]),
        about=about,
        context=context,
        typed=request.form.get("message", request.args.get("message", "")),
        examples=[translated(text) for text in EXAMPLES],
        problem=problem,
    )


@console.post("/assistant")
@requires("ai:chat")
@refused_on(show_conversations)
def begin_conversation() -> Response:
    return see_other(f"{ADDRESS}/{_ask(None)}")


@console.get("/assistant/<session_id>")
@requires("ai:chat")
def show_conversation(session_id: str, problem: ApiError | None = None) -> Response:
    """Its messages and proposals; one that is being made is shown as it grows."""
    conversation = describe_session(store.get_session(current_caller(), session_id))
    messages = [_message(message) for message in conversation["messages"]]
    growing = messages[-1] if messages and messages[-1]["status"] == "in_progress" else None
    context = next((each["context"] for each in reversed(messages) if each["context"]), None)
    return page(
        "conversation.html",
        built_in=BUILT_IN,
        conversation=conversation,
        messages=messages,
        pending=[each for each in conversation["actions"] if each["status"] == "pending"],
        decided=[each for each in conversation["actions"] if each["status"] != "pending"],
        growing=growing,
        context=context,
        typed=request.form.get("message", "") if problem else "",
        problem=problem,
    )


@console.post("/assistant/<session_id>")
@requires("ai:chat")
@refused_on(show_conversation)
def go_on(session_id: str) -> Response:
    """Ask something more, stop an answer, decide on a proposal, or delete the conversation."""
    step, key = request.form.get("step", ""), request.form.get("key", "")
    session = store.get_session(current_caller(), session_id)
    if step == "delete":
        store.delete_session(current_caller(), session_id)
        return see_other(ADDRESS, deleted(translated("Conversation")))
    if step == "cancel":
        cancel_turn(key)
    elif step == "confirm":
        confirm(key)
    elif step == "reject":
        reject(key)
    else:
        _ask(session)
    return see_other(f"{ADDRESS}/{session_id}#end")


@console.get("/assistant/<session_id>/stream")
@requires("ai:chat")
def stream_answer(session_id: str) -> Response:
    """The latest answer as server-sent events; a reader that comes back goes on behind its last."""
    session = store.get_session(current_caller(), session_id)
    db.session.rollback()  # the stream reads by itself, and holds no transaction
    return open_stream(session, key_in(request.headers.get("Last-Event-ID", "")))


def _ask(session: Mapping[str, Any] | None) -> str:
    """Put the question of the form; returns the key of its conversation.

    Raises: ValidationError; NotFoundError, no such record for the caller.
    """
    form = request.form
    text = typed_text("message")
    if not text or len(text) > LONGEST_MESSAGE or "\0" in text:
        raise ValidationError(
            [("message", translated("must have 1 to %(most)s characters", most=LONGEST_MESSAGE))]
        )
    about = _about(form)
    ask = ask_in(session, text, about, stays=about is None, language=page_language())
    turn, _ = begin_turn(ask, session, streamed=form.get("stream") == "1")
    return str(turn["key"])


def _about(values: Mapping[str, str]) -> dict[str, Any] | None:
    """The record that the address or the form names, as the API takes it."""
    if not values.get("module"):
        return None
    return {"module": values["module"], "entityId": key_in(values.get("entityId", ""))}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with its numbers as links to its sources, and these as links to their pages."""
    citations = [{**citation, "page": _page_of(citation)} for citation in message["citations"]]
    numbers = {citation["n"] for citation in citations}
    return {
        **message,
        "citations": citations,
        "text": _with_links(message["reply"], message["messageId"], numbers),
    }


def _with_links(text: str, message_id: str, numbers: set[int]) -> Markup:
    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        if number not in numbers:
            return match[0]
        anchor = escape(f"{message_id}-{number}")
        return f'<a class="cited" href="#{anchor}">[{number}]</a>'

    return Markup(_NUMBER.sub(link, str(escape(text))))


def _page_of(citation: Mapping[str, Any]) -> str | None:
    """The page of a source; None for one that has none."""
    if citation["type"] == "KbArticle":
        return f"{session.ROOT}/knowledge/{citation['id']}"
    record_page = page_of_type(citation["type"])
    return None if record_page is None else f"{session.ROOT}/{record_page.path}/{citation['id']}"
