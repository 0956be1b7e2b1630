"""Delivery of mail to real servers: taken, refused, put off, left hanging."""

from __future__ import annotations

import socket
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from app.blobs import blobs
from app.clock import utc_now
from app.mail import delivery
from app.mail.delivery import RETRY_SECONDS, UNKNOWN, pause_after
from bench.peers.processes import free_port
from tests.mail.conftest import Post
from tests.mail.servers import Mailbox, converse, mail_server, scripted_server, server_at


def seconds_until_due(post: Post, key: int) -> float:
    waits: timedelta = post.row(key)["next_attempt_at"] - utc_now()
    return waits.total_seconds()


def test_a_mail_is_taken_once(post: Post) -> None:
    mailbox = Mailbox()
    with post.app.app_context():
        blobs.current.put("mail/1", b"%PDF-1.7 file")
    key = post.queue(
        to=["a@acme.example", "b@acme.example"], cc=["c@acme.example"],
        subject="Größe · Счёт 漢字", text=".dot\nÄ line\n" + "long " * 400, html="<p>Ä</p>",
        attachments=[
            {"name": "INV-1.pdf", "contentType": "application/pdf", "blobKey": "mail/1"}
        ],
    )  # fmt: skip
    with mail_server(mailbox) as port:
        assert post.deliver(server_at(port)) == 1
        assert post.deliver(server_at(port)) == 0
    row = post.row(key)
    assert (row["status"], row["attempts"], row["error"]) == ("sent", 1, None)
    assert row["sent_at"] is not None and row["leased_until"] is None
    (envelope,), (message,) = mailbox.envelopes, mailbox.messages
    assert envelope.mail_from == "billing@acme.example"
    assert envelope.rcpt_tos == ["a@acme.example", "b@acme.example", "c@acme.example"]
    assert message["Message-ID"] == row["message_id"]
    assert message["Subject"] == "Größe · Счёт 漢字"
    assert (str(message["From"]), str(message["Cc"])) == (
        "Acme <billing@acme.example>", "c@acme.example",
    )  # fmt: skip
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert text.get_content().splitlines()[:2] == [".dot", "Ä line"]
    assert html is not None and html.get_content().strip() == "<p>Ä</p>"
    (attached,) = message.iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("INV-1.pdf", b"%PDF-1.7 file")
    assert max(map(len, envelope.original_content.split(b"\r\n"))) < 998


@pytest.mark.parametrize(
    "subject",
    [
        "Zahlungserinnerung: Rechnung INV-2026-02578 war am 20.11.2026 fällig, und noch etwas mehr",
        "Plain " * 40 + "end",
        "Напоминание: срок оплаты счёта INV-2026-00001 истёк 20 нояб. 2026. " * 4,
        "漢字" * 100,
    ],
)
def test_a_long_subject_is_read_as_it_was_written(post: Post, subject: str) -> None:
    mailbox = Mailbox()
    post.queue(subject=subject.strip())
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    (message,) = mailbox.messages
    assert str(message["Subject"]) == subject.strip()
    (envelope,) = mailbox.envelopes
    assert max(map(len, envelope.original_content.split(b"\r\n"))) <= 100


def test_a_blind_copy_and_answers_go_where_the_settings_say(post: Post) -> None:
    from_settings = {
        "senderAddress": "billing@acme.example", "replyTo": "office@acme.example",
        "copyTo": "archive@acme.example",
    }  # fmt: skip
    post.save_settings(from_settings)
    mailbox = Mailbox()
    post.queue()
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    (envelope,), (message,) = mailbox.envelopes, mailbox.messages
    assert envelope.rcpt_tos == ["a@acme.example", "archive@acme.example"]
    assert str(message["Reply-To"]) == "office@acme.example"
    assert b"archive@" not in envelope.original_content


def test_several_mails_go_over_one_connection(post: Post) -> None:
    mailbox = Mailbox()
    for _ in range(7):
        post.queue()
    with mail_server(mailbox) as port:
        assert [post.deliver(server_at(port)) for _ in range(3)] == [5, 2, 0]
    assert len(mailbox.envelopes) == 7
    assert len({str(message["Message-ID"]) for message in mailbox.messages}) == 7


@pytest.mark.parametrize("answer", ["451 busy", "421 going", "450 later"])
def test_a_busy_server_is_asked_again(post: Post, answer: str) -> None:
    mailbox = Mailbox(answers=[answer])
    key = post.queue()
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
        row = post.row(key)
        assert (row["status"], row["attempts"]) == ("queued", 1)
        assert answer[:3] in row["error"]
        assert 3 <= seconds_until_due(post, key) <= 6
        assert post.deliver(server_at(port)) == 0
        post.make_due(key)
        post.deliver(server_at(port))
    row = post.row(key)
    assert (row["status"], row["attempts"], row["error"]) == ("sent", 2, None)
    assert [str(message["Message-ID"]) for message in mailbox.messages] == [row["message_id"]]


