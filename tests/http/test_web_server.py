"""What gunicorn does with this service's settings: connections, addresses, ends and reloads."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.faults.servers import is_listening
from tests.http.serving import PATIENCE_SECONDS, Server, serving
from tests.waiting import until

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
# More than the server has threads.
MANY = 40


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running.port


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        yield running


def read_all(opened: socket.socket) -> bytes:
    answer = b""
    while received := opened.recv(65_536):
        answer += received
    return answer


def read_answer(opened: socket.socket) -> tuple[int, str | None]:
    found = http.client.HTTPResponse(opened)
    found.begin()
    found.read()
    return found.status, found.headers["Connection"]


def process_at(port: int) -> int:
    """The process that answers a new connection, within the time that a caller waits."""
    with closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    ) as connection:
        connection.request("GET", "/process")
        return int(connection.getresponse().read())


def test_requests_that_came_together_are_answered_in_order(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(GET * 5 + LAST)
        assert read_all(opened).count(b"HTTP/1.1 200 OK") == 6


@pytest.mark.requirement("SEC-120")
def test_many_idle_connections_leave_room_for_a_new_one(port: int) -> None:
    with ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(MANY)
        ]
        for opened in [*idle, *idle]:  # those that paused are answered again
            opened.sendall(GET)
            assert read_answer(opened) == (200, "keep-alive")


@pytest.mark.requirement("SEC-122", "SEC-192")
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"x" * 8_000), 200),
        (b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"x" * 8_192), 414),
        (b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"x" * 131_072), 414),
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nbad name: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n" % (b"x" * 20_000), 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n%s\r\n" % (b"X: y\r\n" * 200), 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br\r\n\r\n", 501),
    ],
    ids=[
        "8 KB", "over 8 KB", "128 KB", "no HTTP", "length", "two hosts", "name", "long header",
        "many headers", "coding",
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_refused_in_its_own_form(
    port: int, sent: bytes, status: int
) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(sent)
        answer = http.client.HTTPResponse(opened)
        answer.begin()
        body = answer.read()
    assert answer.status == status
    if status != 200:
        assert answer.headers["Connection"] == "close"
        assert b"Traceback" not in body


@pytest.mark.requirement("SEC-118", "SEC-119")
@pytest.mark.parametrize("cut", [10, -7, -3], ids=["line", "end of head", "body"])
def test_what_arrives_in_parts_is_answered(port: int, cut: int) -> None:
    whole = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        for part in (whole[:cut], whole[cut:]):
            opened.sendall(part)
            time.sleep(0.2)
        assert read_all(opened).endswith(b"\r\n\r\nhello")


def test_whoever_asks_first_is_told_to_go_on(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        for _ in range(2):
            opened.sendall(head)
            assert opened.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
            opened.sendall(b"hello")
            assert read_answer(opened) == (200, "keep-alive")


@pytest.mark.parametrize(
    ("size", "connection"), [(60_000, "keep-alive"), (70_000, "close"), (5_000_000, "close")]
)
def test_a_long_body_ends_its_connection_and_the_answer_says_so(
    port: int, size: int, connection: str
) -> None:
    head = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(head + b"x" * size)
        assert read_answer(opened) == (200, connection)
        if connection == "keep-alive":
            opened.sendall(GET)
            assert read_answer(opened) == (200, "keep-alive")


def test_what_is_sent_after_the_last_answer_does_not_cut_it_off(port: int) -> None:
    head = (
        b"POST /unread HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(head)
        answer = opened.recv(20)
        opened.sendall(b"x" * 300_000)
        assert (answer + read_all(opened)).endswith(b"\r\n\r\nunread")


@pytest.mark.requirement("DUR-17")
def test_a_process_that_ends_answers_a_connection_that_is_kept(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as opened:
        opened.sendall(GET)
        assert read_answer(opened) == (200, "keep-alive")
        server.process.terminate()
        while is_listening(server.port):
            time.sleep(0.02)
        opened.sendall(GET)
        assert read_answer(opened) == (200, "close")
    assert server.process.wait(20) == 0


@pytest.mark.requirement("DUR-17")
def test_a_process_that_ends_answers_who_waits_at_the_door(server: Server) -> None:
    process_at(server.port)
    (process,) = server.workers
    os.kill(process, signal.SIGSTOP)
    with ExitStack() as stack:
        waiting = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            for _ in range(MANY)
        ]
        for opened in waiting:
            opened.sendall(GET)
        server.process.terminate()
        os.kill(process, signal.SIGCONT)
        answers = [opened.recv(15) for opened in waiting]
    assert answers == [b"HTTP/1.1 200 OK"] * MANY


def test_connections_that_never_sent_a_request_do_not_delay_the_end(server: Server) -> None:
    process_at(server.port)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10):
        server.process.terminate()
        assert server.process.wait(10) == 0


@pytest.mark.requirement("DUR-17")
@pytest.mark.costly(0)
def test_a_port_refuses_until_a_process_can_answer(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    with serving(tmp_path, awaited=False) as starting:
        until(lambda: starting.workers, 60)  # its port is taken, and its process loads
        refused = 0
        while not is_listening(starting.port):
            refused += 1
            time.sleep(0.1)
        began = time.monotonic()
        assert process_at(starting.port) in starting.workers
        assert time.monotonic() - began < PATIENCE_SECONDS
    assert refused > 10


def test_a_port_that_another_has_is_told(server: Server, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with serving(other, port=server.port, awaited=False) as second:
        assert second.process.wait(60) == 1
    assert "Connection in use" in second.log.read_text()
    assert process_at(server.port) in server.workers


def test_a_reload_keeps_nobody_waiting(server: Server, tmp_path: Path) -> None:
    before = process_at(server.port)
    (tmp_path / "slow").touch()
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while process_at(server.port) == before:  # each answered, while the other loads
        assert time.monotonic() < deadline, "the new process never came"
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        while len(server.workers) > 1:  # and the old one ends
            assert time.monotonic() < deadline, "the old process stays"
            time.sleep(0.1)
