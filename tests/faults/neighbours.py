"""Faults of what stands beside the database: Redis, the mail server, the store of files."""

from __future__ import annotations

import secrets
import socket
import time
from collections import Counter

import redis

from tests.faults.bed import Bed
from tests.faults.results import Report, percentile
from tests.faults.scene import under_load
from tests.faults.traffic import (
    Ledger,
    caller_at,
    move_files,
    read_clients,
    traffic,
    write_clients,
)
from tests.mail.servers import Mailbox, mail_server

AWAY_SECONDS = 8.0
# Redis is asked no longer than this before everybody goes on without it.
UNNOTICED_SECONDS = 2.0
# Flask-Limiter looks for it after 1, 2, 4 .. 32 seconds.
COUNTED_SECONDS = 34.0
FILE_SECONDS = 10.0
ASSISTANT_SECONDS = 15.0
MAILS = 5
MAIL_SECONDS = 40.0


def redis_restarted(bed: Bed, report: Report) -> None:
    """Redis is killed under load and started at once, empty."""
    assert bed.redis is not None
    with under_load(bed, report, after=6) as scene:
        bed.redis.stop()
        bed.redis.start()
    scene.check_unnoticed(UNNOTICED_SECONDS)


def redis_away(bed: Bed, report: Report) -> None:
    """Redis is away for 8 seconds."""
    assert bed.redis is not None
    with under_load(bed, report, after=6) as scene:
        bed.redis.stop()
        time.sleep(AWAY_SECONDS)
        state = bed.ask("/readyz")
        bed.redis.start()
        seconds = _seconds_until_counted(bed)
    slow = percentile(scene.ledger, 0.95)
    report.check("95 % of the answers within a second", slow < 1, f"{slow * 1000:.0f} ms")
    told = state[1] and state[1]["checks"]["redis"]
    report.check("/readyz is 200 and says so", (state[0], told) == (200, "away"), told)
    counted = f"limits are counted in Redis again {COUNTED_SECONDS:.0f} s after"
    told = "never" if seconds is None else f"{seconds:.1f} s"
    report.check(counted, seconds is not None, told)
    scene.check_unnoticed(UNNOTICED_SECONDS)


def _seconds_until_counted(bed: Bed) -> float | None:
    """How long until Redis has the lists of the limits again; None, it had none in time."""
    assert bed.redis is not None
    begin = time.monotonic()
    with redis.Redis.from_url(bed.redis.url) as client:
        while (seconds := time.monotonic() - begin) < COUNTED_SECONDS:
            if client.keys("LIMITS*"):
                return seconds
            time.sleep(0.2)
    return None


def redis_frozen(bed: Bed, report: Report) -> None:
    """Redis takes connections and says nothing for 8 seconds."""
    assert bed.redis is not None
    with under_load(bed, report, after=6) as scene:
        bed.redis.freeze()
        time.sleep(AWAY_SECONDS)
        bed.redis.thaw()
    scene.check_unnoticed(UNNOTICED_SECONDS)


def mail_away(bed: Bed, report: Report) -> None:
    """The mail server is away while invoices are sent, then it is back."""
    sent = [_send_invoice(bed) for _ in range(MAILS)]
    accepted = Counter(status for status, _ in sent)
    report.check("sending is taken while the server is away", set(accepted) == {200}, accepted)
    time.sleep(8)
    mailbox = Mailbox()
    with mail_server(mailbox, bed.mail_port):
        began = time.monotonic()
        while len(mailbox.envelopes) < MAILS and time.monotonic() - began < MAIL_SECONDS:
            time.sleep(0.2)
        seconds = time.monotonic() - began
        time.sleep(3)  # for one that would come twice
    counts = Counter(address for one in mailbox.envelopes for address in one.rcpt_tos)
    wanted = {address for _, address in sent}
    report.check(
        "each mail arrives, and once", counts == dict.fromkeys(wanted, 1),
        f"{counts.total()} mails to {len(counts)} of {len(wanted)}, {seconds:.1f} s after",
    )  # fmt: skip


def _send_invoice(bed: Bed) -> tuple[int, str]:
    """Status of sending a new invoice, and to whom it goes."""
    address = f"{secrets.token_hex(6)}@example.com"
    _, client = bed.ask("/odata/Clients", "POST", {"name": "Mailed", "email": address})
    line = {"description": "Work", "unitPrice": 100, "taxRate": 19}
    _, invoice = bed.ask("/odata/Invoices", "POST", {"clientId": client["id"], "LineItems": [line]})
    status, _ = bed.ask(f"/api/invoices/{invoice['id']}/send", "POST", {})
    return status, address


def store_away(bed: Bed, report: Report) -> None:
    """The S3 store is away for 8 seconds; files wait, everything else goes on."""
    assert bed.s3 is not None
    with (
        traffic(bed.port, bed.key, move_files) as files,
        traffic(bed.port, bed.key, write_clients, read_clients) as others,
    ):
        time.sleep(3)
        bed.s3.freeze()
        time.sleep(AWAY_SECONDS)
        status, told = bed.ask("/readyz")
        bed.s3.thaw()
        back_at = time.monotonic()
        time.sleep(10)
    report.check_no_errors(others, "what needs no files goes on")
    told = told and told["checks"]["storage"]
    report.check("/readyz is 200 and says so", status == 200 and told != "ok", f"{status}, {told}")
    report.check_answers(files, within=FILE_SECONDS, back_at=back_at)
    wrong = [
        key for key, content in files.files.items()
        if bed.download(key) != content
    ]  # fmt: skip
    report.check(
        "every file that was taken is there, whole", bool(files.files) and not wrong,
        f"{len(files.files)} taken, {len(wrong)} missing or changed",
    )  # fmt: skip
    bed.check_kept(report, others)


def model_away(bed: Bed, report: Report) -> None:
    """Nobody listens where the model should be."""
    _ask_the_assistant(bed, report)


def model_silent(bed: Bed, report: Report) -> None:
    """The model takes requests and never answers."""
    with socket.create_server(("127.0.0.1", bed.model_port)):
        _ask_the_assistant(bed, report)


def _ask_the_assistant(bed: Bed, report: Report) -> None:
    talks = Ledger()
    caller = caller_at(bed.port, bed.key, talks)
    with traffic(bed.port, bed.key) as others:
        for _ in range(3):
            caller.send("chat", "POST", "/api/ai/chat", {"message": "How are refunds paid?"})
    caller.close()
    told = [
        one.status if one.status != 200 else one.body.get("provider", {}).get("status")
        for one in talks.answers
    ]
    report.check("an answer is marked as not the model's, or 503", set(told) <= {"fallback", 503},
                 told)  # fmt: skip
    report.check_in_time(talks, ASSISTANT_SECONDS)
    report.check_no_errors(others, "the rest goes on")
