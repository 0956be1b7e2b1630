"""A declared operation has a view that answers, tries and refuses as its declaration says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import audit
from app.http import schema_fields as fields
from app.http.areas import Area
from app.http.schema_fields import Schema
from app.models.event import AuditRecord
from app.operations.declaration import Operation
from app.operations.rest import publish
from tests.conftest import KeepApp
from tests.contract.conftest import Api, sign_in

__all__ = ["sign_in"]
pytestmark = pytest.mark.only_on("sqlite")


class CallSchema(Schema):
    reason = fields.String(required=True)


class CalledSchema(Schema):
    id = fields.Integer()
    reason = fields.String()


def call_lead(key: int, reason: str) -> dict[str, Any]:
    audit.record("lead.called", "Lead", key, after={"reason": reason})
    return {"id": key, "reason": reason}


def create_call(key: int, reason: str) -> int:
    call_lead(key, reason)
    return 7


def forget_calls(key: int) -> None:
    audit.record("lead.forgotten", "Lead", key)


def count_calls(reason: str) -> dict[str, Any]:
    return {"id": 3, "reason": reason}


CALL = Operation(
    name="Call", run=call_lead, permissions=("leads:update",), description="Call.",
    arguments=CallSchema, answers=CalledSchema, path="/<int:lead_id>/call", bound_to="Lead",
)  # fmt: skip
CREATE = Operation(
    name="CreateCall", run=create_call, permissions=("leads:update",), description="Make one.",
    arguments=CallSchema, answers=CalledSchema, path="/<int:lead_id>/calls",
    answer=lambda key: {"id": key, "leadId": 5}, location="/odata/Leads({leadId})/Calls({id})",
    bound_to="Lead",
)  # fmt: skip
FORGET = Operation(
    name="Forget", run=forget_calls, permissions=("leads:delete",), description="Forget.",
    path="/<int:lead_id>/forget", bound_to="Lead",
)  # fmt: skip
COUNT = Operation(
    name="Count", run=count_calls, permissions=("leads:read",), description="Count.",
    arguments=CallSchema, answers=CalledSchema, changes=False, path="/calls",
)  # fmt: skip


def _add_operations(app: Flask) -> None:
    area = Area("calls", __name__)
    publish(area, CALL, CREATE, FORGET, COUNT)
    app.register_blueprint(area, url_prefix="/api/calls")


@pytest.fixture
def calling(keep_app: KeepApp, sign_in: Callable[..., Api]) -> Callable[[str], Api]:
    """Somebody with a role, at a service that has the operations."""
    return lambda role: sign_in(role, keep_app(_add_operations))


def written(session: Session) -> list[tuple[str, int | None]]:
    session.rollback()
    entries = session.connection().execute(select(AuditRecord).order_by(AuditRecord.id)).all()
    return [(row.action, row.entity_id) for row in entries if row.action.startswith("lead.")]


BODY = {"reason": "offer"}


def test_the_answer_has_the_form_that_is_declared(
    calling: Callable[[str], Api], session: Session
) -> None:
    api = calling("Admin")
    done = api.post("/api/calls/5/call", BODY)
    assert (done.status_code, done.json) == (200, {"id": 5, "reason": "offer"})
    created = api.post("/api/calls/5/calls", BODY)
    assert (created.status_code, created.json) == (201, {"id": 7})
    assert created.headers["Location"].endswith("/odata/Leads(5)/Calls(7)")
    forgotten = api.post("/api/calls/5/forget")
    assert (forgotten.status_code, forgotten.data) == (204, b"")
    assert written(session) == [("lead.called", 5), ("lead.called", 5), ("lead.forgotten", 5)]


def test_a_trial_answers_alike_and_leaves_nothing(
    calling: Callable[[str], Api], session: Session
) -> None:
    api = calling("Admin")
    tried = api.post("/api/calls/5/call?dryRun=true", BODY)
    assert (tried.status_code, tried.json) == (200, {"id": 5, "reason": "offer"})
    created = api.post("/api/calls/5/calls?dryRun=true", BODY)
    assert (created.status_code, created.json) == (201, {"id": None})
    assert "Location" not in created.headers
    assert api.post("/api/calls/5/forget?dryRun=true").status_code == 204
    assert written(session) == []


def test_what_changes_nothing_reads_its_arguments_from_the_query(
    calling: Callable[[str], Api],
) -> None:
    api = calling("Viewer")
    assert api.get("/api/calls/calls?reason=offer").json == {"id": 3, "reason": "offer"}
    assert api.get("/api/calls/calls").status_code == 400
    assert api.get("/api/calls/calls?reason=a&dryRun=true").status_code == 400
    assert api.post("/api/calls/calls", BODY).status_code == 405


def test_who_lacks_the_permission_is_refused_before_the_body_is_read(
    calling: Callable[[str], Api], session: Session
) -> None:
    api = calling("Viewer")
    for path in ("/api/calls/5/call", "/api/calls/5/calls", "/api/calls/5/forget"):
        answer = api.post(path, {"nonsense": 1})
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "FORBIDDEN")
    assert calling("Admin").post("/api/calls/5/call", {"nonsense": 1}).status_code == 400
    assert written(session) == []
