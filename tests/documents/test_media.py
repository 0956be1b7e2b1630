"""The bytes of documents through OData: ``Documents(1)/$value``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.contract.conftest import Api
from tests.documents.conftest import PDF, TEXT, Files

SET = "/odata/Documents"


def send(files: Files, method: str, path: str, body: bytes, **headers: str) -> TestResponse:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return files.api.client.open(
        path, method=method, data=body, headers={**files.api.headers, **named}
    )


def test_bytes_are_read_as_a_download_gives_them(files: Files) -> None:
    key = files.document()
    answer = files.api.get(f"{SET}({key})/$value")
    assert (answer.status_code, answer.data) == (200, TEXT)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="fox.txt"'
    part = files.api.get(f"{SET}({key})/$value", headers={"Range": "bytes=4-8"})
    assert (part.status_code, part.data) == (206, TEXT[4:9])
    known = {"If-None-Match": answer.headers["ETag"]}
    assert files.api.get(f"{SET}({key})/$value", headers=known).status_code == 304
    assert files.api.get(f"{SET}(987654)/$value").status_code == 404


def test_bytes_are_replaced(files: Files) -> None:
    key = files.api.post(SET, {"name": "offer.pdf"}).json["id"]
    path = f"{SET}({key})/$value"
    assert files.api.get(path).status_code == 409
    first = send(files, "PUT", path, PDF, Content_Type="application/pdf")
    assert first.status_code == 204, first.text
    shown = files.api.get(f"{SET}({key})").json
    assert (shown["status"], shown["version"], shown["size"]) == ("Active", 1, len(PDF))
    stale = send(files, "PUT", path, PDF, Content_Type="application/pdf", If_Match='W/"0"')
    assert stale.status_code == 412
    wrong = send(files, "PUT", path, b"MZ\x90\0", Content_Type="application/pdf")
    assert wrong.status_code == 415
    assert files.api.delete(path).status_code == 405
    assert files.api.get(path).data == PDF


def test_a_document_is_made_of_bytes(files: Files) -> None:
    made = send(files, "POST", SET, PDF, Content_Type="application/pdf", Slug="%C3%BCber.pdf")
    assert made.status_code == 201, made.text
    body = made.json
    assert (body["name"], body["status"]) == ("\u00fcber.pdf", "Active")
    unnamed = send(files, "POST", SET, TEXT, Content_Type="text/plain")
    assert unnamed.json["fileName"] == "document"


def test_bytes_come_in_a_batch_too(files: Files) -> None:
    key = files.document()
    batch = {
        "requests": [
            {"id": "1", "method": "GET", "url": f"Documents({key})/$value",
             "headers": {"Range": "bytes=4-8"}},
            {"id": "0", "method": "PATCH", "url": f"Documents({key})", "atomicityGroup": "g",
             "headers": {"Content-Type": "application/json"}, "body": {"folder": "kept"}},
            {"id": "2", "method": "PUT", "atomicityGroup": "g", "url": f"Documents({key})/$value",
             "headers": {"Content-Type": "text/plain"}, "body": "QW5vdGhlcg"},
        ]
    }  # fmt: skip
    answer = files.api.post("/odata/$batch", batch)
    assert answer.status_code == 200, answer.text
    statuses = [part["status"] for part in answer.json["responses"]]
    assert statuses == [206, 200, 204], answer.text
    shown = files.api.get(f"/odata/Documents({key})").json
    assert (shown["version"], shown["folder"]) == (2, "kept")
    assert files.api.get(f"/odata/Documents({key})/$value").data != TEXT


@pytest.mark.only_on("sqlite")
def test_bytes_may_be_more_than_json(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api]
) -> None:
    files = Files(sign_in("Admin", make_app(MAX_UPLOAD_MB=3, STORAGE_URL="memory://")))
    key = files.api.post(SET, {"name": "a.txt"}).json["id"]
    for content, status in ((b"a" * 2_500_000, 204), (b"a" * (3 * 1024 * 1024 + 1), 413)):
        answer = send(files, "PUT", f"{SET}({key})/$value", content, Content_Type="text/plain")
        assert answer.status_code == status
    large = b'{"name": "' + b"a" * 2_500_000 + b'"}'
    assert send(files, "POST", SET, large, Content_Type="application/json").status_code == 413
