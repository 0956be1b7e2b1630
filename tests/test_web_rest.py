"""Bodies that are refused unread: the connection goes on, or says that it does not."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.http.body import Body, ChunkedReader, LengthReader  # type: ignore[import-untyped]
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]

from app import web_rest
from bench.peers.processes import free_port
from tests.contract.conftest import PASSWORD
from tests.served import unlimited_service
from tests.waiting import until

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The real server, with its real settings."""
    number = free_port()
    with unlimited_service() as place:
        place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
        until(lambda: is_up(number), 90)
        yield number


@pytest.fixture(scope="module")
def authorised(port: int) -> dict[str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        login = json.dumps({"username": "admin", "password": PASSWORD})
        connection.request("POST", "/api/auth/login", login, JSON)
        return {
            "Authorization": f"Bearer {json.loads(connection.getresponse().read())['accessToken']}"
        }


def is_up(number: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", number), timeout=1).close()
    except OSError:
        return False
    return True


class Client:
    """One connection, made anew only where an answer has said that it ends."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.ends = 0

    def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.connection.request(method, path, body, dict(headers))
        answer = self.connection.getresponse()
        answer.read()
        if answer.headers["Connection"] == "close":
            self.ends += 1
            self.connection.close()
        return answer.status


@pytest.mark.parametrize("size", [70_000, 300_000, 5_000_000])
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
        for turn in range(30):
            method, path, headers = refused[turn % len(refused)]
            assert client.ask(method, path, large, headers) in (401, 404, 405, 413, 415)
            assert client.ask("POST", "/odata/Clients", b'{"name": "n"}', known) == 201
    # A short rest costs no connection; a long one is not read.
    assert client.ends == (30 if size > web_rest.MOST_BYTES else 0)


def test_senders_that_stop_are_told_the_end_and_keep_nobody_out(
    port: int, authorised: dict[str, str]
) -> None:
    head = b"POST /odata/Clients HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            for _ in range(40)  # there are sixteen threads
        ]
        for one in slow:
            one.sendall(head + b"Content-Length: 300000\r\n\r\n" + b"x" * 40_000)
        client = stack.enter_context(closing(Client(port).connection))
        client.request("GET", "/odata/Clients?$top=1", headers=authorised)
        assert client.getresponse().status == 200
        for one in slow:
            answer = one.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 401 ")
            assert b"\r\nConnection: close\r\n" in answer


def test_a_refused_body_in_pieces_keeps_its_connection(port: int) -> None:
    head = b"POST /odata/Clients HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    pieces = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    request = head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces * 3 + b"0\r\n\r\n"
    assert [answer(port, request, 2)[number] for number in (0, 1)] == [(401, "keep-alive")] * 2


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
    assert answer(port, head.encode() + pieces, 1) == [(400, "close")]


def test_who_asks_first_and_is_refused_keeps_the_connection(port: int) -> None:
    head = b"POST /odata/Clients HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        for _ in range(2):
            opened.sendall(head + b"Expect: 100-continue\r\nContent-Length: 300000\r\n\r\n")
            assert opened.recv(25).startswith(b"HTTP/1.1 100 ")
            opened.sendall(b"x" * 300_000)
            assert read_answer(opened) == (401, "keep-alive")


def test_an_old_client_is_answered_and_done(port: int) -> None:
    head = b"POST /odata/Clients HTTP/1.0\r\nContent-Type: application/json\r\n"
    request = head + b"Content-Length: 300000\r\n\r\n" + b"x" * 300_000
    assert answer(port, request, 1) == [(401, "close")]


def answer(port: int, request: bytes, times: int) -> list[tuple[int, str | None]]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as opened:
        found = []
        for _ in range(times):
            opened.sendall(request)
            found.append(read_answer(opened))
        return found


def read_answer(opened: socket.socket) -> tuple[int, str | None]:
    found = http.client.HTTPResponse(opened)
    found.begin()
    found.read()
    return found.status, found.headers["Connection"]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def request_of(connection: socket.socket, length: int | None) -> Any:
    unreader = SocketUnreader(connection)
    reader = ChunkedReader(None, unreader) if length is None else LengthReader(unreader, length)
    return SimpleNamespace(body=Body(reader), unreader=unreader)


@pytest.mark.parametrize("length", [100_000, None], ids=["length", "chunked"])
def test_a_trickle_is_not_waited_for(
    pair: tuple[socket.socket, socket.socket], length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often something comes: the time is one for all of it."""
    monkeypatch.setattr(web_rest, "MOST_SECONDS", 0.3)
    ours, theirs = pair
    is_over = threading.Event()

    def trickle() -> None:
        while not is_over.wait(0.02):
            theirs.sendall(b"1\r\nx\r\n")

    sender = threading.Thread(target=trickle)
    sender.start()
    began = time.monotonic()
    try:
        assert not web_rest.take(request_of(ours, length))
    finally:
        is_over.set()
        sender.join()
    assert time.monotonic() - began < 10
    assert ours.gettimeout() is None


def test_what_has_no_end_is_not_read_to_it(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_rest, "MOST_BYTES", 50_000)
    ours, theirs = pair
    theirs.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
    sender = threading.Thread(target=theirs.sendall, args=(b"ffffff\r\n" + b"x" * 90_000,))
    sender.start()
    assert not web_rest.take(request_of(ours, None))
    ours.close()
    sender.join(10)


def test_nothing_is_left_of_what_was_read(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"x" * 1_000 + b"next")
    request = request_of(ours, 1_000)
    assert web_rest.is_left(request)
    assert web_rest.take(request)
    assert not web_rest.is_left(request)
    assert request.unreader.read(4) == b"next"
    assert not web_rest.is_left(SimpleNamespace(body=None))