def test_a_refusal_is_final_and_told(post: Post) -> None:
    mailbox = Mailbox(answers=["554 spam"], senders={"bad@acme.example": "550 who?"})
    key, other = post.queue(), post.queue()
    with mail_server(mailbox) as port:
        assert post.deliver(server_at(port)) == 2
    assert (post.row(key)["status"], post.row(other)["status"]) == ("failed", "sent")
    assert "554 spam" in post.row(key)["error"]
    post.save_settings({"senderAddress": "bad@acme.example"})
    third = post.queue()
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    assert "the sender is refused: 550 who?" in post.row(third)["error"]


def test_refused_recipients_keep_it_from_no_other(post: Post) -> None:
    mailbox = Mailbox(refused={"gone@acme.example": "550 no such user"})
    key = post.queue(to=["gone@acme.example", "a@acme.example"])
    alone = post.queue(to=["gone@acme.example"])
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    assert [envelope.rcpt_tos for envelope in mailbox.envelopes] == [["a@acme.example"]]
    assert post.row(key)["status"] == "sent"
    assert "gone@acme.example: 550 no such user" in post.row(key)["error"]
    assert post.row(alone)["status"] == "failed"


@pytest.mark.requirement("OUT-10", "OUT-11")
def test_a_server_that_is_away_delays_and_loses_nothing(post: Post) -> None:
    port = free_port()
    keys = [post.queue() for _ in range(3)]
    assert post.deliver(server_at(port)) == 3
    assert {post.row(key)["status"] for key in keys} == {"queued"}
    mailbox = Mailbox()
    for key in keys:
        post.make_due(key)
    with mail_server(mailbox, port):
        post.deliver(server_at(port))
    assert len(mailbox.envelopes) == 3


def test_a_mail_that_nobody_takes_for_days_has_failed(post: Post) -> None:
    key = post.queue()
    post.set(key, created_at=utc_now() - timedelta(days=3, minutes=1))
    post.deliver(server_at(free_port()))
    assert post.row(key)["status"] == "failed"
    assert "given up after 3 days" in post.row(key)["error"]


def test_pauses_grow_and_differ() -> None:
    for attempts, seconds in enumerate(RETRY_SECONDS, start=1):
        found = {pause_after(attempts) for _ in range(50)}
        assert len(found) > 5
        assert all(0.8 * seconds <= pause <= 1.2 * seconds for pause in found)
    assert pause_after(1000) <= 1.2 * RETRY_SECONDS[-1]


