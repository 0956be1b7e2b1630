"""Clients that send slowly, take nothing or send no HTTP: a healthy one beside them is answered.

Measured without a proxy, which would keep all of them away (docs/operations.md).
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from app.http.connections import Connection
from tests.http.serving import WAITING_SECONDS, Server, serving

# More than there are threads, so that all of them have met one.
CLIENTS = 17
# All threads wait for a client once, and for what is behind it in the queue once more.
PATIENCE_SECONDS = 2 * WAITING_SECONDS + 5
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


def seconds_of_a_healthy_client(port: int) -> float:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as healthy:
        healthy.sendall(LAST)
        assert healthy.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    return time.monotonic() - began


@pytest.mark.requirement("SEC-118", "SEC-119", "SEC-120", "OPS-07")
@pytest.mark.parametrize(
    ("clients", "sent", "trickled"),
    [
        pytest.param(CLIENTS, GET.replace(b"/", b"/large", 1) * 50, b"", id="takes nothing"),
        pytest.param(1000, b"", b"", id="silent"),
        pytest.param(1000, GET, b"", id="answered and idle"),
        pytest.param(CLIENTS, b"GET / HTTP/1.1\r\nX-Slow: ", b"", id="head that ends nowhere"),
        pytest.param(CLIENTS, b"GET / HTTP/1.1\r\nX-Slow: ", b"a", id="head that trickles"),
        pytest.param(CLIENTS, POST % 5000 + b"{", b"", id="body that never comes"),
        pytest.param(CLIENTS, POST % 5000 + b"{", b"a", id="body that trickles"),
        pytest.param(CLIENTS, CHUNKED + b"1\r\na\r\n", b"1\r\na\r\n", id="chunks that trickle"),
        pytest.param(CLIENTS, CHUNKED + b"zz\r\n", b"", id="no chunks"),
        pytest.param(CLIENTS, CHUNKED + b"f" * 9000, b"", id="chunk size without end"),
        pytest.param(CLIENTS, b"NONSENSE\r\n\r\n", b"", id="no HTTP"),
        pytest.param(CLIENTS, LAST, b"", id="does not close"),
        pytest.param(
            CLIENTS, POST.replace(b"/", b"/unread", 1) % 5_000_000 + b"{", b"a",
            id="body behind its answer",
        ),
        pytest.param(
            CLIENTS, (POST % 5).replace(b"Host", b"Expect: 100-continue\r\nHost"), b"",
            id="asks and does not send",
        ),
    ],
)  # fmt: skip
def test_a_healthy_client_is_answered_beside(
    server: Server, clients: int, sent: bytes, trickled: bytes
) -> None:
    before = server.workers
    is_over = threading.Event()
    with ExitStack() as stack:
        bad = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            for _ in range(clients)
        ]

        def trickle() -> None:
            while not is_over.wait(0.5):
                for one in bad:
                    with suppress(OSError):
                        one.sendall(trickled)

        for one in bad:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.send(sent)
        sender = threading.Thread(target=trickle)
        sender.start()
        try:
            seconds = [seconds_of_a_healthy_client(server.port) for _ in range(3)]
        finally:
            is_over.set()
            sender.join()
    assert max(seconds) < PATIENCE_SECONDS, seconds
    assert server.workers == before


@pytest.fixture
def few_files(tmp_path: Path) -> Iterator[Server]:
    """A server that may open 160 files: 48 connections beside its own work."""
    with serving(tmp_path, "prlimit", "--nofile=160:160") as running:
        yield running


@pytest.mark.requirement("OPS-07")
@pytest.mark.parametrize("sent", [b"", GET], ids=["silent", "answered and idle"])
def test_a_crowd_that_outnumbers_the_open_files_keeps_nobody_out(
    few_files: Server, sent: bytes
) -> None:
    before = few_files.workers
    with ExitStack() as stack:
        for _ in range(300):
            opened = socket.create_connection(("127.0.0.1", few_files.port), timeout=30)
            stack.enter_context(opened).sendall(sent)
        assert seconds_of_a_healthy_client(few_files.port) < PATIENCE_SECONDS
    assert few_files.workers == before


@pytest.mark.requirement("OPS-07")
def test_a_process_without_files_to_open_waits_until_there_are_some(few_files: Server) -> None:
    before = few_files.workers
    with socket.create_connection(("127.0.0.1", few_files.port), timeout=30) as hog:
        hog.sendall(GET.replace(b"/", b"/hog", 1))
        time.sleep(0.5)
        assert seconds_of_a_healthy_client(few_files.port) < PATIENCE_SECONDS
        assert hog.recv(100).startswith(b"HTTP/1.1 200")
    assert few_files.workers == before
    assert "No more connections for a moment" in few_files.log.read_text()


def test_who_was_silent_too_long_is_not_waited_for_again() -> None:
    ours, client = socket.socketpair()
    with client, Connection(fileno=ours.detach()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 1000))
        with pytest.raises(ConnectionResetError, match="silent"):
            connection.recv(100)
        # Whoever waited now would wait for ever.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))
        connection.sendall(b"400")
        assert client.recv(100) == b"400"
        client.sendall(b"late")
        assert connection.recv(100) == b"late"
        with pytest.raises(ConnectionResetError, match="silent"):
            connection.recv(100)
