"""Documents go out: issued, with the mail written in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.invoices.sending import ONCE_WITHIN
from app.models.event import AuditRecord, OutgoingMail
from tests.contract.conftest import Api
from tests.contract.test_rest_money import draft, pay, refusal

OPEN = {"status": "queued", "error": None, "at": None}
TO = {"to": ["billing@acme.example"]}


def mails(session: Session) -> list[OutgoingMail]:
    session.rollback()  # the reader looks again
    return list(session.connection().execute(select(OutgoingMail).order_by(OutgoingMail.id)))


def send(api: Api, key: int, body: Any = None, query: str = "", **options: Any) -> Any:
    return api.post(f"/api/invoices/{key}/send{query}", TO if body is None else body, **options)


def test_a_draft_is_issued_and_its_mail_is_queued(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    answer = send(admin, key, TO | {"cc": ["b@acme.example"], "message": "Hello"})
    assert answer.status_code == 200, answer.text
    invoice = admin.get(f"/odata/Invoices({key})").json
    (mail,) = mails(session)
    assert answer.json == {
        "id": key, "number": invoice["number"], "status": "Sent", "sentAt": invoice["sentAt"],
        "issued": True,
        "delivery": {
            "id": mail.id, "to": ["billing@acme.example"], "cc": ["b@acme.example"],
            "subject": mail.subject, "status": "queued",
            "attachments": [f"{invoice['number']}.pdf"], "error": None,
            "recipients": [
                {"address": "billing@acme.example", "kind": "to"} | OPEN,
                {"address": "b@acme.example", "kind": "cc"} | OPEN,
            ],
        },
    }  # fmt: skip
    assert mail.subject.startswith(f"Invoice {invoice['number']}")
    link = admin.get(f"/api/invoices/{key}/link").json["url"]
    assert mail.text_body == f"Hello\n\nView online: {link}"
    assert (mail.status, mail.attempts) == ("queued", 0)
    assert (mail.entity, mail.entity_id) == ("Invoice", key)


def test_the_client_is_written_to_by_default(admin: Api, session: Session) -> None:
    invoice = draft(admin)
    without = send(admin, invoice["id"], {})
    assert refusal(without) == (400, "VALIDATION_ERROR")
    assert admin.get(f"/odata/Invoices({invoice['id']})").json["status"] == "Draft"
    client = f"/odata/Clients({invoice['clientId']})"
    admin.patch(client, {"email": "a@acme.example", "invoiceEmail": "bills@acme.example"})
    assert send(admin, invoice["id"], {}).json["delivery"]["to"] == ["bills@acme.example"]
    assert len(mails(session)) == 1


def test_only_marking_writes_no_mail(admin: Api, session: Session) -> None:
    body = send(admin, draft(admin)["id"], {"markOnly": True}).json
    assert (body["status"], body["issued"], body["delivery"]) == ("Sent", True, None)
    assert mails(session) == []


@pytest.mark.requirement("RACE-15")
def test_a_letter_asked_for_at_once_goes_out_once(app: Flask, admin: Api, session: Session) -> None:
    key = draft(admin)["id"]

    def ask(_: int) -> Any:
        path = f"/api/invoices/{key}/send"
        return app.test_client().post(path, json=TO, headers=admin.headers)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    assert [answer.status_code for answer in answers] == [200] * 8
    (mail,) = mails(session)
    assert {answer.json["delivery"]["id"] for answer in answers} == {mail.id}
    assert sum(answer.json["issued"] for answer in answers) == 1
    recorded = select(AuditRecord.id).where(AuditRecord.action == "invoice.sent")
    assert len(session.scalars(recorded).all()) == 1


def test_another_letter_is_another_mail(admin: Api, unit_of_work: Callable[..., Any]) -> None:
    key = draft(admin)["id"]
    first = send(admin, key).json["delivery"]["id"]
    others = [
        send(admin, key, body).json["delivery"]["id"]
        for body in (
            {"to": ["other@acme.example"]}, TO | {"cc": ["c@acme.example"]},
            TO | {"subject": "Once more"}, TO | {"message": "Please"}, TO | {"attachPdf": False},
        )
    ]  # fmt: skip
    assert len({first, *others}) == 6
    assert send(admin, key).json["delivery"]["id"] == first
    with unit_of_work() as writing:
        writing.execute(
            update(OutgoingMail).where(OutgoingMail.id == first).values(status="failed")
        )
    assert send(admin, key).json["delivery"]["id"] not in {first, *others}


def test_the_same_letter_goes_out_again_later(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    send(admin, key)
    with time_machine.travel(utc_now() + ONCE_WITHIN + timedelta(seconds=1), tick=True):
        send(admin, key)
    assert len(mails(session)) == 2


def test_a_paid_document_may_be_sent_again_and_a_void_one_not(admin: Api) -> None:
    paid, void = draft(admin)["id"], draft(admin)["id"]
    send(admin, paid)
    assert pay(admin, paid).status_code == 201
    again = send(admin, paid).json
    assert (again["status"], again["issued"]) == ("Paid", False)
    send(admin, void)
    assert admin.post(f"/api/invoices/{void}/void", {"reason": "x"}).status_code == 200
    assert refusal(send(admin, void)) == (409, "INVALID_STATE")
    assert send(admin, 999).status_code == 404


@pytest.mark.requirement("SEC-74")
def test_bad_letters_are_refused_by_field(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"to": []}, "to"),
        ({"to": ["nobody"]}, "to[0]"),
        ({"to": ["a@acme.example\r\nBcc: x@evil.example"]}, "to[0]"),
        ({"to": "a@acme.example"}, "to"),
        ({**TO, "subject": "x" * 501}, "subject"),
        ({**TO, "subject": "One\r\nBcc: x"}, "subject"),
        ({**TO, "colour": 1}, "colour"),
    ]
    for body, field in wrong:
        answer = send(admin, key, body)
        assert refusal(answer) == (400, "VALIDATION_ERROR"), body
        assert answer.json["error"]["details"][0]["field"] == field
    assert send(admin, key, {**TO, "attachEInvoice": True}).status_code == 400
    assert mails(session) == []
    assert admin.get(f"/odata/Invoices({key})").json["number"] is None


def test_a_dry_run_issues_and_queues_nothing(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    assert send(admin, key, query="?dryRun=true").json["status"] == "Sent"
    assert admin.get(f"/odata/Invoices({key})").json["status"] == "Draft"
    assert mails(session) == []


def test_many_are_sent_each_for_itself(admin: Api, session: Session) -> None:
    first, empty, last = draft(admin), draft(admin), draft(admin)
    admin.patch(f"/odata/Clients({empty['clientId']})", {"status": "Blocked"})
    keys = [first["id"], empty["id"], 999, last["id"]]
    answer = admin.post("/api/invoices/send", {"invoiceIds": keys, **TO})
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert (body["sent"], body["failed"]) == (2, 2)
    assert [(result["invoiceId"], result["ok"]) for result in body["results"]] == [
        (first["id"], True), (empty["id"], False), (999, False), (last["id"], True),
    ]  # fmt: skip
    codes = [result["error"] and result["error"]["code"] for result in body["results"]]
    assert codes == [None, "INVALID_STATE", "NOT_FOUND", None]
    assert [mail.entity_id for mail in mails(session)] == [first["id"], last["id"]]
    single = admin.post("/api/invoices/send", {"invoiceId": first["id"], **TO}).json
    assert single["sent"] == 1
    assert admin.post("/api/invoices/send", TO).status_code == 400


def test_who_may_send(admin: Api, sign_in: Callable[..., Api]) -> None:
    key = draft(admin)["id"]
    for role in ("Sales", "Support", "Viewer"):
        user = sign_in(role)
        assert send(user, key).status_code == 403, role
        assert user.post("/api/invoices/send", {"invoiceIds": [key], **TO}).status_code == 403
    for role in ("Manager", "Accountant"):
        assert send(sign_in(role), key).status_code == 200, role


def test_a_repeated_key_sends_once(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    headers = {"Idempotency-Key": "send-1"}
    first, again = send(admin, key, headers=headers), send(admin, key, headers=headers)
    assert first.json == again.json
    assert len(mails(session)) == 1
