"""The outbound client against receivers that behave badly (SEC-97, SEC-99, SEC-101, INS-09)."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.outbound.client import READ_BYTES, Answer, Client, OutboundError
from tests.receivers import Receiver, receiver, status


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as target:
        yield target


@pytest.fixture
def client() -> Iterator[Client]:
    new_client = Client(allow_private=True)
    yield new_client
    new_client.close()


def post(client: Client, url: str, **options: Any) -> Answer:
    return client.send("POST", url, {"Content-Type": "text/plain"}, b"hello", **options)


def reason(client: Client, url: str, **options: Any) -> str:
    with pytest.raises(OutboundError) as caught:
        post(client, url, **options)
    return str(caught.value)


def test_body_and_headers_arrive_and_the_answer_comes_back(
    client: Client, there: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    answer = post(client, there.url("/ok?x=1"))
    assert (answer.status, answer.body) == (200, b"thanks")
    (taken,) = there.taken
    assert (taken.path, taken.body) == ("/ok?x=1", b"hello")
    assert set(taken.headers) == {"host", "content-type", "content-length", "accept-encoding"}
    assert taken.headers["accept-encoding"] == "identity"
    assert taken.headers["host"] == f"127.0.0.1:{there.port}"


@pytest.mark.parametrize("path", ["/ok", "/chunked", "/fail"])
def test_connections_are_used_again(client: Client, there: Receiver, path: str) -> None:
    for _ in range(3):
        post(client, there.url(path))
    assert (len(there.taken), there.connections) == (3, 1)


def test_connection_that_was_closed_while_idle_is_replaced(client: Client, there: Receiver) -> None:
    for _ in range(4):
        assert post(client, there.url("/close")).status == 200
    assert len(there.taken) == 4


@pytest.mark.requirement("SEC-97")
def test_redirect_is_an_answer(client: Client, there: Receiver) -> None:
    assert post(client, there.url("/redirect")).status == 302
    assert [taken.path for taken in there.taken] == ["/redirect"]


@pytest.mark.requirement("INS-09")
@pytest.mark.parametrize("path", ["/hang", "/trickle-headers"])
def test_exchange_ends_in_time_whatever_the_receiver_does(
    client: Client, there: Receiver, path: str
) -> None:
    began = time.monotonic()
    assert reason(client, there.url(path), seconds=0.5) == "No answer came in time."
    assert time.monotonic() - began < 3


def test_trickling_body_is_cut_and_the_status_counts(client: Client, there: Receiver) -> None:
    answer = post(client, there.url("/trickle-body"), seconds=0.5)
    assert answer.status == 200
    assert 0 < len(answer.body) < 20


@pytest.mark.requirement("SEC-99", "INS-09")
def test_endless_body_is_read_to_the_limit(client: Client, there: Receiver) -> None:
    assert len(post(client, there.url("/endless")).body) == READ_BYTES


@pytest.mark.parametrize(
    ("path", "text"),
    [("/garbage", "The answer was not HTTP."), ("/cut", "The connection failed.")],
)
def test_other_answers_are_named(client: Client, there: Receiver, path: str, text: str) -> None:
    assert reason(client, there.url(path)) == text


def test_who_closes_without_an_answer_is_asked_once(client: Client, there: Receiver) -> None:
    reason(client, there.url("/cut"))
    assert len(there.taken) == 1
    post(client, there.url("/ok"))  # on a connection that waits for the next
    reason(client, there.url("/cut"))
    assert len(there.at("/cut")) <= 3  # once on that one, and once more on a new one


def test_closed_port_and_unknown_name_are_named(client: Client) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert reason(client, f"http://127.0.0.1:{port}/") == "The connection failed."
    unknown = reason(client, "http://no-such-host.invalid/")
    assert unknown == "The name of the host was not found."


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433"])
def test_private_addresses_are_not_even_tried(there: Receiver, host: str) -> None:
    assert reason(Client(), f"http://{host}:{there.port}/") == "The address is not allowed."
    assert there.connections == 0


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Names mean these addresses, one list after the other; the last stays."""
    asked: list[str] = []
    queue = list(answers)
    real: Callable[..., list[Any]] = socket.getaddrinfo

    def resolve(host: str, port: int, *places: Any, **options: Any) -> list[Any]:
        if not host.endswith(".example.com"):  # other threads go on meanwhile
            return real(host, port, *places, **options)
        asked.append(host)
        addresses = queue.pop(0) if len(queue) > 1 else queue[0]
        return [
            (socket.AF_INET6 if ":" in text else socket.AF_INET, socket.SOCK_STREAM, 6, "",
             (text, port))
            for text in addresses
        ]  # fmt: skip

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize(
    "found",
    [["127.0.0.1"], ["10.0.0.1"], ["::1"], ["fe80::1%eth0"], ["::ffff:127.0.0.1"],
     ["93.184.216.34", "127.0.0.1"]],
    ids=str,
)  # fmt: skip
def test_name_that_means_a_private_address_is_refused_when_connecting(
    there: Receiver, monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    resolve_to(monkeypatch, found)
    url = f"http://rebound.example.com:{there.port}/"
    assert reason(Client(), url) == "The address is not allowed."
    assert there.connections == 0


@pytest.mark.requirement("SEC-101")
def test_name_is_resolved_once_and_that_answer_is_connected_to(
    there: Receiver, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolve_to(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
    assert post(client, f"http://pinned.example.com:{there.port}/ok").status == 200
    assert asked == ["pinned.example.com"]
    (taken,) = there.taken
    assert taken.headers["host"] == f"pinned.example.com:{there.port}"


def test_second_address_is_tried_when_the_first_fails(
    there: Receiver, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, ["::1", "127.0.0.1"])
    assert post(client, f"http://two.example.com:{there.port}/ok").status == 200


def test_certificate_nobody_vouches_for_is_refused(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

        def serve() -> None:
            connection, _ = server.accept()
            with connection, pytest.raises((ssl.SSLError, OSError)):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=serve)
        thread.start()
        port = server.getsockname()[1]
        assert reason(client, f"https://127.0.0.1:{port}/") == "No secure connection came about."
        thread.join()


def test_handshake_that_hangs_ends_in_time(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        began = time.monotonic()
        assert (
            reason(client, f"https://127.0.0.1:{port}/", seconds=0.3) == "No answer came in time."
        )
        assert time.monotonic() - began < 3


def test_idle_connections_have_an_end_for_all_hosts_together(
    there: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.outbound.connections.HOSTS", 1)
    client = Client(allow_private=True)
    with receiver() as other:
        for _ in range(3):
            assert post(client, there.url()).status == 200
            assert post(client, other.url()).status == 200
        assert (there.connections, other.connections) == (3, 3)
        assert post(client, other.url()).status == 200
        assert other.connections == 3  # the one used last is kept


def test_many_threads_share_a_client(client: Client, there: Receiver) -> None:
    there.answers["/big"] = status(200, b"x" * 10_000)
    problems: list[str] = []

    def work() -> None:
        for _ in range(20):
            answer = post(client, there.url("/big"))
            if (answer.status, len(answer.body)) != (200, 10_000):
                problems.append(str(answer.status))

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(there.taken) == 240
    assert there.connections <= 40
