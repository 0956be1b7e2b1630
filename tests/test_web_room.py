"""Who is let in, and when a thread gets to see a request: crowds, slow senders, few open files."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.web_arrival import LOOK_BYTES, needed_bytes
from app.web_room import connections_for
from bench.peers.processes import free_port

THREADS = 4
FILES = 128
CROWD = 300
PROMPT_SECONDS = 5.0
# Opens files until there are no more, keeps them for two seconds, answers with what it was sent.
APPLICATION = """
import os, time

def application(environ, start_response):
    body = environ["wsgi.input"].read()
    if environ["PATH_INFO"] == "/hog":
        held = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            time.sleep(2)
        for one in held:
            os.close(one)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"


@dataclass
class Server:
    """gunicorn with one worker that may open few files; ``log`` is all it said."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def workers(self) -> list[int]:
        """The worker, twice if it was started anew."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(word) for word in listed.split()]

    def open(self, stack: ExitStack, content: bytes = b"") -> socket.socket:
        """A connection over which ``content`` was sent."""
        opened = stack.enter_context(
            socket.create_connection(("127.0.0.1", self.port), timeout=2 * PROMPT_SECONDS)
        )
        opened.sendall(content)
        return opened

    def asked(self) -> tuple[bytes, float]:
        """The first line of what a newcomer is answered, and seconds until then."""
        began = time.monotonic()
        with ExitStack() as stack:
            line = read_all(self.open(stack, GET)).partition(b"\r\n")[0]
        return line, time.monotonic() - began


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "hello.py").write_text(APPLICATION)
    number = free_port()
    log = tmp_path / "log"
    command = [sys.executable, "-m", "gunicorn", "--config", "/dev/null", "--no-control-socket"]
    command += ["--worker-class", "app.web_worker.LingeringWorker", "--threads", str(THREADS)]
    command += ["--keep-alive", "30", "--bind", f"127.0.0.1:{number}", "--pythonpath"]
    command += [str(tmp_path), "hello:application"]
    few = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))"
    limited = f"import os, resource, sys; {few}; os.execv(sys.argv[1], sys.argv[1:])"
    started = [sys.executable, "-c", limited, *command]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with (
        log.open("wb") as output,
        subprocess.Popen(started, env=environment, stderr=output) as process,
    ):
        try:
            one = Server(number, process, log)
            deadline = time.monotonic() + 60
            while b"Booting worker" not in log.read_bytes():
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield one
        finally:
            process.send_signal(signal.SIGTERM)


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    while received := connection.recv(65_536):
        answer += received
    return answer


@pytest.mark.requirement("OPS-07", "SEC-118", "SEC-119")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{",
    ],
    ids=["silent", "answered and idle", "slow headers", "slow bodies"],
)
def test_a_crowd_that_outnumbers_the_open_files_keeps_nobody_out(
    server: Server, content: bytes
) -> None:
    first = server.workers
    with ExitStack() as stack:
        for _ in range(CROWD):
            server.open(stack, content)
        for _ in range(3):
            line, seconds = server.asked()
            assert (line, seconds < PROMPT_SECONDS) == (b"HTTP/1.1 200 OK", True), seconds
    assert server.asked()[0] == b"HTTP/1.1 200 OK"
    assert server.workers == first


@pytest.mark.requirement("OPS-07")
def test_a_worker_without_files_to_open_waits_until_there_are_some(server: Server) -> None:
    first = server.workers
    with ExitStack() as stack:
        hog = server.open(stack, GET.replace(b"/ ", b"/hog ", 1))
        time.sleep(0.5)
        line, seconds = server.asked()  # waits in the queue of the socket
        assert (line, seconds < PROMPT_SECONDS) == (b"HTTP/1.1 200 OK", True), seconds
        assert read_all(hog).startswith(b"HTTP/1.1 200")
    assert server.workers == first
    assert "No more connections for a moment" in server.log.read_text()


@pytest.mark.requirement("SEC-118", "SEC-119")
@pytest.mark.parametrize(
    "parts",
    [
        [GET[:10], GET[10:]],
        [GET[:-2], GET[-2:]],
        [POST % 5, b"hello"],
        [POST % 5 + b"hel", b"lo"],
        [POST % (2 * LOOK_BYTES), b"x" * LOOK_BYTES, b"y" * LOOK_BYTES],
        [b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 7000, b"\r\nConnection: close\r\n\r\n"],
    ],
    ids=["line", "end of head", "body", "half a body", "long body", "long head"],
)
def test_what_arrives_in_parts_is_answered(server: Server, parts: Sequence[bytes]) -> None:
    with ExitStack() as stack:
        connection = server.open(stack)
        for part in parts:
            time.sleep(0.2)
            connection.sendall(part)
        answer = read_all(connection)
    whole = b"".join(parts)
    body = whole.partition(b"\r\n\r\n")[2]
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.partition(b"\r\n\r\n")[2] == body


def test_whoever_asks_first_is_told_to_go_on(server: Server) -> None:
    head = POST % 5
    with ExitStack() as stack:
        connection = server.open(stack, head.replace(b"Host", b"Expect: 100-continue\r\nHost", 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"hello")
        assert read_all(connection).endswith(b"\r\n\r\nhello")


def test_a_client_that_ends_in_the_middle_is_not_waited_for(server: Server) -> None:
    with ExitStack() as stack:
        connection = server.open(stack, (POST % 50) + b"hel")
        time.sleep(0.2)
        connection.shutdown(socket.SHUT_WR)
        began = time.monotonic()
        read_all(connection)
        assert time.monotonic() - began < PROMPT_SECONDS


@pytest.mark.parametrize(
    ("sent", "awaited", "needed"),
    [
        (b"", 0, 1),
        (b"GET / HT", 0, 9),
        (b"GET / HT", 9, 0),
        (GET, 0, 0),
        (GET.replace(b"\r", b""), 0, 0),
        (POST % 5, 0, len(POST % 5) + 5),
        ((POST % 5).replace(b"Content-Length", b"content-length"), 0, len(POST % 5) + 5),
        (POST % 5 + b"hello", 0, 0),
        (POST % 5 + b"hello and more", 0, 0),
        (POST % LOOK_BYTES, 0, 0),
        (b"x" * LOOK_BYTES, 0, 0),
        (GET + POST % 5, 0, 0),
    ],
    ids=[
        "nothing", "part of a line", "an end", "whole", "LF alone", "body to come", "small letters",
        "body", "more than the body", "body too long to wait for", "too long to look at", "two",
    ],
)  # fmt: skip
def test_needed_bytes(sent: bytes, awaited: int, needed: int) -> None:
    client, service = socket.socketpair()
    with client, service:
        client.sendall(sent)
        assert needed_bytes(service, awaited) == needed
        assert (service.recv(LOOK_BYTES) if sent else b"") == sent  # nothing was taken out


def test_connections_leave_files_for_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(count: int) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda _: (count, count))

    limited(resource.RLIM_INFINITY)
    assert connections_for(1000, 16) == 1000
    limited(4096)
    assert connections_for(1000, 16) == 1000
    limited(256)
    assert connections_for(1000, 16) == 144
    limited(64)
    assert connections_for(1000, 16) == 16
