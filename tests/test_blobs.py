"""The blob store behaves the same in files, in memory and in S3."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests

from app.blobs import CLIENT, PART_BYTES, RETRIES, BlobMissingError, BlobStore, new_key
from app.config import ConfigError
from app.errors import ServiceUnavailableError, TooLargeError

KINDS = ("file", "memory", "s3")
PIECE = bytes(range(256)) * 1024


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    if request.param == "s3":
        return BlobStore(request.getfixturevalue("s3_url"))
    return BlobStore(f"file://{tmp_path / 'a folder'}" if request.param == "file" else "memory://")


def pieces(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield PIECE


@pytest.mark.parametrize("count", [0, 1, 20, 70], ids=["empty", "small", "one part", "parts"])
def test_what_was_put_is_read(store: BlobStore, count: int) -> None:
    key = new_key("documents")
    blob = store.put(key, pieces(count))
    assert (blob.key, blob.size) == (key, count * len(PIECE))
    assert blob.sha256 == hashlib.sha256(PIECE * count).hexdigest()
    assert store.read(key) == PIECE * count


@pytest.mark.parametrize("length", [PART_BYTES - 1, PART_BYTES, PART_BYTES + 1])
def test_parts_join_where_they_meet(store: BlobStore, length: int) -> None:
    content = os.urandom(length)
    key = new_key("documents")
    assert store.put(key, content).size == length
    assert store.read(key) == content


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (5, 300), (100, None), (262_140, 262_150), (7, 7)]
)
def test_a_range_is_read(store: BlobStore, start: int, end: int | None) -> None:
    key = new_key("documents")
    store.put(key, PIECE * 2)
    assert b"".join(store.stream(key, start, end)) == (PIECE * 2)[start:end]


@pytest.mark.parametrize("count", [1, 70], ids=["small", "parts"])
def test_what_breaks_off_leaves_nothing(store: BlobStore, count: int, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield from pieces(count)
        raise ConnectionResetError("gone")

    key = new_key("documents")
    with pytest.raises(ConnectionResetError):
        store.put(key, broken())
    with pytest.raises(BlobMissingError):
        store.read(key)
    assert key not in {entry.key for entry in store.entries()}
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("count", [2, 70], ids=["small", "parts"])
def test_too_large_leaves_nothing(store: BlobStore, count: int) -> None:
    key, limit = new_key("documents"), count * len(PIECE)
    with pytest.raises(TooLargeError, match=str(limit - 1)):
        store.put(key, pieces(count), maximum=limit - 1)
    with pytest.raises(BlobMissingError):
        store.read(key)
    assert store.put(key, pieces(count), maximum=limit).size == limit


def test_blobs_are_listed_with_their_age_and_deleted(store: BlobStore) -> None:
    keys = {new_key("documents") for _ in range(3)}
    other = new_key("invoices")
    for key in (*keys, other):
        store.put(key, b"abc")
    found = {entry.key: entry for entry in store.entries("documents")}
    assert keys <= set(found)
    assert other not in found
    for key in keys:
        assert found[key].size == 3
        assert abs(datetime.now(UTC) - found[key].modified_at) < timedelta(minutes=1)
        store.delete(key)
        store.delete(key)  # again is no error
    assert not keys & {entry.key for entry in store.entries()}


@pytest.mark.parametrize(
    "key", ["../../etc/passwd", "/etc/passwd", "a//b", "a/../b", "", "a\0b", "A", "a" * 101, "a#1"]
)
def test_only_keys_of_ours_are_keys(store: BlobStore, key: str) -> None:
    for use in (store.read, store.delete, lambda name: store.put(name, b"x")):
        with pytest.raises(ValueError, match="not a key"):
            use(key)


def test_s3_serves_a_blob_for_a_while_with_its_headers(s3_url: str) -> None:
    store, key = BlobStore(s3_url), new_key("documents")
    headers = {"Content-Type": "text/csv", "Content-Disposition": "attachment; filename=a.csv"}
    store.put(key, b"a,b", headers=headers)
    address = store.sign(key, 60)
    assert address is not None
    answer = requests.get(address, timeout=5)
    assert (answer.status_code, answer.content) == (200, b"a,b")
    assert {name: answer.headers[name] for name in headers} == headers


def test_other_stores_have_no_address_of_their_own(tmp_path: Path) -> None:
    assert BlobStore(f"file://{tmp_path}").sign(new_key("documents"), 60) is None


def test_a_store_that_is_away_is_said_so_in_seconds(
    monkeypatch: pytest.MonkeyPatch, s3_url: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    store = BlobStore("s3://bucket/files")
    for use in (lambda: store.read("a"), lambda: store.put("a", b"x"), lambda: store.delete("a")):
        with pytest.raises(ServiceUnavailableError) as refused:
            use()
        assert refused.value.headers == {"Retry-After": "5"}
        assert "127.0.0.1" not in refused.value.message
    assert store.check() == "away"


@pytest.mark.parametrize("body", [b"", b"ten bytes."], ids=["nothing", "a beginning"])
def test_a_store_that_falls_silent_is_said_so_before_an_answer_begins(
    monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    head = b'HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: "x"\r\n'
    head += b"Last-Modified: Sun, 01 Nov 2026 12:00:00 GMT\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, "x")
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setitem(CLIENT, "read_timeout", timedelta(seconds=1))
        monkeypatch.setitem(RETRIES, "retry_timeout", timedelta(milliseconds=100))
        with ThreadPoolExecutor(1) as other:
            asking = other.submit(BlobStore("s3://bucket").stream, new_key("documents"))
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head + body)
                with pytest.raises(ServiceUnavailableError):
                    asking.result(30)


def test_a_store_that_answers_is_ready(store: BlobStore) -> None:
    assert store.check() == "ok"


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = BlobStore(f"file://{tmp_path / 'file' / 'below'}")
    assert store.check() == "not writable"
    with pytest.raises(ServiceUnavailableError):
        store.put("a", b"x")


def test_unfinished_writes_are_swept_when_they_are_old(tmp_path: Path) -> None:
    store = BlobStore(f"file://{tmp_path}")
    store.put("documents/aa/finished", b"x")
    left = tmp_path / "documents" / "aa" / "b#1"
    left.write_bytes(b"half")
    assert [entry.key for entry in store.entries()] == ["documents/aa/finished"]
    assert store.discard_unfinished(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert store.discard_unfinished(datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert not left.exists()
    assert store.read("documents/aa/finished") == b"x"


@pytest.mark.parametrize("url", ["ftp://host/x", "files", "http://bucket"])
def test_an_unknown_kind_of_store_stops_the_start(url: str) -> None:
    with pytest.raises(ConfigError, match="STORAGE_URL"):
        BlobStore(url)
