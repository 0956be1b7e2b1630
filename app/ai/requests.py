"""What a message wants done, as a proposal: only what can be done, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from app.ai.context import states_of
from app.ai.lexicon import Message, lexicon_of
from app.ai.parts import Ask, Context, Part, Proposal, Text, ToolCall, ToolResult
from app.ai.refusals import NO_WRITES
from app.ai.tools.listed import may_propose, tools
from app.ai.tools.own import NOTED
from app.ai.tools.tool import require_possible, state_property
from app.ai.understanding import MAIL, NOTE, STATE, TASK, Request
from app.ai.wording import day_text, quoted, value_text
from app.container import engine
from app.db.types import iso_instant
from app.odata.payload.reader import snake
from app.settings.days import NOON, start_of

NEEDS_RECORD = "Say which record is meant: name it, or ask on its page."
_TITLE_LENGTH = 255
_SUBJECT_LENGTH = 200
_SUMMARY_LENGTH = 480
# States that want a reason -> the property that takes it.
_REASONS: Mapping[str, str] = {"ClosedLost": "lostReason", "Disqualified": "disqualifyReason"}


def answer_request(ask: Ask, request: Request) -> Iterator[Part]:
    """The proposal that is asked for, to those who may confirm it; else why there is none."""
    for part in _PROPOSED[request.kind](ask, request):
        if isinstance(part, Proposal):
            yield ToolCall("propose_action", {"tool": part.tool, **part.arguments})
            if not may_propose(tools()[part.tool], part.arguments):
                yield ToolResult("denied", "the caller may not do this")
                yield Text("Your role does not allow that, so I do not propose it.")
                return
            yield ToolResult("ok", "proposed")
            yield part
            yield Text(f"I propose: {part.summary} Nothing happens until you confirm it.")
        else:
            yield part


def _propose_task(ask: Ask, request: Request) -> Iterator[Part]:
    if not request.text:
        yield Text("Say what the task is, such as: create a task to call Eva tomorrow.")
        return
    title = (request.text[0].upper() + request.text[1:])[:_TITLE_LENGTH]
    arguments: dict[str, Any] = {"title": title}
    summary = f"Create the task {quoted(title)}"
    if request.due is not None:
        hour, minute = (NOON, 0) if request.at is None else (request.at.hour, request.at.minute)
        arguments["dueAt"] = iso_instant(start_of(request.due, hour) + timedelta(minutes=minute))
        summary += f", due on {day_text(request.due.isoformat())}"
        summary += "" if request.at is None else f" at {request.at:%H:%M}"
    if ask.context is not None and ask.context.key is not None:
        arguments |= {"relatedType": ask.context.entity, "relatedId": ask.context.key}
        summary += f", for {ask.context.title}"
    yield Proposal("create_task", _short(summary) + ".", arguments)


def _propose_note(ask: Ask, request: Request) -> Iterator[Part]:
    context = ask.context
    if context is None or context.key is None:
        yield Text(NEEDS_RECORD)
        return
    if context.entity not in NOTED:
        yield Text(f"I cannot add notes to records of the type {context.entity}.")
        return
    arguments = {"type": context.entity, "id": context.key, "text": request.text}
    summary = _short(f"Add to {context.title} the note: {request.text}")
    yield Proposal("add_note", f"{summary}.", arguments)


def _propose_mail(ask: Ask, request: Request) -> Iterator[Part]:
    context = ask.context
    if context is None or context.key is None:
        yield Text(NEEDS_RECORD)
        return
    to, facts = _recipient(context)
    if to is None:
        yield Text(f"{context.title} has no e-mail address.")
        return
    about = request.text
    subject = about or (context.title or "")
    body = "\n".join(["Hello,", "", *([f"{about}."] if about else []), *facts, "", "Kind regards"])
    arguments = {"to": to, "subject": subject[:_SUBJECT_LENGTH], "body": body}
    yield Proposal("draft_mail", _short(f"Draft a mail to {to}: {subject}") + ".", arguments)


def _recipient(context: Context) -> tuple[str | None, list[str]]:
    """Who a mail about the record goes to, and what of the record belongs in it."""
    row = engine.read_one(context.path)
    if context.entity in ("Client", "Contact", "Lead"):
        return row.get("email"), []
    if context.entity == "Ticket":
        return row.get("requesterEmail"), [f"This is about {row['number']}: {row['subject']}."]
    if context.entity == "Invoice":
        client = engine.find_one(f"{context.path}/Client", select="email,invoiceEmail")
        to = (client or {}).get("invoiceEmail") or (client or {}).get("email")
        due = value_text(row["amountDue"], currency=row["currency"])
        facts = [f"This is about invoice {row['number']}: {due} is due."] if row["number"] else []
        return to, facts
    return None, []


def _propose_state(ask: Ask, request: Request) -> Iterator[Part]:
    """The change of a stage or status.

    Raises: InvalidStateError, the record cannot become that from what it is.
    """
    context = ask.context
    if context is None or context.key is None:
        yield Text(NEEDS_RECORD)
        return
    assert context.entity is not None
    name = state_property(context.entity)
    states = states_of(context.entity, name)
    state = next((each for each in request.states if each in states), None)
    if not request.states:
        state = _state_called(request.text, states, request.language)
    if state is None:
        is_unknown = states and not request.states
        unknown = f"{request.text} is no {name}. There are: {', '.join(states)}."
        yield Text(unknown if is_unknown else NO_WRITES)
        return
    arguments: dict[str, Any] = {"id": context.key, name: state}
    summary = f"Change the {name} of {context.title} to {state}"
    reason = _REASONS.get(state)
    if reason is not None:
        # "Other" wants a text besides, which is a person's to write.
        reasons = tuple(each for each in states_of(context.entity, reason) if each != "Other")
        why = _state_called(request.reason, reasons, request.language)
        if why is None:
            yield Text(f"Say why, such as: mark it as {state} because of {', '.join(reasons)}.")
            return
        arguments[reason] = why
        summary += f", {reason} {why}"
    if engine.read_one(context.path, select=name)[name] == state:
        yield Text(f"{context.title} is {state} already.")
        return
    require_possible(context, name, state)
    yield Proposal(f"update_{snake(context.entity)}", f"{summary}.", arguments)


def _state_called(text: str, states: tuple[str, ...], language: str) -> str | None:
    """The state that is meant by its name, or by a word for it."""
    name = text.replace(" ", "").replace("-", "").lower()
    for state in states:
        if name == state.lower():
            return state
    meant = Message(text, lexicon_of(language)).value("state.values", 0)[1] or ()
    return next((state for state in meant if state in states), None)


def _short(summary: str) -> str:
    cut = f"{summary[:_SUMMARY_LENGTH]}\N{HORIZONTAL ELLIPSIS}"
    return summary if len(summary) <= _SUMMARY_LENGTH else cut


_PROPOSED = {
    TASK: _propose_task, NOTE: _propose_note, MAIL: _propose_mail, STATE: _propose_state,
}  # fmt: skip
