"""Every event of contract section 12 happens when the thing is done, over the API or by a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db.engines import transaction
from app.events import EVENT_NAMES
from app.invoices.clocks import run_invoice_clocks
from app.mail.address import mail_target, parse_mail_url
from app.mail.delivery import GIVE_UP_AFTER, deliver_due
from app.models.event import Event, OutgoingMail
from app.projects.service import tell_overdue_tasks
from app.tickets.clocks import run_ticket_clocks
from app.webhooks.endpoint_state import disable_endpoint
from tests.contract.conftest import PASSWORD, Api
from tests.factories import today
from tests.webhooks.doing import Doing

pytestmark = pytest.mark.only_on("sqlite")

# Done and asserted where the parts that they need are at hand.
ELSEWHERE = {
    "ai.action_proposed": "tests/ai/test_actions.py",
    "ai.action_executed": "tests/ai/test_actions.py",
}


def merge_clients(do: Doing) -> int:
    key = do.make("Clients")
    do.post(f"crm/clients/{key}/merge", sourceId=do.make("Clients"))
    return key


def merge_tickets(do: Doing) -> int:
    source = do.ticket()
    do.post(f"tickets/{do.ticket()}/merge", sourceId=source)
    return source


def breach(do: Doing) -> int:
    key = do.ticket()
    do.run(run_ticket_clocks, days=60)
    return key


def put_at_risk(do: Doing) -> int:
    key, now = do.ticket(), utc_now()
    do.put(
        "tickets", key, created_at=now - timedelta(hours=10),
        first_responded_at=now, resolution_due_at=now + timedelta(minutes=30),
    )  # fmt: skip
    do.run(run_ticket_clocks)
    return key


def comment(do: Doing) -> int:
    key = do.ticket()
    do.post(f"tickets/{key}/comments", body="Done.")
    return key


def convert(do: Doing) -> int:
    key = do.make("Leads")
    do.post(f"crm/leads/{key}/convert")
    return key


def send(do: Doing) -> int:
    key = do.invoice(issued=False)
    do.post(f"invoices/{key}/send", attachPdf=False)
    return key


def look(do: Doing) -> int:
    """The client opens the page that the mail leads to."""
    key = do.invoice()
    address = do.api.get(f"/api/invoices/{key}/link").json["url"]
    page = do.app.test_client().get(address, headers={"User-Agent": "Mozilla/5.0 Firefox/140.0"})
    assert page.status_code == 200
    return key


def fail_to_send(do: Doing) -> int:
    key = send(do)
    do.put("outgoing_mail", 1, status="queued", created_at=utc_now() - 2 * GIVE_UP_AFTER)
    with do.app.app_context(), transaction() as session:
        assert session.execute(select(OutgoingMail.entity)).scalars().all() == ["Invoice"]
    before = mail_target.of(do.app)
    # A port of loopback on which nobody listens.
    mail_target.bind(do.app, parse_mail_url("smtp://127.0.0.1:9"))
    try:
        do.run(deliver_due)
    finally:
        mail_target.bind(do.app, before)
    return key


def remind(do: Doing) -> int:
    key = do.invoice(dueDate=today().isoformat())
    do.run(run_invoice_clocks, days=4)
    return key


def run_overdue(do: Doing) -> int:
    key = do.invoice(dueDate=today().isoformat())
    do.run(run_invoice_clocks, days=1)
    return key


def pay(do: Doing, amount: float) -> int:
    key = do.invoice()
    do.pay(key, amount)
    return key


def rest(do: Doing, operation: str, **body: Any) -> int:
    key = do.invoice()
    do.post(f"invoices/{key}/{operation}", **body)
    return key


def credit(do: Doing) -> int:
    key = do.invoice()
    note = do.post(f"invoices/{key}/credit-note")["id"]
    do.change("Invoices", note, status="Sent")
    return key


def reverse(do: Doing) -> int:
    payment = do.pay(do.invoice())
    do.post(f"payments/{payment}/reverse", reason="Returned")
    return payment


def rate(do: Doing) -> int:
    key = do.article("Published")
    do.post(f"kb/articles/{key}/feedback", helpful=True)
    return key


def quarantine(do: Doing) -> int:
    trick = b"GIF89a" + bytes(100) + b"%PDF-1.4" + bytes(50)
    return int(do.files.upload(trick, "cat.gif").json["id"])


def add_version(do: Doing) -> int:
    key = do.files.document()
    assert do.files.upload(b"Another text.", "fox.txt", documentId=key).status_code < 300
    return key


def restore(do: Doing) -> int:
    key = do.files.document()
    assert do.api.delete(f"/odata/Documents({key})").status_code == 204
    do.post(f"documents/{key}/restore")
    return key


def share(do: Doing) -> int:
    key = do.files.document()
    do.share(key)
    return key


def revoke_share(do: Doing) -> int:
    key = do.files.document()
    made = do.share(key)
    assert do.api.delete(f"/api/documents/{key}/shares/{made['id']}").status_code == 204
    return key


def use_share(do: Doing) -> int:
    key = do.files.document()
    token = do.share(key)["token"]
    assert do.api.client.get(f"/s/{token}?download=true").status_code == 200
    return key


def download(do: Doing) -> int:
    key = do.files.document()
    assert do.files.download(key).status_code == 200
    return key


def task_overdue(do: Doing) -> int:
    key = do.make("Tasks", dueAt="2026-12-01T00:00:00Z")
    do.run(tell_overdue_tasks, days=60)
    return key


def export(do: Doing) -> int:
    key = do.api.get("/api/bi/reports").json["items"][0]["id"]
    answer = do.api.post(f"/api/bi/reports/{key}/export", {"format": "csv"})
    assert answer.status_code == 200, answer.text
    return int(key)


def endpoint(do: Doing) -> int:
    return int(do.post("webhooks", url="https://example.com/", events=["*"])["id"])


def ping(do: Doing) -> int:
    key = endpoint(do)
    do.post(f"webhooks/{key}/test")
    return key


def disable(do: Doing) -> int:
    key = endpoint(do)
    with do.app.app_context(), transaction():
        disable_endpoint(key, "It does not answer.")
    return key


def key_of(do: Doing) -> int:
    return int(do.post("admin/api-keys", name="ERP", role="Viewer")["id"])


def revoke_key(do: Doing) -> int:
    key = key_of(do)
    assert do.api.delete(f"/api/admin/api-keys/{key}").status_code == 204
    return key


def create_user(do: Doing) -> int:
    return int(
        do.post(
            "admin/users", username="anna", email="anna@example.com", password=PASSWORD,
            roles=["Sales"],
        )["id"]
    )  # fmt: skip


def disable_user(do: Doing) -> int:
    key = create_user(do)
    assert do.api.patch(f"/api/admin/users/{key}", {"status": "disabled"}).status_code == 200
    return key


def lock_user(do: Doing) -> int:
    key = create_user(do)
    for _ in range(6):
        do.api.client.post("/api/auth/login", json={"username": "anna", "password": "wrong"})
    return key


DOINGS: dict[str, Callable[[Doing], int]] = {
    "client.created": lambda do: do.make("Clients"),
    "client.updated": lambda do: do.change("Clients", name="Other"),
    "client.deleted": lambda do: do.delete("Clients"),
    "client.status_changed": lambda do: do.change("Clients", status="Inactive"),
    "client.merged": merge_clients,
    "contact.created": lambda do: do.make("Contacts"),
    "contact.updated": lambda do: do.change("Contacts", lastName="Prefect"),
    "contact.deleted": lambda do: do.delete("Contacts"),
    "lead.created": lambda do: do.make("Leads"),
    "lead.updated": lambda do: do.change("Leads", company="Other"),
    "lead.deleted": lambda do: do.delete("Leads"),
    "lead.status_changed": lambda do: do.change("Leads", status="Contacted"),
    "lead.assigned": lambda do: do.change("Leads", ownerId=do.other()),
    "lead.disqualified": lambda do: do.change(
        "Leads", status="Disqualified", disqualifyReason="NoFit"
    ),
    "lead.converted": convert,
    "opportunity.created": lambda do: do.opportunity(),
    "opportunity.updated": lambda do: do.opportunity({"name": "Other"}),
    "opportunity.deleted": lambda do: _deleted(do, "Opportunities", do.opportunity()),
    "opportunity.stage_changed": lambda do: do.opportunity({"stage": "Proposal"}),
    "opportunity.assigned": lambda do: do.opportunity({"ownerId": do.other()}),
    "opportunity.won": lambda do: do.opportunity({"stage": "ClosedWon"}),
    "opportunity.lost": lambda do: do.opportunity({"stage": "ClosedLost", "lostReason": "Price"}),
    "opportunity.reopened": lambda do: do.opportunity(
        {"stage": "ClosedWon"}, {"stage": "Negotiation"}
    ),
    "ticket.created": lambda do: do.make("Tickets"),
    "ticket.updated": lambda do: do.change("Tickets", subject="Other"),
    "ticket.deleted": lambda do: do.delete("Tickets"),
    "ticket.status_changed": lambda do: do.ticket({"status": "OnHold"}),
    "ticket.assigned": lambda do: do.change("Tickets", assigneeId=do.other()),
    "ticket.comment_added": comment,
    "ticket.solved": lambda do: do.ticket({"status": "Solved"}),
    "ticket.closed": lambda do: do.ticket({"status": "Solved"}, {"status": "Closed"}),
    "ticket.reopened": lambda do: do.ticket({"status": "Solved"}, {"status": "Open"}),
    "ticket.merged": merge_tickets,
    "ticket.sla_at_risk": put_at_risk,
    "ticket.sla_breached": breach,
    "invoice.created": lambda do: do.invoice(issued=False),
    "invoice.updated": lambda do: do.change(
        "Invoices", do.invoice(issued=False), reference="Order 1"
    ),
    "invoice.deleted": lambda do: _deleted(do, "Invoices", do.invoice(issued=False)),
    "invoice.issued": lambda do: do.invoice(),
    "invoice.sent": send,
    "invoice.send_failed": fail_to_send,
    "invoice.viewed": look,
    "invoice.partially_paid": lambda do: pay(do, 19),
    "invoice.paid": lambda do: pay(do, 119),
    "invoice.overdue": run_overdue,
    "invoice.reminder_sent": remind,
    "invoice.voided": lambda do: rest(do, "void", reason="Wrong client"),
    "invoice.uncollectible": lambda do: rest(do, "uncollectible"),
    "invoice.credited": credit,
    "payment.created": lambda do: do.pay(do.invoice()),
    "payment.reversed": reverse,
    "kb_article.created": lambda do: do.article(),
    "kb_article.updated": lambda do: do.change("KbArticles", body="Or so."),
    "kb_article.deleted": lambda do: do.delete("KbArticles"),
    "kb_article.submitted": lambda do: do.article("InReview"),
    "kb_article.published": lambda do: do.article("Published"),
    "kb_article.unpublished": lambda do: do.article("Published", "Draft"),
    "kb_article.archived": lambda do: do.article("Published", "Archived"),
    "kb_article.feedback_received": rate,
    "document.uploaded": lambda do: do.files.document(),
    "document.updated": lambda do: do.change("Documents", name="other.pdf"),
    "document.version_added": add_version,
    "document.deleted": lambda do: do.delete("Documents"),
    "document.restored": restore,
    "document.shared": share,
    "document.share_revoked": revoke_share,
    "document.share_accessed": use_share,
    "document.downloaded": download,
    "document.quarantined": quarantine,
    "task.created": lambda do: do.make("Tasks"),
    "task.updated": lambda do: do.change("Tasks", title="Other"),
    "task.deleted": lambda do: do.delete("Tasks"),
    "task.assigned": lambda do: do.change("Tasks", assigneeId=do.other()),
    "task.status_changed": lambda do: do.change("Tasks", status="InProgress"),
    "task.completed": lambda do: do.change("Tasks", status="Done"),
    "task.overdue": task_overdue,
    "product.created": lambda do: do.make("Products"),
    "product.updated": lambda do: do.change("Products", unitPrice=140),
    "product.deleted": lambda do: do.delete("Products"),
    "project.created": lambda do: do.make("Projects"),
    "project.updated": lambda do: do.change("Projects", name="Other"),
    "project.deleted": lambda do: do.delete("Projects"),
    "project.status_changed": lambda do: do.change("Projects", status="Active"),
    "project.completed": lambda do: do.change(
        "Projects", do.change("Projects", status="Active"), status="Completed"
    ),
    "report.exported": export,
    "webhook.ping": ping,
    "webhook.disabled": disable,
    "api_key.created": key_of,
    "api_key.revoked": revoke_key,
    "user.created": create_user,
    "user.disabled": disable_user,
    "user.locked": lock_user,
}


def _deleted(do: Doing, entities: str, key: int) -> int:
    assert do.api.delete(f"/odata/{entities}({key})").status_code == 204
    return key


@pytest.mark.parametrize("name", DOINGS)
def test_doing_the_thing_writes_its_event(
    app: Flask, admin: Api, session: Session, name: str
) -> None:
    key = DOINGS[name](Doing(app, admin))
    events = (
        session.connection()
        .execute(select(Event).where(Event.type == name, Event.entity_id == key))
        .all()
    )
    assert len(events) == 1
    data = events[0].payload
    assert data["object"]["id"] == key
    assert data["sequence"] == events[0].sequence >= 0
    assert set(data["actor"]) == {"id", "via"}


def test_no_event_of_the_contract_is_forgotten() -> None:
    assert DOINGS.keys() | ELSEWHERE.keys() == EVENT_NAMES
    assert not DOINGS.keys() & ELSEWHERE.keys()
