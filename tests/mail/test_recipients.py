"""Each recipient has an outcome of his own: nobody waits for another, nobody gets a mail twice."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import combinations_with_replacement
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.mail import delivery
from app.mail.recipients import shown_recipients
from app.models.event import AuditRecord, Event, OutgoingMail
from bench.peers.processes import free_port
from tests.contract.conftest import Api, admin, sign_in
from tests.contract.test_rest_mail import make
from tests.mail.conftest import Post
from tests.mail.servers import Mailbox, mail_server, server_at

__all__ = ["admin", "sign_in"]
# Kind of recipient -> how his address begins, what a server without SMTPUTF8 makes of him.
KINDS = {
    "taken": ("a", "sent"),
    "of a domain in other letters": ("b", "sent"),
    "refused": ("gone", "failed"),
    "busy at first": ("busy", "sent"),
    "in other letters": ("jürgen", "failed"),
    "unreachable": ("lost", "failed"),
}
DOMAINS = {"b": "bücher.example", "lost": "☕.example"}


def address(kind: str, number: int) -> str:
    name = KINDS[kind][0]
    return f"{name}{number}@{DOMAINS.get(name, 'acme.example')}"


class Choosy(Mailbox):
    """A server that goes by the name of a recipient; who is busy is taken at the second try."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: E501  # fmt: skip
        self.asked[address] += 1
        if address.startswith("gone"):
            return "550 no such user"
        if address.startswith("busy") and self.asked[address] == 1:
            return "451 later"
        return await super().handle_RCPT(server, session, envelope, address, options)


def deliver_all(post: Post, keys: list[int], port: int) -> None:
    """Turns of the loop until every mail has its end."""
    for _ in range(4):
        for key in keys:
            if post.row(key)["status"] == "queued":
                post.make_due(key)
        while post.deliver(server_at(port)):
            pass


def statuses(post: Post, key: int) -> dict[str, str]:
    mail = OutgoingMail(**post.row(key))
    return {one["address"]: one["status"] for one in shown_recipients(mail)}


@pytest.mark.parametrize("knows_utf8", [False, True], ids=["plain", "SMTPUTF8"])
def test_every_kind_of_recipient_beside_every_other(post: Post, knows_utf8: bool) -> None:
    mails: dict[int, list[tuple[str, str]]] = {}
    for number, pair in enumerate(combinations_with_replacement(KINDS, 2)):
        to = [(kind, address(kind, 2 * number + place)) for place, kind in enumerate(pair)]
        mails[post.queue(to=[to[0][1]], cc=[to[1][1]])] = to
    mailbox = Choosy()
    with mail_server(mailbox, enable_SMTPUTF8=knows_utf8) as port:
        deliver_all(post, list(mails), port)
    got = Counter(to for envelope in mailbox.envelopes for to in envelope.rcpt_tos)
    assert set(got.values()) == {1}
    for key, to in mails.items():
        expected = {
            each: "sent" if knows_utf8 and kind == "in other letters" else KINDS[kind][1]
            for kind, each in to
        }
        assert statuses(post, key) == expected, to
        row = post.row(key)
        assert row["status"] == ("sent" if "sent" in expected.values() else "failed"), to
        assert (row["error"] is None) is ("failed" not in expected.values()), row["error"]
        assert (row["sent_at"] is not None) is (row["status"] == "sent")
    # Only who was busy is asked again, and whoever is in the same message gets it by itself.
    assert {to for to, times in mailbox.asked.items() if times > 1} == {
        each for to in mails.values() for kind, each in to if kind == "busy at first"
    }


def test_a_mail_in_two_forms_is_one_mail(post: Post) -> None:
    """Servers behind the next may not know RFC 6531: who does not need it gets a plain message."""
    key = post.queue(to=["a@acme.example", "jürgen@acme.example"])
    mailbox = Mailbox()
    with mail_server(mailbox, enable_SMTPUTF8=True) as port:
        while post.deliver(server_at(port)):
            pass
    plain, other = mailbox.envelopes
    assert (plain.rcpt_tos, other.rcpt_tos) == (["a@acme.example"], ["jürgen@acme.example"])
    assert plain.original_content.isascii() and "SMTPUTF8" not in plain.mail_options
    assert "jürgen@acme.example".encode() in other.original_content
    messages = mailbox.messages
    assert messages[0]["Message-ID"] == messages[1]["Message-ID"]
    named = [group.display_name for group in messages[0]["To"].groups if not group.addresses]
    assert named == ["jürgen@acme.example"]
    assert post.row(key)["attempts"] == 1


