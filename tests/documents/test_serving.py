"""Downloading: all of a file, a part of it, or the news that it is as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.blobs import BlobStore, blobs
from app.extensions import Model
from tests.contract.conftest import Api
from tests.documents.conftest import PDF, TEXT, Files

DIGEST = hashlib.sha256(TEXT).hexdigest()


def downloads(files: Files, key: int) -> int:
    return int(files.api.get(f"/odata/Documents({key})").json["downloadCount"])


@pytest.mark.requirement("SEC-70")
def test_a_file_is_given_out_to_be_saved(files: Files) -> None:
    key = files.document(b"<html><script>alert(1)</script>", "pa\u0121e.html")
    answer = files.download(key)
    headers = answer.headers
    assert answer.status_code == 200
    assert headers["Content-Type"] == "text/html"
    assert headers["Content-Disposition"] == (
        "attachment; filename=\"page.html\"; filename*=UTF-8''pa%C4%A1e.html"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert headers["Cache-Control"] == "private, no-cache"
    assert headers["Accept-Ranges"] == "bytes"
    assert int(headers["Content-Length"]) == len(answer.data)


RANGES = [
    ("bytes=0-3", 206, (0, 4)), ("bytes=4-", 206, (4, len(TEXT))), ("bytes=-5", 206, (-5, None)),
    ("bytes=40-999", 206, (40, len(TEXT))), (f"bytes={len(TEXT) - 1}-", 206, (-1, None)),
    ("bytes=-999", 206, (0, None)),
    (f"bytes={len(TEXT)}-", 416, None), ("bytes=99999999999999999999-", 416, None),
    ("bytes=0-1,3-4", 200, (0, None)), ("items=0-3", 200, (0, None)), ("bytes=5-2", 200, (0, None)),
    ("bytes=x-y", 200, (0, None)), ("0-3", 200, (0, None)), ("", 200, (0, None)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status", "span"), RANGES, ids=[case[0] for case in RANGES])
def test_a_part_is_given_out(
    files: Files, text: str, status: int, span: tuple[int, int | None] | None
) -> None:
    key = files.document()
    answer = files.download(key, Range=text)
    assert answer.status_code == status, answer.text
    if span is None:
        assert answer.headers["Content-Range"] == f"bytes */{len(TEXT)}"
        assert answer.json["error"]["code"] == "RANGE_NOT_SATISFIABLE"
        return
    assert answer.data == TEXT[span[0] : span[1]]
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    if status == 206:
        first = TEXT.index(answer.data)
        expected = f"bytes {first}-{first + len(answer.data) - 1}/{len(TEXT)}"
        assert answer.headers["Content-Range"] == expected


def test_a_part_belongs_to_the_file_it_was_begun_from(files: Files) -> None:
    key = files.document()
    first = files.download(key)
    for condition, status in (
        (f'"{DIGEST}"', 206), ('"other"', 200), (f'W/"{DIGEST}"', 200),
        (first.headers["Last-Modified"], 206), ("Sat, 01 Jan 2000 00:00:00 GMT", 200),
    ):  # fmt: skip
        answer = files.download(key, Range="bytes=4-", If_Range=condition)
        assert answer.status_code == status, condition


def test_what_is_known_is_not_sent_again(files: Files) -> None:
    key = files.document()
    first = files.download(key)
    assert first.headers["ETag"] == f'"{DIGEST}"'
    since = first.headers["Last-Modified"]
    for headers, status in (
        ({"If_None_Match": f'"{DIGEST}"'}, 304), ({"If_None_Match": f'W/"{DIGEST}"'}, 304),
        ({"If_None_Match": '"other"'}, 200), ({"If_None_Match": "*"}, 304),
        ({"If_Modified_Since": since}, 304),
        ({"If_Modified_Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 200),
        ({"If_Modified_Since": since, "If_None_Match": '"other"'}, 200),
        ({"If_Match": '"other"'}, 412), ({"If_Match": f'"{DIGEST}"'}, 200),
        ({"If_Match": "*"}, 200),
    ):  # fmt: skip
        answer = files.download(key, **headers)
        assert answer.status_code == status, headers
        if status == 304:
            assert answer.data == b""
            assert answer.headers["ETag"] == f'"{DIGEST}"'


def test_a_download_is_counted_once_and_told(files: Files, session: Session) -> None:
    key = files.document()
    etag = files.api.get(f"/odata/Documents({key})").headers["ETag"]
    files.download(key)
    for headers in (
        {"Range": "bytes=5-"},
        {"If_None_Match": f'"{DIGEST}"'},
        {"Range": "bytes=99-"},
    ):
        files.download(key, **headers)
    head = files.api.client.head(f"/api/documents/{key}/download", headers=files.api.headers)
    assert (head.status_code, head.data) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(TEXT)
    assert downloads(files, key) == 1
    assert files.api.get(f"/odata/Documents({key})").headers["ETag"] == etag
    events = Model.metadata.tables["events"]
    statement = select(events.c.type).where(events.c.type == "document.downloaded")
    assert len(session.execute(statement).all()) == 1


@pytest.mark.parametrize("version", ["0", "-1", "x", "99999999999"])
def test_a_version_is_a_number(files: Files, version: str) -> None:
    answer = files.download(files.document(), f"?version={version}")
    assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (400, "version")


def test_who_may_not_read_finds_nothing(files: Files, sign_in: Callable[..., Api]) -> None:
    key = files.document()
    assert Files(sign_in("Viewer")).download(key).status_code == 200
    assert files.download(987_654).status_code == 404
    files.api.delete(f"/odata/Documents({key})")
    assert files.download(key).status_code == 404


def test_what_is_two_things_is_quarantined_until_it_is_released(
    files: Files, sign_in: Callable[..., Api], session: Session
) -> None:
    trick = files.upload(b"GIF89a" + bytes(100) + b"%PDF-1.4" + bytes(50), "cat.gif")
    assert (trick.status_code, trick.json["status"]) == (201, "Quarantined")
    key = trick.json["id"]
    answer = files.download(key)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")
    address = f"/odata/Documents({key})"
    reasons = files.api.get(f"{address}/Versions").json["value"]
    assert reasons[0]["quarantineReason"] == "image/gif that is a PDF as well"
    manager = sign_in("Manager")
    assert manager.patch(address, {"status": "Active"}).status_code == 403
    assert files.api.patch(address, {"status": "Active"}).status_code == 200
    assert files.download(key).status_code == 200
    events = Model.metadata.tables["events"]
    statement = select(events.c.type).where(events.c.type == "document.quarantined")
    assert len(session.execute(statement).all()) == 1


@pytest.mark.only_on("sqlite")
def test_a_file_that_the_store_has_lost_is_said_so(
    app: Flask, files: Files, session: Session
) -> None:
    key = files.document()
    store: BlobStore = blobs.of(app)
    versions: Any = Model.metadata.tables["document_versions"]
    store.delete(session.execute(select(versions.c.blob_key)).scalar_one())
    answer = files.download(key)
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert downloads(files, key) == 0


@pytest.mark.requirement("OUT-09")
@pytest.mark.only_on("sqlite")
def test_without_the_store_everything_else_goes_on(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    files = Files(sign_in("Admin", make_app(STORAGE_URL="s3://bucket/files")))
    answer = files.upload()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert files.api.get("/odata/Documents/$count").text == "0"
    assert files.api.get("/readyz").json["checks"]["storage"] == "away"


@pytest.mark.only_on("sqlite")
def test_s3_gives_files_out_through_the_server_or_by_itself(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], s3_url: str
) -> None:
    through = Files(sign_in("Admin", make_app(STORAGE_URL=s3_url)))
    key = through.document(PDF, "\u00fcber.pdf")
    answer = through.download(key, Range="bytes=1-3")
    assert (answer.status_code, answer.data) == (206, PDF[1:4])
    direct: FlaskClient = make_app(STORAGE_URL=s3_url, STORAGE_REDIRECT=True).test_client()
    answer = direct.get(f"/api/documents/{key}/download", headers=through.api.headers)
    assert answer.status_code == 302
    found = requests.get(answer.headers["Location"], timeout=5)
    assert found.content == PDF
    assert found.headers["Content-Type"] == "application/pdf"
    assert "filename*=UTF-8''%C3%BCber.pdf" in found.headers["Content-Disposition"]
