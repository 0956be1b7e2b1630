"""Proposed changes: kept, confirmed once by who was asked, or rejected."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from app import audit
from app.ai.parts import Proposal
from app.ai.schemas import AiActionSchema
from app.ai.tools import tools
from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant, json_text
from app.errors import InvalidStateError, NotFoundError
from app.events import emit
from app.http.schema_parts import answer_body
from app.http.security import acting_as, current_caller
from app.models.assistant import AiAction
from app.permissions import require

# A proposal that is older was made for a state of things that may be gone.
VALID_FOR = timedelta(hours=1)
_ENTITY = "AiAction"


def propose(session_id: int, message_id: int, proposal: Proposal) -> dict[str, Any]:
    """Keep a proposal; nothing is done. One that it takes the place of is rejected."""
    now = utc_now()
    if proposal.replaces:
        _withdraw_last(session_id)
    row = {
        "key": f"act_{secrets.token_urlsafe(18)}",
        "created_at": now,
        "session_id": session_id,
        "message_id": message_id,
        "principal": current_caller().principal,
        "tool": proposal.tool,
        "arguments": dict(proposal.arguments),
        "summary": proposal.summary,
        "status": "pending",
        "expires_at": now + VALID_FOR,
    }
    row["id"] = records.insert(AiAction, row)
    _report("ai.action_proposed", row, 1)
    return row


def confirm(key: str) -> dict[str, Any]:
    """Do what was proposed, under the rights that the caller has now; once.

    Raises: NotFoundError, there is none for this caller; InvalidStateError, it was decided or has
        expired; whatever the service raises, and then the proposal stays.
    """
    caller = current_caller()
    require(caller, "ai:act")
    action = _pending(key)
    tool = tools().get(action["tool"])
    if tool is None:  # proposed before an upgrade
        raise InvalidStateError("The action is not offered any more: ask again.")
    with acting_as(dataclasses.replace(caller, via="ai")):
        result = tool.run(action["arguments"])
        decided = _decide(action, "executed", result)
        _report("ai.action_executed", decided, 2)
    return decided


def reject(key: str) -> dict[str, Any]:
    """Leave it.

    Raises: NotFoundError; InvalidStateError.
    """
    return _decide(_pending(key), "rejected", None)


def describe_action(action: Mapping[str, Any]) -> dict[str, Any]:
    expired = action["status"] == "pending" and action["expires_at"] < utc_now()
    status = "expired" if expired else action["status"]
    return answer_body(AiActionSchema, action, id=action["key"], status=status)


def _pending(key: str) -> dict[str, Any]:
    """The proposal, locked, when it may still be decided."""
    statement = (
        select(AiAction)
        .where(AiAction.key == key, AiAction.principal == current_caller().principal)
        .with_for_update()
    )
    row = records.connection().execute(statement).mappings().first()
    if row is None:
        raise NotFoundError(f"There is no action {key[:40]}.")
    action = describe_action(dict(row))
    if action["status"] != "pending":
        raise InvalidStateError(
            f"The action is {action['status']}: only a pending one is confirmed or rejected.",
            [("status", action["status"])],
        )
    return dict(row)


def _decide(action: Mapping[str, Any], status: str, result: Any) -> dict[str, Any]:
    values = {"status": status, "decided_at": utc_now(), "result": result}
    records.connection().execute(
        update(AiAction).where(AiAction.id == action["id"]).values(**values)
    )
    after = {"tool": action["tool"], "arguments": action["arguments"], "result": result}
    audit.record(f"ai.action_{status}", _ENTITY, action["id"], after=after)
    return {**action, **values}


def _withdraw_last(session_id: int) -> None:
    """Reject what was proposed last in a conversation, if it is pending."""
    statement = (
        select(AiAction)
        .where(AiAction.session_id == session_id, AiAction.principal == current_caller().principal)
        .order_by(AiAction.id.desc())
        .limit(1)
        .with_for_update()
    )
    row = records.connection().execute(statement).mappings().first()
    if row is not None and describe_action(dict(row))["status"] == "pending":
        _decide(dict(row), "rejected", None)


def _report(event: str, action: Mapping[str, Any], sequence: int) -> None:
    representation = {
        "id": action["key"], "tool": action["tool"], "summary": action["summary"],
        "arguments": action["arguments"], "status": action["status"],
        "expiresAt": iso_instant(action["expires_at"]), "result": action.get("result"),
    }  # fmt: skip
    emit(event, _ENTITY, action["id"], sequence=sequence, representation=json_text(representation))
