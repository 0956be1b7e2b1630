"""Streams whose sockets one thread keeps: what readers hear, and when they are dropped."""

from __future__ import annotations

import argparse
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.ai.open_streams import Signals, StreamKeeper, StreamReader, can_keep, handed_over
from bench import streams as bench
from bench.peers.processes import free_port

pytestmark = pytest.mark.only_on("sqlite")
Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The server's end of a connection, and the reader's."""
    server, reader = socket.socketpair()
    reader.settimeout(10)
    yield server, reader
    server.close()
    reader.close()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def heard(reader: socket.socket) -> bytes:
    found = b""
    while piece := reader.recv(65536):
        found += piece
    return found


def test_what_is_said_comes_as_chunks_and_ends(app: Flask, pair: Pair) -> None:
    bell, said = Signals(), threading.Event()

    def look(readers: list[StreamReader]) -> None:
        for reader in readers:
            if said.is_set():
                reader.say(b"hello")
                reader.end()

    keeper = StreamKeeper(app, bell, look)
    keeper.take(pair[0], 1, 0)
    assert len(keeper) == 1
    said.set()
    bell.ring()
    assert heard(pair[1]) == b"5\r\nhello\r\n0\r\n\r\n"
    wait_until(lambda: len(keeper) == 0)


def test_a_reader_that_left_is_dropped(app: Flask, pair: Pair) -> None:
    keeper = StreamKeeper(app, Signals(), lambda readers: None)
    keeper.take(pair[0], 1, 0)
    pair[1].close()
    wait_until(lambda: len(keeper) == 0)


def test_a_reader_that_takes_nothing_is_dropped_and_others_are_not(app: Flask, pair: Pair) -> None:
    deaf_server, deaf = socket.socketpair()

    def look(readers: list[StreamReader]) -> None:
        for reader in readers:
            if reader.session_id == 1:
                reader.say(b"x" * 400_000)

    keeper = StreamKeeper(app, Signals(), look)
    keeper.take(deaf_server, 1, 0)
    keeper.take(pair[0], 2, 0)
    wait_until(lambda: len(keeper) == 1)
    assert heard_nothing(pair[1])
    deaf.close()


def heard_nothing(reader: socket.socket) -> bool:
    reader.setblocking(False)
    try:
        reader.recv(1)
    except BlockingIOError:
        return True
    return False


def test_an_error_of_a_look_is_no_end(app: Flask, pair: Pair) -> None:
    bell, looks = Signals(), []

    def look(readers: list[StreamReader]) -> None:
        looks.append(len(readers))
        if len(looks) == 1:
            raise RuntimeError("the database is away")
        for reader in readers:
            reader.end()

    keeper = StreamKeeper(app, bell, look)
    keeper.take(pair[0], 1, 0)
    assert heard(pair[1]) == b"0\r\n\r\n"
    assert len(looks) >= 2


def test_the_server_ends_a_socket_of_nobody(app: Flask, pair: Pair) -> None:
    keeper = StreamKeeper(app, Signals(), lambda readers: [each.end() for each in readers])  # type: ignore[func-returns-value]
    body = handed_over(keeper, pair[0], 1, 0, b"first")
    assert list(body) == [b"first"]
    with pytest.raises(BrokenPipeError):
        pair[0].sendall(b"0\r\n\r\n")
    pair[0].close()
    assert heard(pair[1]) == b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, True), ({"REQUEST_METHOD": "HEAD"}, False), ({"SERVER_PROTOCOL": "HTTP/1.0"}, False),
     ({"gunicorn.socket": None}, False)],
)  # fmt: skip
def test_only_sockets_of_plain_connections_are_taken(
    pair: Pair, changes: dict[str, object], expected: bool
) -> None:
    environ = {
        "gunicorn.socket": pair[0], "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_METHOD": "GET",
    }  # fmt: skip
    assert can_keep(environ | changes) is expected


@pytest.mark.requirement("SEC-120")
def test_the_real_server_keeps_more_streams_than_it_has_threads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app, port = bench.prepared(tmp_path), free_port()
    server = bench.serve(tmp_path, port)
    try:
        options = argparse.Namespace(streams=24, seconds=1.0)
        assert bench.measure(app, port, server.pid, options) == 0
    finally:
        server.terminate()
        server.wait(30)
    assert "24 streams" in capsys.readouterr().out
