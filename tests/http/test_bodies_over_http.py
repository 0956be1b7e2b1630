"""Requests to the real server that are refused unread, cannot be read, or are not taken up."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress

import pytest

from app.http.connections import SEND_SECONDS
from bench.peers.processes import free_port
from tests.contract.conftest import PASSWORD
from tests.faults.servers import is_listening
from tests.served import unlimited_service
from tests.waiting import until

JSON = {"Content-Type": "application/json"}
HEAD = b"POST /odata/Clients HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The real server, with its real settings."""
    number = free_port()
    with unlimited_service() as place:
        place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
        until(lambda: is_listening(number), 90)
        yield number


@pytest.fixture(scope="module")
def authorised(port: int) -> dict[str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        login = json.dumps({"username": "admin", "password": PASSWORD})
        connection.request("POST", "/api/auth/login", login, JSON)
        token = json.loads(connection.getresponse().read())["accessToken"]
        return {"Authorization": f"Bearer {token}"}


class Client:
    """One connection, made anew only where an answer has said that it ends."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.connection.request(method, path, body, dict(headers))
        answer = self.connection.getresponse()
        answer.read()
        if answer.headers["Connection"] == "close":
            self.connection.close()
        return answer.status


def read_answer(opened: socket.socket) -> tuple[int, str | None]:
    found = http.client.HTTPResponse(opened)
    found.begin()
    found.read()
    return found.status, found.headers["Connection"]


@pytest.mark.parametrize("size", [50_000, 70_000, 300_000, 5_000_000])
def test_no_request_after_a_refused_one_is_lost(
    port: int, authorised: dict[str, str], size: int
) -> None:
    known = {**authorised, **JSON}
    refused = [
        ("POST", "/odata/Clients", JSON),
        ("POST", "/s/x", {}),
        ("POST", "/odata/Nones", known),
        ("PUT", "/healthz", known),
        ("POST", "/odata/Clients", {**authorised, "Content-Type": "text/plain"}),
    ]
    client, large = Client(port), b"x" * size
    with closing(client.connection):
        for method, path, headers in refused * 2:
            assert client.ask(method, path, large, headers) in (401, 404, 405, 413, 415)
            assert client.ask("POST", "/odata/Clients", b'{"name": "n"}', known) == 201


@pytest.mark.costly(0)
def test_senders_that_stop_keep_nobody_out(port: int, authorised: dict[str, str]) -> None:
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            for _ in range(20)  # there are sixteen threads
        ]
        for one in slow:
            one.sendall(HEAD + b"Content-Length: 300000\r\n\r\n" + b"x" * 40_000)
        client = stack.enter_context(closing(Client(port).connection))
        client.request("GET", "/odata/Clients?$top=1", headers=authorised)
        assert client.getresponse().status == 200
        assert [read_answer(one) for one in slow] == [(401, "close")] * 20


def test_a_refused_body_in_pieces_keeps_its_connection(port: int) -> None:
    pieces = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    request = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + pieces * 3 + b"0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        for _ in range(2):
            opened.sendall(request)
            assert read_answer(opened) == (401, "keep-alive")


@pytest.mark.parametrize("path", ["/odata/Clients", "/api/v1/crm/import", "/odata/$batch"])
@pytest.mark.parametrize(
    "pieces",
    [b"zz\r\n", b"5\r\n{}xx\r\n0\r\n\r\n", b"-1\r\n\r\n", b"2\r\n{}\r\n0\r\nno header\r\n\r\n"],
    ids=["no number", "too short", "negative", "trailer"],
)
def test_a_body_whose_pieces_cannot_be_read_is_a_bad_request(
    port: int, authorised: dict[str, str], path: str, pieces: bytes
) -> None:
    kind = "multipart/form-data; boundary=b" if "import" in path else "application/json"
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\n"
    head += f"Authorization: {authorised['Authorization']}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        opened.sendall(head.encode() + pieces)
        assert read_answer(opened)[0] == 400
        assert opened.recv(1) == b""  # where the next request would begin is not known


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_body_that_ends_early_changes_nothing(
    port: int, authorised: dict[str, str], kind: str
) -> None:
    """The client is cut off in the middle of what would be a whole body of its own."""
    head = f"POST /odata/Clients/$query HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\n"
    head += f"Authorization: {authorised['Authorization']}\r\nContent-Length: 50\r\n\r\n"
    body = b'{"name": "n"}' if "json" in kind else b"$top=1"
    if "json" in kind:
        head = head.replace("/$query", "", 1)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        opened.sendall(head.encode() + body)
        opened.shutdown(socket.SHUT_WR)
        assert read_answer(opened)[0] == 400


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: a b\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: a/b\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: a:x\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: h:80\r\n", 200),
        (b"GET /healthz HTTP/1.1\r\nHost: [::1]:80\r\n", 200),
        (b"GET /healthz HTTP/1.0\r\n", 200),
    ],
)
def test_a_request_says_whom_it_is_for(port: int, head: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        opened.sendall(head + b"Connection: close\r\n\r\n")
        assert read_answer(opened)[0] == status


def test_an_old_client_is_answered_and_done(port: int) -> None:
    head = b"POST /odata/Clients HTTP/1.0\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        opened.sendall(head + b"Content-Length: 300000\r\n\r\n" + b"x" * 300_000)
        assert read_answer(opened) == (401, "close")


@pytest.mark.costly(0)
def test_readers_that_do_not_read_do_not_silence_the_service(port: int) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 200
    with ExitStack() as stack:
        for _ in range(17):
            opened = socket.create_connection(("127.0.0.1", port), timeout=30)
            stack.enter_context(opened).setblocking(False)
            with suppress(BlockingIOError):
                opened.send(asked)
        for _ in range(3):
            time.sleep(1)
            began = time.monotonic()
            healthy = stack.enter_context(closing(Client(port).connection))
            healthy.request("GET", "/healthz")
            assert healthy.getresponse().status == 200
            assert time.monotonic() - began < 2 * SEND_SECONDS + 5
