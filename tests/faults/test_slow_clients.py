"""Clients that send slowly, behind the documented proxy: nobody else waits."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench.nginx import nginx
from bench.peers.processes import free_port
from tests.faults.servers import is_listening

pytestmark = pytest.mark.needs("nginx")

ROOT = Path(__file__).parents[2]
CLIENTS = 300
# Not how fast it is, but that it does not wait for the slow ones, who never end.
PATIENCE_SECONDS = 10
APPLICATION = """
def application(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[int]:
    """One worker of a few threads behind nginx; gives the port of nginx."""
    (tmp_path / "hello.py").write_text(APPLICATION)
    behind, front = free_port(), free_port()
    command = [
        sys.executable, "-m", "gunicorn", "--config", "/dev/null", "--threads", "4",
        "--worker-class", "gthread", "--bind", f"127.0.0.1:{behind}",
        "--pythonpath", str(tmp_path), "--no-control-socket", "hello:application",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            while not is_listening(behind):
                time.sleep(0.05)
            with nginx(tmp_path, f"127.0.0.1:{front}", [f"127.0.0.1:{behind}"]):
                yield front
        finally:
            server.terminate()


@pytest.mark.requirement("SEC-118", "SEC-119")
@pytest.mark.parametrize(
    "beginning",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n",
    ],
    ids=["headers", "bodies"],
)
def test_slow_clients_keep_nobody_else_out(proxied: int, beginning: bytes) -> None:
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", proxied), timeout=10))
            for _ in range(CLIENTS)
        ]
        for connection in slow:
            connection.sendall(beginning)
        for _ in range(3):
            for connection in slow:
                connection.sendall(b"a")
            prompt = http.client.HTTPConnection("127.0.0.1", proxied, timeout=PATIENCE_SECONDS)
            stack.callback(prompt.close)
            prompt.request("POST", "/", b"hello")
            assert prompt.getresponse().read() == b"ok"


def test_what_nginx_refuses_itself_has_the_form_of_errors(proxied: int) -> None:
    with socket.create_connection(("127.0.0.1", proxied), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a b\x01\r\n\r\n")
        answer = b""
        while received := connection.recv(65_536):
            answer += received
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"400 Bad Request" in head
    assert b"Content-Type: application/json" in head
    assert body.startswith(b'{"error":{"code":"VALIDATION_ERROR"')
