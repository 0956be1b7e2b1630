"""A worker that is killed at any point of the dialogue: one mail at most, and never silence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from app.clock import utc_now
from app.mail.address import MailServer
from app.mail.delivery import UNKNOWN
from tests.mail.conftest import Post
from tests.mail.servers import Mailbox, mail_server
from tests.waiting import until

pytestmark = pytest.mark.costly(0)

# Says where it stands, and stays there until it is killed.
WORKER = """
import sys, time
from app.config import Config
from app.factory import create_app
from app.mail import delivery
from pathlib import Path

url, folder, port, place = sys.argv[1:]

def stay(*args):
    print("here", flush=True)
    time.sleep(60)

if place != "nowhere":
    assert hasattr(delivery, place), place
    setattr(delivery, place, stay)
app = create_app(Config(
    SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=Path(folder),
    SQLALCHEMY_DATABASE_URI=url, STORAGE_URL="memory://",
    MAIL_URL=f"smtp://127.0.0.1:{port}",
))
with app.app_context():
    delivery.deliver_due()
print("done", flush=True)
"""


@contextmanager
def worker(post: Post, folder: Path, port: int, place: str) -> Iterator[subprocess.Popen[str]]:
    url = post.app.config["SQLALCHEMY_DATABASE_URI"]
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, url, str(folder), str(port), place],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == word


def after_the_lease(post: Post, key: int, port: int) -> None:
    """The lease runs out, and another worker has its turn, twice."""
    post.set(key, leased_until=utc_now() - timedelta(seconds=1))
    post.make_due(key)
    for _ in range(2):
        post.deliver(MailServer("127.0.0.1", port))


@pytest.fixture
def mailbox() -> Mailbox:
    """What the server took."""
    return Mailbox()


def test_killed_before_the_point_of_no_return_it_is_sent_by_the_next(
    post: Post, mailbox: Mailbox, tmp_path: Path
) -> None:
    key = post.queue()
    with mail_server(mailbox) as port:
        with worker(post, tmp_path, port, "mark_sending") as process:
            wait_for(process, "here")
            process.send_signal(signal.SIGKILL)
        assert post.row(key)["status"] == "queued"
        assert post.deliver(MailServer("127.0.0.1", port)) == 0  # leased
        after_the_lease(post, key, port)
    assert post.row(key)["status"] == "sent"
    assert len(mailbox.envelopes) == 1


def test_killed_between_the_answer_and_the_commit_it_is_not_sent_again(
    post: Post, mailbox: Mailbox, tmp_path: Path
) -> None:
    key = post.queue()
    with mail_server(mailbox) as port:
        with worker(post, tmp_path, port, "note_sent") as process:
            wait_for(process, "here")  # the server's 250 has arrived
            process.send_signal(signal.SIGKILL)
        assert post.row(key)["status"] == "sending"
        after_the_lease(post, key, port)
    row = post.row(key)
    assert (row["status"], row["error"]) == ("failed", UNKNOWN)
    assert len(mailbox.envelopes) == 1


def test_killed_while_the_server_takes_it_it_is_not_sent_again(
    post: Post, mailbox: Mailbox, tmp_path: Path
) -> None:
    key = post.queue()
    with mail_server(mailbox) as port:
        with worker(post, tmp_path, port, "nowhere") as process:
            mailbox.on_taken = process.kill
            until(lambda: mailbox.envelopes, 30)
            process.wait(10)
        mailbox.on_taken = None
        after_the_lease(post, key, port)
    assert post.row(key)["status"] == "failed"
    assert len(mailbox.envelopes) == 1


@pytest.mark.requirement("RACE-15")
def test_two_workers_at_once_send_each_mail_once(
    post: Post, mailbox: Mailbox, tmp_path: Path
) -> None:
    for number in range(8):
        post.queue(subject=f"Mail {number}")
    with mail_server(mailbox) as port:
        first = worker(post, tmp_path, port, "nowhere")
        second = worker(post, tmp_path, port, "nowhere")
        with first as one, second as other:
            wait_for(one, "done")
            wait_for(other, "done")
        post.deliver(MailServer("127.0.0.1", port))
    subjects = sorted(str(message["Subject"]) for message in mailbox.messages)
    assert subjects == [f"Mail {number}" for number in range(8)]