def test_a_server_that_says_nothing_is_left(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.mail.smtp.ANSWER_SECONDS", 0.3)
    key = post.queue()
    with scripted_server(lambda connection: time.sleep(0.6)) as port:
        post.deliver(server_at(port))
    row = post.row(key)
    assert (row["status"], row["attempts"]) == ("queued", 1)


def test_a_server_that_dies_before_the_end_has_taken_nothing(post: Post) -> None:
    def hang_up_in_data(connection: socket.socket) -> None:
        converse(connection, until=b"DATA\r\n")
        connection.sendall(b"354 go on\r\n")

    key = post.queue(text="x" * 5_000_000)
    with scripted_server(hang_up_in_data) as port:
        post.deliver(server_at(port))
    assert post.row(key)["status"] == "queued"


def test_a_server_that_hangs_up_instead_of_answering_is_asked_again(post: Post) -> None:
    key = post.queue()
    with scripted_server(lambda connection: converse(connection, until=b"\r\n.\r\n")) as port:
        post.deliver(server_at(port))
    row = post.row(key)
    assert (row["status"], row["attempts"]) == ("queued", 1)


def test_a_server_that_has_it_and_hangs_leaves_it_unknown(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.mail.smtp.END_SECONDS", 0.3)

    def hang(connection: socket.socket) -> None:
        converse(connection, until=b"\r\n.\r\n")
        time.sleep(0.6)

    key = post.queue()
    with scripted_server(hang) as port:
        post.deliver(server_at(port))
    row = post.row(key)
    assert row["status"] == "failed"
    assert row["error"].startswith("outcome unknown")


@pytest.mark.requirement("OUT-12", "OUT-08")
def test_an_answer_is_written_down_when_the_database_is_back(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, failures = delivery.finish, [1, 2]

    def flaky(table: Any, row: Any, values: Any) -> bool:
        if values.get("status") == "sent" and failures:
            raise OperationalError("UPDATE", {}, Exception(f"away {failures.pop()}"))
        return written(table, row, values)

    monkeypatch.setattr(delivery, "finish", flaky)
    monkeypatch.setattr(delivery, "COMMIT_REST_SECONDS", 0.01)
    mailbox = Mailbox()
    key = post.queue()
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    assert (post.row(key)["status"], len(mailbox.envelopes), failures) == ("sent", 1, [])


def test_nothing_is_ended_without_the_lease(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was stopped for long finds its row with another: it sends nothing."""
    mailbox = Mailbox()
    key = post.queue()
    monkeypatch.setattr(
        "app.mail.smtp.stuffed",
        lambda content: post.set(key, leased_until=utc_now() + timedelta(hours=1)) or content,
    )
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    assert mailbox.envelopes == []
    assert post.row(key)["status"] == "queued"


def test_a_row_whose_worker_died_in_the_end_is_not_sent_again(post: Post) -> None:
    mailbox = Mailbox()
    key = post.queue()
    post.set(key, status="sending", leased_until=utc_now() + timedelta(seconds=30))
    with mail_server(mailbox) as port:
        assert post.deliver(server_at(port)) == 0
        post.set(key, leased_until=utc_now() - timedelta(seconds=1))
        assert post.deliver(server_at(port)) == 1
    assert mailbox.envelopes == []
    row = post.row(key)
    assert (row["status"], row["error"]) == ("failed", UNKNOWN)


def test_a_leased_row_is_left_until_its_lease_ends(post: Post) -> None:
    mailbox = Mailbox()
    key = post.queue()
    post.set(key, leased_until=utc_now() + timedelta(seconds=30))
    with mail_server(mailbox) as port:
        assert post.deliver(server_at(port)) == 0
        post.set(key, leased_until=utc_now() - timedelta(seconds=1))
        assert post.deliver(server_at(port)) == 1
    assert len(mailbox.envelopes) == 1


def test_addresses_in_other_letters(post: Post) -> None:
    mailbox = Mailbox()
    domain = post.queue(to=["a@bücher.example"])
    local = post.queue(to=["jürgen@acme.example"])
    with mail_server(mailbox, enable_SMTPUTF8=False) as port:
        post.deliver(server_at(port))
    assert post.row(domain)["status"] == "sent", post.row(domain)["error"]
    assert mailbox.envelopes[0].rcpt_tos == ["a@xn--bcher-kva.example"]
    assert post.row(local)["status"] == "failed"
    again = post.queue(to=["jürgen@acme.example"])
    with mail_server(mailbox, enable_SMTPUTF8=True) as port:
        post.deliver(server_at(port))
    assert post.row(again)["status"] == "sent", post.row(again)["error"]


@pytest.mark.requirement("SEC-74")
@pytest.mark.parametrize("subject", ["Hello\r\nBcc: x@evil.example", "a\nb", "a\rb"])
def test_a_header_of_two_lines_is_never_sent(post: Post, subject: str) -> None:
    mailbox = Mailbox()
    key = post.queue(subject=subject)
    with mail_server(mailbox) as port:
        post.deliver(server_at(port))
    assert mailbox.envelopes == []
    assert post.row(key)["status"] == "failed"


def test_a_missing_file_delays(post: Post) -> None:
    lost = [{"name": "a.pdf", "contentType": "application/pdf", "blobKey": "mail/lost"}]
    key = post.queue(attachments=lost)
    with mail_server(Mailbox()) as port:
        post.deliver(server_at(port))
    assert post.row(key)["status"] == "queued"


def test_without_a_server_mail_becomes_files(post: Post, tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    key = post.queue(subject="Größe")
    assert post.deliver(folder) == 1
    row = post.row(key)
    assert row["status"] == "sent"
    (path,) = folder.iterdir()
    assert path.name == f"{key:08d}.eml"
    assert row["message_id"].encode() in path.read_bytes()


def test_a_folder_that_cannot_be_written_delays_and_a_bad_mail_fails(
    post: Post, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    good, bad = post.queue(), post.queue(subject="a\nb")
    assert post.deliver(tmp_path / "file") == 2
    assert [post.row(key)["status"] for key in (good, bad)] == ["queued", "failed"]
    assert post.row(good)["attempts"] == 1 and post.row(good)["error"]
    post.make_due(good)
    assert post.deliver(tmp_path / "mail") == 1
    assert post.row(good)["status"] == "sent"


def test_what_there_is_no_time_for_is_given_back(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = Mailbox()
    keys = [post.queue() for _ in range(2)]
    with mail_server(mailbox) as port:
        with monkeypatch.context() as slow:
            slow.setattr(delivery, "NEEDED", timedelta(days=1))
            post.deliver(server_at(port))
        rows = [post.row(key) for key in keys]
        assert [(row["status"], row["attempts"], row["leased_until"]) for row in rows] == [
            ("queued", 0, None)
        ] * 2
        assert mailbox.envelopes == []
        assert post.deliver(server_at(port)) == 2
    assert len(mailbox.envelopes) == 2
