"""Requests to the real server that are refused unread, cannot be read, or are not taken up.

And those that no client sends.
"""

from __future__ import annotations

import errno
import http.client
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from app.http.connections import SEND_SECONDS
from bench.nginx import find_nginx, nginx
from bench.peers.processes import free_port
from tests.contract.conftest import PASSWORD
from tests.migrated import MigratedDatabases
from tests.served import answers, ask, start, unlimited_service
from tests.waiting import until

JSON = {"Content-Type": "application/json"}
HEAD = b"POST /odata/Clients HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"

SMUGGLED = [
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n Folded: y\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n",
    b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.fixture(scope="module")
def port(migrated: MigratedDatabases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The real server, with its real settings."""
    number = free_port()
    folder = tmp_path_factory.mktemp("server")
    with (
        migrated.new("sqlite", folder, "platform") as database,
        unlimited_service(database) as place,
    ):
        start(place, number)
        yield number


@pytest.fixture(scope="module")
def authorised(port: int) -> dict[str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        login = json.dumps({"username": "admin", "password": PASSWORD})
        connection.request("POST", "/api/auth/login", login, JSON)
        token = json.loads(connection.getresponse().read())["accessToken"]
        return {"Authorization": f"Bearer {token}"}


def raw(number: int, content: bytes) -> bytes:
    """What comes back for bytes as they are; nothing where the connection is closed."""
    with socket.create_connection(("127.0.0.1", number), timeout=10) as connection:
        found = b""
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                found += piece
        except ConnectionError:
            pass
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # closed before it was told the end
                raise
        return found


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


@pytest.mark.requirement("SEC-136")
@pytest.mark.parametrize("content", SMUGGLED)
def test_ambiguous_requests_are_refused(port: int, content: bytes) -> None:
    answer = raw(port, content)
    assert len(re.findall(rb"(?m)^HTTP/1\.\d \d{3} ", answer)) <= 1
    assert answer == b"" or answer.split(b" ", 2)[1] in (b"400", b"401", b"501", b"505"), answer
    assert b"Traceback" not in answer


@pytest.mark.requirement("SEC-122")
def test_very_long_addresses_and_thousands_of_headers_are_refused(port: int) -> None:
    for path in ("/healthz?x=" + "y" * 60_000, "/api/auth/me?x=" + "y" * 60_000):
        assert ask(port, "GET", path)[0] in (400, 401, 414)
    head = "".join(f"X-{number}: y\r\n" for number in range(2000))
    for content in (
        f"GET /healthz HTTP/1.1\r\nHost: x\r\n{head}\r\n",
        f"GET /healthz HTTP/1.1\r\nHost: x\r\nX: {'y' * 200_000}\r\n\r\n",
        f"GET /{'y' * 200_000} HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        answer = raw(port, content.encode())
        assert answer == b"" or answer[9:10] == b"4", answer[:60]
    assert answers(port)


@pytest.mark.requirement("SEC-131", "SEC-130")
def test_the_server_tells_no_version(port: int) -> None:
    for path in ("/healthz", "/nothing", "/docs", "/admin/", "/openapi.json"):
        _, headers, body = ask(port, "GET", path)
        told = " ".join(headers.values()).lower()
        for name in ("gunicorn/", "werkzeug", "python/", "flask", "sqlalchemy"):
            assert name not in told, (path, told)
        assert b"Werkzeug" not in body
        assert headers["x-content-type-options"] == "nosniff"


def test_more_connections_than_threads_are_no_end(port: int) -> None:
    idle = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(200)]
    try:
        for connection in idle[:100]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        # Whoever was kept waiting is served as soon as there is room.
    finally:
        for connection in idle:
            connection.close()
    until(lambda: answers(port))


@pytest.mark.requirement("SEC-118", "SEC-119", "SEC-120")
@pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")
@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["headers", "bodies"],
)
def test_slow_requests_keep_nobody_out_behind_the_documented_proxy(
    port: int, tmp_path: Path, head: bytes
) -> None:
    outside = free_port()
    with nginx(tmp_path, f"127.0.0.1:{outside}", [f"127.0.0.1:{port}"]), ExitStack() as stack:
        until(lambda: answers(outside))
        for _ in range(300):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", outside)))
            slow.sendall(head)
        # Three hundred wait; a thread of the service is free for everybody else.
        for _ in range(5):
            assert ask(outside, "GET", "/readyz")[0] == 200
