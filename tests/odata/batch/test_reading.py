"""Batches of any bytes are read, or refused with a place; nothing else happens to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from app.errors import ApiError, TooLargeError, ValidationError
from app.odata.batch.json_form import read_json_batch
from app.odata.batch.multipart import read_multipart

KIND = "multipart/mixed; boundary=b"
PIECES = st.sampled_from(
    [
        b"--b", b"--b--", b"--c", b"--c--", b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b"\xff",
        b":",
        b"Content-Type: application/http", b"Content-Type: multipart/mixed; boundary=c",
        b"Content-Type: multipart/mixed; boundary=b", b"Content-ID: 1", b"Content-Length: 3",
        b"Transfer-Encoding: chunked", b"GET Clients HTTP/1.1", b"POST Clients", b"GET ", b"{}",
    ]
)  # fmt: skip
MEMBERS = st.sampled_from(
    ["id", "method", "url", "atomicityGroup", "dependsOn", "if", "headers", "body", "@note", "x"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from(["1", "2", "g", "get", "post", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(PIECES | st.binary(max_size=4), max_size=30))
def test_any_bytes_are_units_or_refused(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    try:
        units = read_multipart(body, KIND, 10)
    except ApiError as error:
        assert error.status in (400, 413)
        assert error.position is None or 0 <= error.position <= len(body)
    else:
        for unit in units:
            for part in unit.parts:
                assert part.method.isalpha() and part.url


@settings(deadline=None)
@given(st.lists(st.dictionaries(MEMBERS, VALUES, max_size=6) | VALUES, max_size=5))
def test_any_json_is_units_or_refused(requests: Any) -> None:
    try:
        units = read_json_batch({"requests": requests}, 4)
    except ApiError as error:
        assert error.status in (400, 413)
    else:
        ids = [part.id for unit in units for part in unit.parts]
        assert len(ids) == len(set(ids)) == len(requests)


def test_a_json_batch_has_requests_and_annotations_only() -> None:
    batch = {"requests": [], "@example.note": 1}
    assert read_json_batch(batch, 5) == []
    with pytest.raises(ValidationError) as caught:
        read_json_batch(batch | {"request": [], "continueOnError": True}, 5)
    assert [detail.field for detail in caught.value.details] == ["request", "continueOnError"]


def test_null_in_a_json_request_is_nothing() -> None:
    request = {"id": "1", "method": "get", "url": "Clients"}
    nothing = dict.fromkeys(("atomicityGroup", "dependsOn", "if", "headers", "body"))
    ((part,),) = (unit.parts for unit in read_json_batch({"requests": [request | nothing]}, 10))
    assert (part.depends_on, part.condition, part.body) == ((), None, b"")
    assert not part.headers


def test_what_was_written_is_read() -> None:
    body = (
        b"preamble\r\n--b\r\nContent-Type: multipart/mixed; boundary=\"c d\"\r\n\r\n"
        b"--c d\r\nContent-Type: application/http\r\nContent-ID: x\r\n\r\n"
        b"POST Clients?$select=name HTTP/1.1\r\nContent-Type: application/json\r\n"
        b"Accept: a\r\nAccept: b\r\n\r\n\r\n{\"name\": \"--b\"}\r\n\r\n--c d--\r\n"
        b"--b\r\nContent-Type: application/http; msgtype=request\r\n\r\n"
        b"PUT Clients(1)/name/$value HTTP/1.1\r\nContent-Type: text/plain\r\n"
        b"Content-Length: 3\r\n\r\nabc\r\n\r\n--b--\r\nepilogue"
    )  # fmt: skip
    first, second = read_multipart(body, KIND, 10)
    (part,) = first.parts
    assert (first.group, second.group) == ("", None)
    assert (part.method, part.url, part.id) == ("POST", "Clients?$select=name", "x")
    assert json.loads(part.body) == {"name": "--b"}
    assert part.headers.getlist("Accept") == ["a", "b"]
    assert second.parts[0].body == b"abc"


@pytest.mark.parametrize(
    ("line", "url"),
    [
        (b"GET Clients?$filter=name eq 'a b' HTTP/1.1", "Clients?$filter=name%20eq%20'a%20b'"),
        ("GET Clients?$filter=name eq 'Ä'".encode(), "Clients?$filter=name%20eq%20'%C3%84'"),
        (b"get Clients(1)", "Clients(1)"),
        (b"GET   Clients?a=b%20c  HTTP/1.0 ", "Clients?a=b%20c"),
        (b"GET Clients?a=HTTP/1.1", "Clients?a=HTTP/1.1"),
    ],
)
def test_urls_are_taken_as_clients_write_them(line: bytes, url: str) -> None:
    body = b"--b\r\nContent-Type: application/http\r\n\r\n" + line + b"\r\n\r\n\r\n--b--"
    (unit,) = read_multipart(body, KIND, 10)
    assert (unit.parts[0].method, unit.parts[0].url) == ("GET", url)


@pytest.mark.parametrize("body", [b"--b--", b"preamble\r\n--b--\r\n"])
def test_a_batch_has_a_part(body: bytes) -> None:
    """RFC 2046, 5.1.1: between the first delimiter and the last."""
    with pytest.raises(ValidationError) as caught:
        read_multipart(body, KIND, 10)
    (detail,) = caught.value.details
    assert detail.message == f"The batch is malformed at byte {len(body)}: it has no part."
    assert caught.value.position == len(body)


@pytest.mark.parametrize("count", [11, 10_000])
def test_too_many_are_refused_by_counting_lines(count: int) -> None:
    with pytest.raises(TooLargeError):
        read_multipart(b"--b\r\nx\r\n" * count + b"--b--", KIND, 10)


@pytest.mark.parametrize(
    "body",
    [
        b"--b\r\nContent-Type: application/http\r\nA" + b" " * 100_000 + b"\0\r\n--b--",
        b"--b\r\n" + b"A: b\r\n" * 20_000 + b"--b--",
    ],
)
def test_long_nonsense_is_refused_in_one_pass(body: bytes) -> None:
    with pytest.raises(ValidationError) as caught:
        read_multipart(body, KIND, 10)
    assert caught.value.position is not None


def test_a_long_request_line_of_nonsense_is_its_own_problem() -> None:
    head = b"--b\r\nContent-Type: application/http\r\n\r\n"
    (unit,) = read_multipart(head + b"GET" + b" x" * 50_000 + b"\0\r\n--b--", KIND, 10)
    (part,) = unit.parts
    assert part.problem is not None and part.problem.position == len(head)
