"""The real server: what it does with requests that no client sends, and with being stopped."""

from __future__ import annotations

import errno
import http.client
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from sqlalchemy import text

from app.extensions import db
from bench.nginx import find_nginx, nginx
from bench.peers.processes import free_port
from bench.services import Place
from tests.contract.conftest import PASSWORD
from tests.served import unlimited_service
from tests.waiting import until

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
def place() -> Iterator[Place]:
    """A service with an administrator, not yet started."""
    with unlimited_service() as found:
        yield found


@pytest.fixture(scope="module")
def port(place: Place) -> int:
    number = free_port()
    start(place, number)
    return number


def start(place: Place, number: int) -> object:
    process = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
    until(lambda: answers(number), 90)
    return process


def answers(number: int) -> bool:
    try:
        return ask(number, "GET", "/healthz")[0] == 200
    except OSError:
        return False


def ask(
    number: int, method: str, path: str, body: object = None, token: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    content = json.dumps(body) if body is not None else None
    with closing(http.client.HTTPConnection("127.0.0.1", number, timeout=30)) as connection:
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        named = {name.lower(): text for name, text in answer.getheaders()}
        return answer.status, named, answer.read()


def token_of(number: int) -> str:
    status, _, body = ask(
        number, "POST", "/api/auth/login", {"username": "admin", "password": PASSWORD}
    )
    assert status == 200, body
    return str(json.loads(body)["accessToken"])


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


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-09", "DUR-11", "DUR-17", "DUR-12")
def test_a_graceful_stop_cuts_nothing_and_tokens_outlive_it(place: Place) -> None:
    number = free_port()
    process = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number))
    until(lambda: answers(number), 90)
    token = token_of(number)
    created: set[int] = set()
    cut: list[str] = []
    stop = threading.Event()

    def write(worker: int) -> None:
        while not stop.is_set():
            try:
                status, _, body = ask(
                    number, "POST", "/odata/Clients", {"name": f"w{worker}"}, token
                )
            except ConnectionRefusedError:
                return  # no longer taken, and so not cut off
            except (OSError, http.client.HTTPException) as error:
                cut.append(repr(error))
                return
            if status == 201:
                created.add(json.loads(body)["id"])
            else:
                cut.append(f"{status} {body[:80]!r}")

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(write, worker) for worker in range(4)]
        until(lambda: len(created) > 20)
        process.send_signal(signal.SIGTERM)
        for future in running:
            future.result(60)
    stop.set()
    assert process.wait(60) == 0
    # A connection that is taken by the system and by nobody else is reset, unread.
    assert [one for one in cut if "Reset" not in one and "Disconnected" not in one] == []
    start(place, number)
    listed = json.loads(ask(number, "GET", "/odata/Clients?$select=id&$top=5000", token=token)[2])
    assert created <= {row["id"] for row in listed["value"]}


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-03", "DUR-04", "DUR-05", "DUR-08", "DUR-10", "DUR-12")
def test_invoices_and_deletions_survive_kills_without_a_gap(place: Place) -> None:
    number = free_port()
    client = 0
    issued: dict[int, str] = {}
    deleted: set[int] = set()
    token = ""
    for _ in range(4):
        process = place.start(
            "gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(number)
        )
        until(lambda: answers(number), 90)
        token = token or token_of(number)
        client = (
            client
            or json.loads(ask(number, "POST", "/odata/Clients", {"name": "ACME"}, token)[2])["id"]
        )
        before = len(issued)

        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(work, number, client, token, issued, deleted) for _ in range(3)]
            until(lambda before=before: len(issued) > before + 6)
            for pid in children(process.pid):
                signal_hard(pid)
            process.kill()
            process.wait(30)
            for future in running:
                future.result(60)
    with place.app.app_context(), db.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
        rows = connection.execute(
            text("SELECT id, number FROM invoices WHERE status <> 'Draft'")
        ).all()
        kept = {row[0]: row[1] for row in rows}
        everything = set(connection.execute(text("SELECT id FROM invoices")).scalars())
    assert issued.items() <= kept.items()
    assert not deleted & everything
    places = sorted(int(name.rpartition("-")[2]) for name in kept.values())
    assert places == list(range(1, len(places) + 1))


def work(number: int, client: int, token: str, issued: dict[int, str], deleted: set[int]) -> None:
    """Issue invoices and delete drafts until nothing answers; notes what was acknowledged."""
    body = {"clientId": client, "LineItems": [{"description": "x", "unitPrice": 1}]}
    while True:
        try:
            key = json.loads(ask(number, "POST", "/odata/Invoices", body, token)[2])["id"]
            if key % 3 == 0:
                if ask(number, "DELETE", f"/odata/Invoices({key})", None, token)[0] == 204:
                    deleted.add(key)
                continue
            path = f"/api/invoices/{key}/send"
            status, _, sent = ask(number, "POST", path, {"markOnly": True}, token)
            if status == 200:
                issued[key] = json.loads(sent)["number"]
        except (OSError, http.client.HTTPException):
            return


def children(pid: int) -> list[int]:
    """The processes that ``pid`` started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def signal_hard(pid: int) -> None:
    """Kill one process."""
    os.kill(pid, signal.SIGKILL)
