"""The web worker: threads stay with busy connections, and leave the idle ones alone."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.peers.processes import free_port

APPLICATION = """
import threading

def application(environ, start_response):
    body = threading.current_thread().name.encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
THREADS = 4

Connect = Callable[[], http.client.HTTPConnection]


@dataclass
class Running:
    """gunicorn with one worker."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def worker(self) -> int:
        """The process of the worker."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return int(listed.split()[0])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "hello.py").write_text(APPLICATION)
    number = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", "/dev/null"]
    command += ["--worker-class", "app.web_worker.LingeringWorker", "--threads", str(THREADS)]
    command += ["--keep-alive", "30", "--bind", f"127.0.0.1:{number}", "--pythonpath"]
    command += [str(tmp_path), "--no-control-socket", "hello:application"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", number), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield Running(number, process)
        finally:
            process.terminate()


@pytest.fixture
def port(server: Running) -> int:
    return server.port


@pytest.fixture
def connect(port: int) -> Iterator[Connect]:
    with ExitStack() as open_connections:
        yield lambda: open_connections.enter_context(
            closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10))
        )


def ask(connection: http.client.HTTPConnection) -> str:
    connection.request("GET", "/")
    return connection.getresponse().read().decode()


def test_a_busy_connection_keeps_its_thread(connect: Connect) -> None:
    connection = connect()
    threads = {ask(connection) for _ in range(50)}
    # A pause of the test machine may part them once or twice; without staying, four take turns.
    assert len(threads) < THREADS


def test_a_connection_that_paused_is_answered_again(connect: Connect) -> None:
    connection = connect()
    for _ in range(3):
        assert ask(connection)
        time.sleep(0.05)


@pytest.mark.requirement("SEC-120")
def test_many_idle_connections_leave_room_for_a_new_one(connect: Connect) -> None:
    idle = [connect() for _ in range(5 * THREADS)]
    for connection in idle:
        assert ask(connection)
    newcomer = connect()
    assert ask(newcomer)
    assert all(ask(connection) for connection in idle)


def test_requests_that_came_together_are_answered_in_order(port: int) -> None:
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request * 5 + last)
        answer = b""
        while received := connection.recv(65_536):
            answer += received
    assert answer.count(b"HTTP/1.1 200 OK") == 6


def test_clients_that_keep_their_side_open_hold_up_nobody(port: int, connect: Connect) -> None:
    request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(10):  # were they waited for in turn, it would be longer than the patience
            opened = socket.create_connection(("127.0.0.1", port), timeout=10)
            stack.enter_context(opened).sendall(request)
            assert opened.recv(100).startswith(b"HTTP/1.1 200")
        assert ask(connect())


def test_what_is_sent_after_the_last_answer_does_not_cut_it_off(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(head)
        answer = opened.recv(100)
        opened.sendall(b"x" * 300_000)
        while received := opened.recv(65_536):
            answer += received
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.requirement("DUR-17")
def test_a_worker_that_ends_answers_a_connection_that_is_kept(
    server: Running, connect: Connect
) -> None:
    connection = connect()
    ask(connection)
    server.process.terminate()
    while is_taken(server.port):
        time.sleep(0.02)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.headers["Connection"] == "close"
    assert server.process.wait(20) == 0


@pytest.mark.requirement("DUR-17")
def test_a_worker_that_ends_answers_who_waits_at_the_door(server: Running) -> None:
    os.kill(server.worker, signal.SIGSTOP)
    with ExitStack() as stack:
        waiting = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            for _ in range(3 * THREADS)
        ]
        for connection in waiting:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        worker = server.worker
        server.process.terminate()
        os.kill(worker, signal.SIGCONT)
        answers = [connection.recv(100) for connection in waiting]
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers), answers


def test_connections_that_never_sent_a_request_do_not_delay_the_end(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as silent:
        time.sleep(5.5)  # past the time that a thread waits for a first request
        server.process.terminate()
        assert silent.recv(10) == b""
        assert server.process.wait(20) == 0


@pytest.mark.requirement("SEC-192")
@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"NONSENSE\r\n\r\n", 400, "VALIDATION_ERROR"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400, "VALIDATION_ERROR"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nbad name: x\r\n\r\n", 400, "VALIDATION_ERROR"),
        (b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"x" * 9_000), 414, "URI_TOO_LONG"),
        (b"GET / HTTP/1.1\r\nX: %s\r\n\r\n" % (b"x" * 20_000), 431, "HEADERS_TOO_LARGE"),
        (b"GET / HTTP/1.1\r\n%s\r\n" % (b"X: y\r\n" * 200), 431, "HEADERS_TOO_LARGE"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: br\r\n\r\n", 501, "NOT_IMPLEMENTED"),
    ],
    ids=["no HTTP", "length", "name", "address", "long header", "many headers", "coding"],
)
def test_what_is_no_request_is_refused_as_everything_is(
    port: int, sent: bytes, status: int, code: str
) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(sent)
        answer = http.client.HTTPResponse(opened)
        answer.begin()
        error = json.loads(answer.read())["error"]
    assert (answer.status, error["code"]) == (status, code)
    assert set(error) == {"code", "message", "details"}
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-ID"])
    for name, value in {
        "Content-Type": "application/json",
        "API-Version": "v1",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Connection": "close",
    }.items():
        assert answer.headers[name] == value


def is_taken(port: int) -> bool:
    """Whether new connections are taken."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
