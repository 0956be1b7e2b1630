"""Tools that propose a change: nothing is done until the caller confirms it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from app.ai.asking import asks_for
from app.ai.context import read_context, states_of
from app.ai.parts import Context, Proposal
from app.ai.provider.toolbox import ModelTool, Use, proposals
from app.ai.tools import NOTED, TOOLS
from app.container import engine
from app.db.types import iso_instant
from app.errors import ForbiddenError, ValidationError
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.security import current_caller
from app.odata.syntax.literal_text import quoted
from app.permissions import allowed
from app.settings.days import NOON, start_of

MOST_PROPOSALS = 3
LONGEST_SUMMARY = 480
NOT_ASKED_FOR = "The user's message does not ask for that. You may ask whether to do it."
# Where records have addresses to write to.
_ADDRESSES = {
    "Clients": ("email", "invoiceEmail"), "Contacts": ("email",), "Leads": ("email",),
    "Tickets": ("requesterEmail",),
}  # fmt: skip
_TYPE = validate.Length(1, 60)
_KEY = validate.Range(1, 2**63 - 1)


class TaskSchema(Schema):
    """A task, of a record or of none."""

    title = fields.String(required=True, validate=validate.Length(1, 255))
    due = fields.Date()
    type = fields.String(validate=_TYPE)
    id = fields.Integer(validate=_KEY)


class NoteSchema(Schema):
    """A note on a record."""

    type = fields.String(required=True, validate=_TYPE)
    id = fields.Integer(required=True, validate=_KEY)
    text = fields.String(required=True, validate=validate.Length(1, 4000))


class MailSchema(Schema):
    """A mail to be sent by a person."""

    to = fields.Email(required=True)
    subject = fields.String(required=True, validate=validate.Length(1, 200))
    body = fields.String(required=True, validate=validate.Length(1, 8000))


class StageSchema(Schema):
    """Another stage of an opportunity, or another status of a record."""

    type = fields.String(required=True, validate=_TYPE)
    id = fields.Integer(required=True, validate=_KEY)
    value = fields.String(required=True, validate=validate.Length(1, 60))


def propose_task(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """A task."""
    arguments: dict[str, Any] = {"title": given["title"]}
    summary = f"Create the task {_quoted(given['title'])}"
    if given.get("due"):
        arguments["dueAt"] = iso_instant(start_of(given["due"], NOON))
        summary += f", due on {given['due'].isoformat()}"
    if given.get("type") and given.get("id"):
        context = _record(given)
        arguments |= {"relatedType": context.entity, "relatedId": context.key}
        summary += f", for {context.title}"
    return _propose(use, "create_task", summary, arguments)


def propose_note(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """A note."""
    context = _record(given)
    if context.entity not in NOTED:
        raise ValidationError([("type", f"must be one of {', '.join(NOTED)}")])
    arguments = {"entity": context.entity, "id": context.key, "text": given["text"]}
    return _propose(use, "add_note", f"Add to {context.title} the note: {given['text']}", arguments)


def propose_mail(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """A mail, as text and as a link that opens it in a mail program.

    It goes to whom the caller names, or to an address that a record has as one.
    """
    if not _is_known_address(given["to"], use):
        raise ForbiddenError("The user named no such address, and no record has it.")
    summary = f"Draft a mail to {given['to']}: {given['subject']}"
    return _propose(use, "draft_mail", summary, dict(given))


def propose_stage(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """A stage or status."""
    context = _record(given)
    assert context.entity is not None
    name = "stage" if context.entity == "Opportunity" else "status"
    states = states_of(context.entity, name)
    if given["value"] not in states:
        raise ValidationError([("value", f"must be one of {', '.join(states)}")])
    arguments = {
        "entity": context.entity, "id": context.key, "property": name, "value": given["value"],
    }  # fmt: skip
    summary = f"Change the {name} of {context.title} to {given['value']}"
    return _propose(use, "change_stage", summary, arguments)


def _propose(use: Use, tool: str, summary: str, arguments: Mapping[str, Any]) -> tuple[Any, str]:
    """A proposal that the caller asked for, to those who may confirm it.

    Raises: ForbiddenError; ValidationError, there are enough of them.
    """
    if not asks_for(use.ask, tool):
        raise ForbiddenError(NOT_ASKED_FOR)
    caller = current_caller()
    permission = TOOLS[tool].permission(arguments)
    if not allowed(caller, "ai:act") or (permission and not allowed(caller, permission)):
        raise ForbiddenError("The role of the caller does not allow that.")
    if sum(1 for _ in proposals(use.parts)) >= MOST_PROPOSALS:
        raise ValidationError([("tool", f"at most {MOST_PROPOSALS} changes an answer")])
    text = " ".join(summary.split())
    if len(text) > LONGEST_SUMMARY:
        text = f"{text[:LONGEST_SUMMARY]}\N{HORIZONTAL ELLIPSIS}"
    use.parts.append(Proposal(tool, f"{text}.", dict(arguments)))
    return {"proposed": text, "note": "Nothing is done until the user confirms it."}, "proposed"


def _is_known_address(address: str, use: Use) -> bool:
    said = [use.ask.text, *(text for role, text in use.ask.dialogue if role == "user")]
    if any(address.lower() in text.lower() for text in said):
        return True
    for name, properties in _ADDRESSES.items():
        condition = " or ".join(f"{each} eq {quoted(address)}" for each in properties)
        with suppress(ForbiddenError):
            if engine.read_many(name, filter=condition, select="id", top=1):
                return True
    return False


def _record(given: Mapping[str, Any]) -> Context:
    """The record that is meant, read as the caller.

    Raises: ValidationError, NotFoundError.
    """
    context = read_context({"module": given["type"], "entityId": given["id"]})
    assert context is not None
    return context


def _quoted(text: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"


def _may_act() -> bool:
    return allowed(current_caller(), "ai:act")


_RECORD = {
    "type": {"type": "string", "description": "Type of the record, such as Client."},
    "id": {"type": "integer"},
}
PROPOSING = (
    ModelTool(
        "create_task", "Propose a task, of a record if one is named.",
        {
            **_RECORD, "title": {"type": "string"},
            "due": {"type": "string", "description": "YYYY-MM-DD"},
        },
        TaskSchema, propose_task, _may_act, is_writing=True,
    ),
    ModelTool(
        "add_note", f"Propose a note on a record: {', '.join(NOTED)}.",
        {**_RECORD, "text": {"type": "string"}},
        NoteSchema, propose_note, _may_act, is_writing=True,
    ),
    ModelTool(
        "draft_mail", "Propose the text of a mail; a person sends it.",
        {"to": {"type": "string"}, "subject": {"type": "string"}, "body": {"type": "string"}},
        MailSchema, propose_mail, _may_act, is_writing=True,
    ),
    ModelTool(
        "change_stage", "Propose another stage of an opportunity, or status of a record.",
        {**_RECORD, "value": {"type": "string"}},
        StageSchema, propose_stage, _may_act, is_writing=True,
    ),
)  # fmt: skip