def test_nobody_is_reached_by_the_blind_copy(post: Post) -> None:
    post.save_settings({"senderAddress": "b@acme.example", "copyTo": "archive@acme.example"})
    key = post.queue(to=["gone@acme.example"])
    mailbox = Choosy()
    with mail_server(mailbox) as port:
        deliver_all(post, [key], port)
    assert [envelope.rcpt_tos for envelope in mailbox.envelopes] == [["archive@acme.example"]]
    assert post.row(key)["status"] == "failed"
    assert statuses(post, key) == {"gone@acme.example": "failed"}


def test_a_server_that_is_away_counts_for_blind_copies_too(post: Post) -> None:
    post.save_settings({"senderAddress": "b@acme.example", "copyTo": "archive@acme.example"})
    key = post.queue()
    assert post.deliver(server_at(free_port())) == 1
    row = post.row(key)
    assert row["attempts"] == 1 and row["next_attempt_at"] > utc_now()


def test_who_is_busy_for_days_is_given_up_alone(post: Post) -> None:
    key = post.queue(to=["a@acme.example", "busy@acme.example"])
    mailbox = Choosy()
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
        mailbox.asked.clear()
        post.make_due(key)
        post.set(key, created_at=utc_now() - delivery.GIVE_UP_AFTER - timedelta(minutes=1))
        post.deliver(server_at(port))
    assert statuses(post, key) == {"a@acme.example": "sent", "busy@acme.example": "failed"}
    assert post.row(key)["status"] == "sent"
    assert "given up after 3 days" in post.row(key)["error"]


def test_a_worker_that_died_leaves_unknown_only_whom_the_message_was_for(post: Post) -> None:
    key = post.queue(to=["a@acme.example", "jürgen@acme.example"])
    sending = {"a@acme.example": {"status": "sending", "error": None, "at": "2026-01-01T00:00:00Z"}}
    past = utc_now() - timedelta(seconds=1)
    post.set(key, status="sending", leased_until=past, outcomes=sending)
    mailbox = Mailbox()
    with mail_server(mailbox, enable_SMTPUTF8=True) as port:
        while post.deliver(server_at(port)):
            pass
    assert [envelope.rcpt_tos for envelope in mailbox.envelopes] == [["jürgen@acme.example"]]
    assert statuses(post, key) == {"a@acme.example": "failed", "jürgen@acme.example": "sent"}


def test_it_is_told_for_each_and_sent_again_to_whom_it_did_not_reach(
    admin: Api, app: Flask, session: Session
) -> None:
    key = make(admin)["id"]
    letter = {"to": ["a@acme.example", "gone@acme.example"], "cc": ["c@acme.example"]}
    sent = admin.post(f"/api/invoices/{key}/send", letter).json["delivery"]
    assert {one["status"] for one in sent["recipients"]} == {"queued"}
    mailbox, post_office = Mailbox(refused={"gone@acme.example": "550 no"}), app.extensions
    before = post_office["mail"]
    with mail_server(mailbox) as port, app.app_context():
        post_office["mail"] = server_at(port)
        delivery.deliver_due()
        (shown,) = admin.get(f"/api/invoices/{key}/deliveries").json["items"]
        facts = [(one["address"], one["kind"], one["status"]) for one in shown["recipients"]]
        assert facts == [
            ("a@acme.example", "to", "sent"), ("gone@acme.example", "to", "failed"),
            ("c@acme.example", "cc", "sent"),
        ]  # fmt: skip
        # What is asked for twice is the same mail, over OData too, with what is known of it.
        again = admin.post(f"/odata/Invoices({key})/BusinessPlatform.Send", letter)
        assert again.status_code == 200, again.text
        assert again.json["delivery"]["recipients"] == shown["recipients"]
        mailbox.refused.clear()
        path = f"/api/invoices/{key}/deliveries/{shown['id']}/resend"
        assert admin.post(path).json["status"] == "queued"
        delivery.deliver_due()
        assert admin.post(path).status_code == 409
    post_office["mail"] = before
    assert [envelope.rcpt_tos for envelope in mailbox.envelopes] == [
        ["a@acme.example", "c@acme.example"], ["gone@acme.example"],
    ]  # fmt: skip
    session.rollback()
    (failed,) = (
        session.connection().execute(select(Event).where(Event.type == "invoice.send_failed")).all()
    )
    assert failed.payload["delivery"]["id"] == shown["id"]
    assert failed.payload["delivery"]["recipients"] == shown["recipients"]
    audited = select(AuditRecord).where(AuditRecord.action.in_(("mail.failed", "mail.sent")))
    told = session.connection().execute(audited.order_by(AuditRecord.id)).all()
    assert [record.action for record in told] == ["mail.failed", "mail.sent"]
    assert [one["address"] for one in told[1].after["recipients"]] == ["gone@acme.example"]
