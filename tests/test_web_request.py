"""Requests that are read in the straightest way are what gunicorn makes of them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]
from gunicorn.http import wsgi  # type: ignore[import-untyped]
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]

from app.web_request import PlainParser, create

HOST = b"Host: h\r\n"
LINES = [
    b"GET / HTTP/1.1", b"GET /odata/Clients(1)?$select=id,name HTTP/1.1", b"GET /a? HTTP/1.1",
    b"GET /a?b?c=%20d HTTP/1.1", b"PATCH /a%20b/%C3%B6 HTTP/1.1", b"DELETE /a;b=c/d@e:f HTTP/1.1",
    b"HEAD /a HTTP/1.1", b"OPTIONS * HTTP/1.1", b"OPTIONS /a HTTP/1.1", b"GET //host/a HTTP/1.1",
    b"GET /a#b HTTP/1.1", b"GET /a?b#c HTTP/1.1", b"GET http://other:1/a?b HTTP/1.1",
    b"GET /a HTTP/1.0", b"GET /a HTTP/2.0", b"GET /a HTTP/1.10", b"GET /a\x7fb HTTP/1.1",
    b"GET /\xc3\xb6 HTTP/1.1", b"GET  /a HTTP/1.1", b"GET /a  HTTP/1.1", b"GET /a b HTTP/1.1",
    b"get /a HTTP/1.1", b"GE /a HTTP/1.1", b"GET a HTTP/1.1", b"GET  HTTP/1.1", b"GET /a",
    b"CONNECT h:1 HTTP/1.1", b"POST /[::1]/{x}|y^z HTTP/1.1", b"GET /a\\b?\"<>` HTTP/1.1",
]  # fmt: skip
HEADS = [
    HOST, HOST + b"Content-Length: 3\r\n", HOST + b"Content-Length: 003\r\n",
    HOST + b"Content-Length: x\r\n", HOST + b"Content-Length: 3\r\nContent-Length: 3\r\n",
    HOST + b"Transfer-Encoding: chunked\r\n", HOST + b"Connection: close\r\n",
    HOST + b"Connection: Keep-Alive\r\n", HOST + b"X-A: 1\r\nX-A: 2\r\n",
    HOST + b"Content-Type: text/plain\r\nAccept: a, b\r\n", HOST + b"Expect: 100-continue\r\n",
    HOST + b"SCRIPT_NAME: /a\r\n", HOST + b"X Y: 1\r\n", HOST + b" folded\r\n",
]  # fmt: skip
# What is made anew for each, or names the connection.
_OWN = ("wsgi.input", "wsgi.errors", "wsgi.early_hints", "gunicorn.socket")


def read_all(kind: type[Any], make: Any, raw: bytes) -> list[Any]:
    """What is made of ``raw``, sent twice on one connection: attributes and environments."""
    here, there = socket.socketpair()
    found: list[Any] = []
    with here, there:
        here.sendall(raw)
        here.sendall(raw)
        here.shutdown(socket.SHUT_WR)
        parser = kind(Config(), there, ("127.0.0.1", 1))
        for _ in range(2):
            try:
                request = next(parser)
                _, environ = make(request, there, ("127.0.0.1", 1), ("127.0.0.1", 80), parser.cfg)
                body = request.body.read()
            except (ParseException, StopIteration) as error:
                found.append(type(error))
                break
            told = {name: value for name, value in environ.items() if name not in _OWN}
            plain = {
                name: value for name, value in vars(request).items()
                if isinstance(value, str | tuple | bool | int | list)
            }  # fmt: skip
            found.append((told, plain, body, request.should_close()))
    return found


@pytest.mark.parametrize("line", LINES)
def test_each_request_line_is_read_as_gunicorn_reads_it(line: bytes) -> None:
    raw = line + b"\r\n" + HOST + b"\r\n"

    assert read_all(PlainParser, create, raw) == read_all(RequestParser, wsgi.create, raw)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("line", [b"POST /a HTTP/1.1", b"POST /a HTTP/1.0"])
def test_each_head_is_read_as_gunicorn_reads_it(line: bytes, head: bytes) -> None:
    body = b"3\r\nabc\r\n0\r\n\r\n" if b"chunked" in head else b"abc" if b"3" in head else b""
    raw = line + b"\r\n" + head + b"\r\n" + body

    assert read_all(PlainParser, create, raw) == read_all(RequestParser, wsgi.create, raw)


def test_a_head_that_comes_in_parts_is_whole(wires: tuple[socket.socket, socket.socket]) -> None:
    client, server = wires
    parser = PlainParser(Config(), server, ("127.0.0.1", 1))
    for whole in (b"GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n",) * 2:
        for size in (1, 5, len(whole) - 2):
            client.sendall(whole[:size])
            parser.unreader.buf.seek(0, 2)
            parser.unreader.buf.write(server.recv(size))
            client.sendall(whole[size:])
            request = next(parser)
            assert (request.path, request.query, request.headers) == ("/a", "b", [("HOST", "h")])


def test_a_line_over_the_limit_is_refused(wires: tuple[socket.socket, socket.socket]) -> None:
    config = Config()
    config.set("limit_request_line", 100)
    parser = PlainParser(config, wires[1], ("127.0.0.1", 1))
    wires[0].sendall(b"GET /" + b"a" * 100 + b" HTTP/1.1\r\nHost: h\r\n\r\n")
    with pytest.raises(ParseException):
        next(parser)


def test_an_environment_is_nobody_elses(wires: tuple[socket.socket, socket.socket]) -> None:
    parser = PlainParser(Config(), wires[1], ("127.0.0.1", 1))
    made = []
    for path in (b"/a", b"/b%20c", b"/d"):
        wires[0].sendall(b"GET " + path + b" HTTP/1.1\r\nHost: h\r\n\r\n")
        request = next(parser)
        _, environ = create(request, wires[1], ("127.0.0.1", 1), ("127.0.0.1", 80), parser.cfg)
        environ["platform.secret"] = path
        made.append(environ)

    assert [each["PATH_INFO"] for each in made] == ["/a", "/b c", "/d"]
    assert [each["platform.secret"] for each in made] == [b"/a", b"/b%20c", b"/d"]
    assert made[0]["wsgi.input"] is not made[1]["wsgi.input"]


@pytest.fixture
def wires() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def test_the_rest_of_a_body_is_read_before_the_next_request(
    wires: tuple[socket.socket, socket.socket],
) -> None:
    client, server = wires
    parser = PlainParser(Config(), server, ("127.0.0.1", 1))
    client.sendall(
        b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
        b"POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n12345"
        b"POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n67890"
        b"POST /d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
        b"GET /e HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    seen = []
    for request in parser:
        seen.append(request.path)
        if request.path == "/b":
            assert request.body.read(3) == b"123"
        if request.path == "/c":
            assert request.body.read() == b"67890"
        assert parser.finish_body()
        if request.path == "/e":
            break
    assert seen == ["/a", "/b", "/c", "/d", "/e"]


def parsed(wires: tuple[socket.socket, socket.socket], *, trusted: str = "") -> Any:
    """A parser that trusts the forwarding headers of the addresses ``trusted``."""
    config = Config()
    config.set("forwarded_allow_ips", trusted)
    return PlainParser(config, wires[1], ("127.0.0.1", 1))


def heads(parser: Any, wires: tuple[socket.socket, socket.socket], *headers: bytes) -> list[Any]:
    """What the parser has as headers of requests of one connection."""
    found = []
    for lines in headers:
        wires[0].sendall(b"GET / HTTP/1.1\r\n" + lines + b"\r\n\r\n")
        found.append(next(parser).headers)
    return found


def test_headers_that_come_again_are_those_of_this_request(
    wires: tuple[socket.socket, socket.socket],
) -> None:
    one, other = b"Host: h\r\nX-Who:  a ", b"Host: h\r\nX-Who: b"
    found = heads(parsed(wires), wires, one, one, other, one, b"Host: h")
    a, b = [("HOST", "h"), ("X-WHO", "a")], [("HOST", "h"), ("X-WHO", "b")]
    assert found == [a, a, b, a, [("HOST", "h")]]
    assert found[0] is not found[1]  # who changes his own does not change those of the next


@pytest.mark.parametrize(("trusted", "scheme"), [("127.0.0.1", "https"), ("", "http")])
def test_a_trusted_proxy_and_nobody_else_may_say_that_a_connection_is_encrypted(
    wires: tuple[socket.socket, socket.socket], trusted: str, scheme: str
) -> None:
    parser = parsed(wires, trusted=trusted)
    for _ in range(2):
        wires[0].sendall(b"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-Proto: https\r\n\r\n")
        assert next(parser).scheme == scheme


def test_whoever_asks_before_sending_is_answered_each_time(
    wires: tuple[socket.socket, socket.socket],
) -> None:
    parser = parsed(wires)
    for _ in range(2):
        wires[0].sendall(b"GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n")
        assert next(parser)._expected_100_continue


@pytest.mark.parametrize("bad", [b"Host: h\r\nHost: h", b"Ho st: h", b"X: a\0b", b"Host: h\r\n a"])
def test_a_wrong_head_is_refused_after_a_good_one_and_again(
    wires: tuple[socket.socket, socket.socket], bad: bytes
) -> None:
    heads(parsed(wires), wires, b"Host: h")
    for _ in range(2):
        wires[0].sendall(b"GET / HTTP/1.1\r\n" + bad + b"\r\n\r\n")
        with pytest.raises(ParseException):
            next(parsed(wires))


def test_a_request_of_before_hosts_needs_none() -> None:
    raw = b"POST /a HTTP/1.0\r\n\r\n"

    assert read_all(PlainParser, create, raw) == read_all(RequestParser, wsgi.create, raw)


@pytest.mark.parametrize("head", [b"", b"Accept: a", b"Host: a b", b"Host: a/b", b"Host: a:x"])
def test_a_head_that_does_not_say_whom_it_is_for_is_refused(
    wires: tuple[socket.socket, socket.socket], head: bytes
) -> None:
    for line in (b"GET / HTTP/1.1", b"GET /%41//b HTTP/1.1"):  # read here, and by gunicorn
        wires[0].sendall(line + b"\r\n" + head + b"\r\n" * (2 if head else 1))
        with pytest.raises(ParseException):
            next(parsed(wires))


@pytest.mark.parametrize("host", [b"", b" h:80", b" [::1]:80"])
def test_a_host_is_a_name_or_an_address(
    wires: tuple[socket.socket, socket.socket], host: bytes
) -> None:
    (found,) = heads(parsed(wires), wires, b"Host:" + host)
    assert found == [("HOST", host.decode().strip())]


def test_a_request_of_before_hosts_leaves_nothing_for_those_that_need_one(
    wires: tuple[socket.socket, socket.socket],
) -> None:
    wires[0].sendall(b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    parser = parsed(wires)
    assert next(parser).version == (1, 0)
    wires[0].sendall(b"GET /a HTTP/1.1\r\nConnection: keep-alive\r\n\r\n")
    with pytest.raises(ParseException):
        next(parser)
