"""Letters of documents: how they look, what became of them, once more on request."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.mail.address import MailServer, mail_target
from app.mail.delivery import deliver_due
from app.models.event import Event
from tests.contract.conftest import Api
from tests.contract.test_rest_money import refusal
from tests.mail.servers import Mailbox, mail_server

HOSTILE = "<img src=x onerror=alert(1)>\r\nBcc: x@evil.example =cmd|' /C calc'!A0 {total} ${7*7}"


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def make(api: Api, **client: Any) -> Any:
    """A draft of 119.00 for a client."""
    body = {"name": "Acme", "email": "a@acme.example", **client}
    client_id = api.post("/odata/Clients", body).json["id"]
    line = {"description": "Work", "unitPrice": 100, "taxRate": 19}
    answer = api.post("/odata/Invoices", {"clientId": client_id, "LineItems": [line]})
    assert answer.status_code == 201, answer.text
    return answer.json


def deliver(app: Flask, port: int) -> None:
    before = mail_target.of(app)
    mail_target.bind(app, MailServer("127.0.0.1", port))
    with app.app_context():
        deliver_due()
    mail_target.bind(app, before)


def test_a_preview_shows_the_letter_and_changes_nothing(admin: Api) -> None:
    key = make(admin, language="de")["id"]
    body = admin.post(f"/api/invoices/{key}/preview", {"attachEInvoice": True}).json
    assert body["to"] == ["a@acme.example"]
    assert body["subject"] == "Rechnung ENTWURF von My Company"
    assert "119,00\u00a0€" in body["text"]
    assert "\u2013" not in body["text"]
    assert "119,00\u00a0€" in Tags(body["html"]).text
    assert body["attachments"] == [f"invoice-{key}.pdf", f"invoice-{key}.xml"]
    assert admin.get(f"/odata/Invoices({key})").json["status"] == "Draft"
    assert admin.get(f"/api/invoices/{key}/deliveries").json["total"] == 0


def test_every_kind_of_letter_can_be_looked_at(admin: Api) -> None:
    key = make(admin)["id"]
    subjects = set()
    for kind in ("invoice", "creditNote", "notice", "reminder"):
        body = admin.post(f"/api/invoices/{key}/preview", {"kind": kind}).json
        assert "{" not in body["subject"] + body["text"]
        subjects.add(body["subject"])
    assert len(subjects) == 4
    assert refusal(admin.post(f"/api/invoices/{key}/preview", {"kind": "poem"}))[0] == 400


def test_own_templates_are_used_by_kind_and_language(admin: Api) -> None:
    templates = {
        "invoice": {
            "en": {"subject": "Bill {number} for {client}"},
            "de": {"message": "Zahlen Sie {amountDue} bis {dueDate}."},
        }
    }
    assert admin.patch("/api/admin/settings/mail", {"templates": templates}).status_code == 200
    english, german = make(admin, name="A {number} B")["id"], make(admin, language="de-AT")["id"]
    body = admin.post(f"/api/invoices/{english}/preview").json
    assert body["subject"] == "Bill DRAFT for A {number} B"
    assert body["text"].startswith("Dear A {number} B")
    body = admin.post(f"/api/invoices/{german}/preview").json
    assert body["subject"].startswith("Rechnung")
    assert body["text"].startswith("Zahlen Sie")


TWO_LINES = "Hello\r\nBcc: x@evil.example"
ADDRESSES = "a@b.example\r\nBcc: x@evil.example"
INVOICE = "/api/invoices/{invoice}"
HEADERS = [
    ("POST", f"{INVOICE}/send", {"subject": TWO_LINES}, "subject"),
    ("POST", f"{INVOICE}/preview", {"subject": TWO_LINES}, "subject"),
    ("POST", "/api/invoices/send", {"invoiceId": 1, "subject": TWO_LINES}, "subject"),
    ("POST", f"{INVOICE}/send", {"to": [ADDRESSES]}, "to[0]"),
    ("POST", f"{INVOICE}/send", {"cc": [ADDRESSES]}, "cc[0]"),
    ("POST", "/odata/Clients", {"name": "A", "invoiceEmail": ADDRESSES}, "invoiceEmail"),
    ("PATCH", "/api/admin/settings/seller", {"name": TWO_LINES}, "name"),
    ("PATCH", "/api/admin/settings/mail", {"senderName": TWO_LINES}, "senderName"),
    ("PATCH", "/api/admin/settings/mail", {"replyTo": ADDRESSES}, "replyTo"),
    ("PATCH", "/api/admin/settings/mail",
     {"templates": {"invoice": {"en": {"subject": TWO_LINES}}}}, "templates.invoice.en.subject"),
    ("POST", "/api/bi/reports", {"name": TWO_LINES, "odata": "/odata/Clients"}, "name"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "field"), HEADERS)
def test_what_stands_in_the_head_of_a_mail_is_one_line(
    admin: Api, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    path = path.format(invoice=make(admin)["id"])
    answer = admin.send(method, path, json=body)
    assert answer.status_code == 400
    assert field in [detail["field"] for detail in answer.json["error"]["details"]]


def test_hostile_text_stays_text(admin: Api) -> None:
    hostile = " ".join(HOSTILE.split())
    admin.put("/api/admin/settings/seller", {"name": hostile})
    key = make(admin, name=hostile)["id"]
    body = {"subject": hostile, "message": HOSTILE}
    for letter in ({}, body):
        shown = admin.post(f"/api/invoices/{key}/preview", letter).json
        assert "\n" not in shown["subject"] and "\r" not in shown["subject"]
        page = Tags(shown["html"])
        assert page.tags <= {"html", "head", "meta", "title", "body", "div", "p", "br", "a",
                             "table", "tr", "td"}  # fmt: skip
        assert "<img src=x" in page.text


def test_a_sent_invoice_arrives_with_its_frozen_file(admin: Api, app: Flask) -> None:
    key = make(admin)["id"]
    answer = admin.post(f"/api/invoices/{key}/send", {"cc": ["b@acme.example"]}).json
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        deliver(app, port)
    (message,) = mailbox.messages
    (attached,) = message.iter_attachments()
    assert attached.get_filename() == f"{answer['number']}.pdf"
    assert attached.get_content() == admin.get(f"/api/invoices/{key}/pdf").data
    (delivery,) = admin.get(f"/api/invoices/{key}/deliveries").json["items"]
    assert delivery["id"] == answer["delivery"]["id"]
    assert (delivery["status"], delivery["attempts"], delivery["nextAttemptAt"]) == (
        "sent", 1, None,
    )  # fmt: skip
    assert delivery["messageId"] == message["Message-ID"]
    assert delivery["sentAt"]


def test_a_refused_mail_is_told_and_sent_again_on_request(admin: Api, app: Flask) -> None:
    key = make(admin)["id"]
    admin.post(f"/api/invoices/{key}/send", {})
    mailbox = Mailbox(answers=["550 no"])
    with mail_server(mailbox) as port:
        deliver(app, port)
        (failed,) = admin.get(f"/api/invoices/{key}/deliveries").json["items"]
        assert (failed["status"], "550 no" in failed["error"]) == ("failed", True)
        path = f"/api/invoices/{key}/deliveries/{failed['id']}/resend"
        assert admin.post(f"{path}?dryRun=true").json["status"] == "queued"
        deliver(app, port)
        assert mailbox.envelopes == []
        again = admin.post(path)
        assert (again.status_code, again.json["status"]) == (200, "queued")
        assert refusal(admin.post(path)) == (409, "INVALID_STATE")
        deliver(app, port)
    (message,) = mailbox.messages
    assert message["Message-ID"] == failed["messageId"]
    assert refusal(admin.post(path)) == (409, "INVALID_STATE")
    assert admin.post(f"/api/invoices/{key}/deliveries/999/resend").status_code == 404


def test_a_failure_is_an_event(admin: Api, app: Flask, session: Session) -> None:
    key = make(admin)["id"]
    admin.post(f"/api/invoices/{key}/send", {})
    with mail_server(Mailbox(answers=["550 no"])) as port:
        deliver(app, port)
    found = (
        session.connection().execute(select(Event).where(Event.type == "invoice.send_failed")).all()
    )
    assert [(event.entity, event.entity_id) for event in found] == [("Invoice", key)]


def test_who_may_see_and_resend(admin: Api, sign_in: Callable[..., Api]) -> None:
    key = make(admin)["id"]
    admin.post(f"/api/invoices/{key}/send", {})
    viewer = sign_in("Viewer")
    assert viewer.get(f"/api/invoices/{key}/deliveries").json["total"] == 1
    assert viewer.post(f"/api/invoices/{key}/deliveries/1/resend").status_code == 403
    assert viewer.post(f"/api/invoices/{key}/preview").status_code == 403
    assert viewer.get("/api/invoices/999/deliveries").status_code == 404


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it", "pl", "ru", "ja", "de-CH"])
def test_letters_are_in_the_language_of_the_client(admin: Api, language: str) -> None:
    key = make(admin, language=language)["id"]
    body = admin.post(f"/api/invoices/{key}/preview").json
    assert f'lang="{language}"' in body["html"]
    assert "{" not in body["subject"] + body["text"]
