"""What a confirmed proposal does: each tool is a call of a service, under the caller's rights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from app.errors import ValidationError
from app.events import entity_url
from app.settings.days import today
from app.tickets.comments import create_comment
from app.writing.pipeline import EntityService
from app.writing.services import SERVICES

Arguments = Mapping[str, Any]

# Types that take notes -> the column that notes are appended to; a ticket has comments instead.
NOTED: Mapping[str, str] = {
    "Client": "notes", "Contact": "notes", "Invoice": "internal_notes", "Ticket": "",
}  # fmt: skip
# What some states want besides -> the attribute that takes it.
REASONS: Mapping[str, str] = {
    "lostReason": "lost_reason", "disqualifyReason": "disqualify_reason",
}  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """``run`` does it and returns what came of it; ``permission`` is what it needs."""

    name: str
    run: Callable[[Arguments], dict[str, Any]]
    permission: Callable[[Arguments], str | None]


def _create_task(arguments: Arguments) -> dict[str, Any]:
    values = {
        "title": arguments["title"],
        "due_at": datetime.fromisoformat(due) if (due := arguments.get("dueAt")) else None,
        "related_type": arguments.get("relatedType"),
        "related_id": arguments.get("relatedId"),
    }
    return _made("Task", SERVICES["Task"].create(values))


def _add_note(arguments: Arguments) -> dict[str, Any]:
    entity, key, text = arguments["entity"], arguments["id"], arguments["text"]
    if entity == "Ticket":
        create_comment(key, body=text, is_internal=True)
        return _made(entity, key)
    column = NOTED[entity]
    service = SERVICES[entity]
    # Two who add a note at the same time add two.
    present = getattr(service.stored(key), column)
    line = f"{today().isoformat()}: {text}"
    service.update(key, {column: f"{present}\n{line}" if present else line})
    return _made(entity, key)


def _draft_mail(arguments: Arguments) -> dict[str, Any]:
    """The text, and a link that opens it in a mail program: sending it is a person's."""
    to, subject, body = arguments["to"], arguments["subject"], arguments["body"]
    link = f"mailto:{quote(to)}?subject={quote(subject)}&body={quote(body)}"
    return {"to": to, "subject": subject, "body": body, "url": link}


def _change_stage(arguments: Arguments) -> dict[str, Any]:
    entity, key = arguments["entity"], arguments["id"]
    service = SERVICES[entity]
    if arguments["property"] not in ("stage", "status"):
        raise ValidationError([("property", "must be stage or status")])
    reason = {REASONS[name]: why for name, why in (arguments.get("reason") or {}).items()}
    service.update(key, {arguments["property"]: arguments["value"], **reason})
    return _made(entity, key)


def _made(entity: str, key: int) -> dict[str, Any]:
    return {"type": entity, "id": key, "url": entity_url(entity, key)}


def _update_right(arguments: Arguments) -> str | None:
    service: EntityService[Any] = SERVICES[arguments["entity"]]
    return service.rules.permissions["update"]


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("create_task", _create_task, lambda arguments: "tasks:create"),
        Tool("add_note", _add_note, _update_right),
        Tool("draft_mail", _draft_mail, lambda arguments: None),
        Tool("change_stage", _change_stage, _update_right),
    )
}
