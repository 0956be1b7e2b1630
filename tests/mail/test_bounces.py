"""Mail that comes back: what a report says of which mail, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.mail.bounces import read_report
from app.models.event import AuditRecord, Event
from tests.contract.conftest import Api, admin, sign_in
from tests.contract.test_rest_mail import deliver, make
from tests.contract.test_rest_money import refusal
from tests.mail.reports import answer_of_exchange, report
from tests.mail.servers import Mailbox, mail_server

__all__ = ["admin", "sign_in"]
PATH = "/api/mail/bounces"


def send(admin: Api, app: Flask, **letter: Any) -> tuple[int, EmailMessage]:
    """An invoice whose mail a server took; its key and the message."""
    key = make(admin)["id"]
    assert admin.post(f"/api/invoices/{key}/send", letter).status_code == 200
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        deliver(app, port)
    return key, mailbox.messages[-1]


def take(api: Api, content: bytes, media_type: str = "message/rfc822", **more: str) -> Any:
    headers = {**api.headers, "Content-Type": media_type, **more}
    return api.client.post(PATH, data=content, headers=headers)


def delivery(admin: Api, key: int) -> Any:
    (found,) = admin.get(f"/api/invoices/{key}/deliveries").json["items"]
    return found


def failures(session: Session) -> int:
    session.rollback()
    named = select(func.count()).select_from(Event).where(Event.type == "invoice.send_failed")
    return int(session.execute(named).scalar_one())


def test_the_same_key_takes_a_message_once(admin: Api, app: Flask) -> None:
    _, message = send(admin, app)
    bounced = report(message["Message-ID"], "A@acme.example")
    key = {"Idempotency-Key": "bounce-1"}
    first, again = take(admin, bounced, **key), take(admin, bounced, **key)
    assert (first.status_code, again.status_code) == (200, 200), again.text
    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")
    other = take(admin, bounced + b"\n", **key)
    assert other.json["error"]["code"] == "IDEMPOTENCY_CONFLICT"


def test_a_bounce_fails_the_mail_and_is_told_once(admin: Api, app: Flask, session: Session) -> None:
    key, message = send(admin, app)
    bounced = report(message["Message-ID"], "A@acme.example")
    for _ in range(2):
        answer = take(admin, bounced)
        assert answer.status_code == 200, answer.text
        shown = delivery(admin, key)
        assert answer.json == {
            "matched": True, "reason": None, "deliveryId": shown["id"], "entity": "Invoice",
            "entityId": key, "status": "failed", "recipients": ["a@acme.example"],
        }  # fmt: skip
        assert failures(session) == 1
    assert shown["status"] == "failed"
    assert shown["error"] == "bounced: a@acme.example: 5.1.1 550 5.1.1 no such mailbox"
    (bounce,) = shown["bounces"]
    assert (bounce["recipient"], bounce["status"]) == ("a@acme.example", "5.1.1")
    audited = select(AuditRecord.entity_id).where(AuditRecord.action == "mail.bounced")
    assert session.execute(audited).scalars().all() == [key]


def test_a_mail_that_came_back_is_sent_again_on_request(admin: Api, app: Flask) -> None:
    key, message = send(admin, app)
    take(admin, report(message["Message-ID"], "a@acme.example"))
    path = f"/api/invoices/{key}/deliveries/{delivery(admin, key)['id']}/resend"
    assert admin.post(path).status_code == 200
    shown = delivery(admin, key)
    assert (shown["status"], shown["error"], shown["bounces"]) == ("queued", None, [])


def test_one_of_two_recipients_leaves_the_mail_sent(
    admin: Api, app: Flask, session: Session
) -> None:
    key, message = send(admin, app, cc=["b@acme.example"])
    answer = take(admin, report(message["Message-ID"], "b@acme.example"))
    assert answer.json["status"] == "sent"
    assert "b@acme.example" in delivery(admin, key)["error"]
    assert failures(session) == 1
    assert take(admin, report(message["Message-ID"], "a@acme.example")).json["status"] == "failed"
    assert failures(session) == 2


def test_whom_a_forwarded_mail_was_for(admin: Api, app: Flask) -> None:
    _key, message = send(admin, app, cc=["b@acme.example"])
    forwarded = report(
        message["Message-ID"], "x@elsewhere.example",
        original={"x@elsewhere.example": "b@acme.example"},
    )  # fmt: skip
    assert take(admin, forwarded).json["recipients"] == ["b@acme.example"]
    unknown = take(admin, report(message["Message-ID"], "y@elsewhere.example"))
    assert unknown.json["recipients"] == ["b@acme.example"]
    _, message = send(admin, app)
    alone = take(admin, report(message["Message-ID"], "y@elsewhere.example"))
    assert (alone.json["recipients"], alone.json["status"]) == (["a@acme.example"], "failed")


def test_the_blind_copy_of_the_house_is_no_recipient(admin: Api, app: Flask) -> None:
    admin.patch("/api/admin/settings/mail", {"copyTo": "archive@my.example"})
    key, message = send(admin, app)
    answer = take(admin, report(message["Message-ID"], "archive@my.example"))
    assert (answer.json["matched"], delivery(admin, key)["status"]) == (False, "sent")


def test_a_report_that_answers_to_the_mail_names_it(admin: Api, app: Flask) -> None:
    _, message = send(admin, app)
    answer = take(admin, answer_of_exchange(message["Message-ID"], "a@acme.example"))
    assert answer.json["matched"] is True


@pytest.mark.parametrize("action", ["delayed", "delivered", "relayed", "expanded"])
def test_what_is_no_failure_changes_nothing(
    admin: Api, app: Flask, session: Session, action: str
) -> None:
    key, message = send(admin, app)
    answer = take(admin, report(message["Message-ID"], "a@acme.example", action=action))
    assert (answer.status_code, answer.json["matched"]) == (200, False)
    assert (delivery(admin, key)["status"], failures(session)) == ("sent", 0)


@pytest.mark.parametrize(
    "content",
    [
        report("<nobody@elsewhere.example>", "a@acme.example"),
        b"Subject: I am away\r\nIn-Reply-To: <x@y.example>\r\n\r\nBack on Monday.\r\n",
        b"Content-Type: multipart/report; boundary=x\r\n\r\n--x\r\n\r\n--x--\r\n",
    ],
)
def test_whatever_else_comes_in_is_harmless(admin: Api, content: bytes) -> None:
    answer = take(admin, content)
    assert (answer.status_code, answer.json["matched"]) == (200, False)
    assert answer.json["reason"]


@pytest.mark.parametrize("content", [b"", b"\r\n\r\n", b"no headers at all"])
def test_what_is_no_message_is_refused(admin: Api, content: bytes) -> None:
    assert refusal(take(admin, content)) == (400, "VALIDATION_ERROR")


def test_only_messages_are_taken(admin: Api) -> None:
    assert take(admin, b"{}", "application/json").status_code == 415
    assert take(admin, b"x", "text/plain").status_code == 415


def test_a_returned_mail_of_some_megabytes_does_not_matter(admin: Api, app: Flask) -> None:
    key, message = send(admin, app)
    whole = report(message["Message-ID"], "a@acme.example")
    assert take(admin, whole + b"\r\n" + b"A" * 3_000_000).json["matched"] is True
    assert delivery(admin, key)["status"] == "failed"


def test_hostile_reports_are_read_or_refused(admin: Api) -> None:
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth)
        for depth in range(3000)
    )
    for content in (nested, b"A: " + b"x" * 900_000, b"\xff\xfe\x00" * 1000, b"From: \x00\r\n\r\n"):
        assert take(admin, content).status_code in (200, 400)
    spoken = report("<a@b.example>", "a@b.example", reason="smtp; 550 <b>\x07\u202e no" * 200)
    found = read_report(spoken)
    assert found is not None
    (failed,) = found.failed
    assert failed.reason is not None
    assert len(failed.reason) <= 500
    assert failed.reason.isprintable()


def test_who_may_report(sign_in: Callable[..., Api]) -> None:
    content = report("<a@b.example>", "a@b.example")
    for role, status in (("Manager", 200), ("Accountant", 200), ("Sales", 403), ("Viewer", 403)):
        assert take(sign_in(role), content).status_code == status, role


def test_a_mail_server_hands_it_to_the_command(admin: Api, app: Flask) -> None:
    key, message = send(admin, app)
    run = app.test_cli_runner().invoke
    result = run(args=["mail", "bounce"], input=report(message["Message-ID"], "a@acme.example"))
    assert (result.exit_code, "did not reach a@acme.example" in result.output) == (0, True)
    assert delivery(admin, key)["status"] == "failed"
    result = run(args=["mail", "bounce"], input=b"Subject: hello\r\n\r\nhello\r\n")
    assert (result.exit_code, result.output.strip()) == (0, "The message is no delivery report.")
    assert run(args=["mail", "bounce"], input=b"").exit_code == 1


def test_a_recipient_whom_the_server_refuses_is_told(
    admin: Api, app: Flask, session: Session
) -> None:
    key = make(admin)["id"]
    admin.post(f"/api/invoices/{key}/send", {"cc": ["b@acme.example"]})
    with mail_server(Mailbox(refused={"b@acme.example": "550 unknown"})) as port:
        deliver(app, port)
    assert delivery(admin, key)["status"] == "sent"
    assert "b@acme.example: 550 unknown" in delivery(admin, key)["error"]
    assert failures(session) == 1
