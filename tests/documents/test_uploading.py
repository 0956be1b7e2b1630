"""Uploading: what becomes of a form, and what is left behind when it fails."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.blobs import BlobStore, blobs
from app.extensions import Model
from tests.contract.conftest import Api
from tests.documents.conftest import PDF, TEXT, Files, encoded


def stored_keys(app: Flask) -> set[str]:
    with app.app_context():
        return {entry.key for entry in blobs.current.entries("documents")}


@pytest.fixture
def before(app: Flask) -> set[str]:
    """What the store has before the test."""
    return stored_keys(app)


def event_types(session: Session) -> list[str]:
    events = Model.metadata.tables["events"]
    statement = select(events.c.type).where(events.c.entity == "Document").order_by(events.c.id)
    return list(session.execute(statement).scalars())


def test_a_form_makes_a_document(files: Files, session: Session) -> None:
    client_id = files.api.post("/odata/Clients", {"name": "Acme"}).json["id"]
    answer = files.upload(
        PDF, "Offer 7.pdf", description="The offer", category="Contract", folder="2026/offers",
        clientId=client_id, entityType="Client", entityId=client_id, tags="signed, urgent",
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    body = answer.json
    assert answer.headers["Location"] == f"/odata/Documents({body['id']})"
    expected = {
        "name": "Offer 7.pdf", "description": "The offer", "category": "Contract",
        "folder": "2026/offers", "clientId": client_id, "entityType": "Client",
        "entityId": client_id, "tags": ["signed", "urgent"], "fileName": "Offer 7.pdf",
        "contentType": "application/pdf", "size": len(PDF), "version": 1, "status": "Active",
        "sha256": hashlib.sha256(PDF).hexdigest(),
        "downloadUrl": f"/api/v1/documents/{body['id']}/download",
    }  # fmt: skip
    assert {name: body[name] for name in expected} == expected
    assert files.api.get(body["downloadUrl"]).data == PDF
    assert event_types(session) == [
        "document.uploaded", "document.updated", "document.downloaded",
    ]  # fmt: skip
    shown = files.api.get(f"/odata/Documents({body['id']})?$expand=Versions").json
    assert [file["number"] for file in shown["Versions"]] == [1]


def test_options_may_come_before_or_after_the_file(files: Files) -> None:
    for order in (("file", "name"), ("name", "file")):
        form = [(part, (TEXT, "a.txt") if part == "file" else "Renamed") for part in order]
        boundary, body = encoded(form)
        answer = files.api.client.post(
            "/api/documents/upload", data=body, headers=files.api.headers,
            content_type=f"multipart/form-data; boundary={boundary}",
        )  # fmt: skip
        assert (answer.status_code, answer.json["name"]) == (201, "Renamed")


def test_a_new_version_is_uploaded_into_the_document(files: Files, session: Session) -> None:
    key = files.document()
    answer = files.upload(PDF, "fox.pdf", documentId=key, category="Report")
    assert (answer.status_code, answer.json["version"]) == (201, 2)
    assert (answer.json["category"], answer.json["fileName"]) == ("Report", "fox.pdf")
    assert files.download(key).data == PDF
    assert files.download(key, "?version=1").data == TEXT
    assert files.download(key, "?version=3").status_code == 404
    assert "document.version_added" in event_types(session)


def test_raw_bytes_fill_a_document_that_waits(files: Files) -> None:
    key = files.api.post("/odata/Documents", {"name": "offer.pdf"}).json["id"]
    assert files.download(key).json["error"]["code"] == "INVALID_STATE"
    answer = files.api.client.put(
        f"/api/documents/{key}/content", data=PDF, headers=files.api.headers,
        content_type="application/pdf",
    )  # fmt: skip
    assert (answer.status_code, answer.json["status"]) == (200, "Active"), answer.text
    assert answer.json["fileName"] == "offer.pdf"
    again = files.api.client.put(
        f"/api/documents/{key}/content?fileName=notes.json", data=b'{"a": 1}',
        headers=files.api.headers, content_type="application/json",
    )  # fmt: skip
    assert (again.json["version"], again.json["contentType"]) == (2, "application/json")


NAMES = {
    "../../etc/passwd": "passwd",
    "photo\u202etxt.nas": "phototxt.nas",
    "Ve\u0301lo.txt": "V\u00e9lo.txt",
    '  "quoted" & <b>.txt ': '"quoted" & <b>.txt',
    "\u65e5\u672c\u8a9e.txt": "\u65e5\u672c\u8a9e.txt",
    "dots...": "dots",
}


@pytest.mark.requirement("SEC-68")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_is_kept_but_never_a_path(files: Files, name: str) -> None:
    answer = files.upload(TEXT, name)
    assert answer.status_code == 201, answer.text
    assert answer.json["fileName"] == NAMES[name]


@pytest.mark.parametrize(
    "name",
    ["", "   ", "..", "../", "a\0.txt", "a\x1f.txt", "x" * 296 + ".txt", "\u202e", "a\x7f.txt"],
    ids=["none", "blanks", "dots", "folder", "NUL", "control", "long", "direction", "delete"],
)
def test_a_name_that_is_none_is_refused(
    app: Flask, files: Files, before: set[str], name: str
) -> None:
    boundary, body = encoded([("file", (TEXT, name))])
    answer = files.api.client.post(
        "/api/documents/upload", data=body, headers=files.api.headers,
        content_type=f"multipart/form-data; boundary={boundary}",
    )  # fmt: skip
    assert answer.status_code == 400
    assert answer.json["error"]["details"][0]["field"] in ("file", "")
    assert stored_keys(app) == before


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("unknown field", {"colour": "red"}, 400, "colour"),
    ("unknown category", {"category": "Poem"}, 400, "category"),
    ("client that is not there", {"clientId": "987654"}, 400, "clientId"),
    ("number that is none", {"clientId": "1e5"}, 400, "clientId"),
    ("half a link", {"entityType": "Client"}, 400, "entityId"),
    ("field twice", {"name": ["a", "b"]}, 400, "name"),
    ("too many tags", {"tags": ",".join(str(n) for n in range(21))}, 400, "tags"),
    ("document that is not there", {"documentId": "987654"}, 404, ""),
    ("NUL", {"name": "a\0b"}, 400, "name"),
]


@pytest.mark.parametrize(("fields", "status", "field"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])  # fmt: skip
def test_a_form_that_is_refused_leaves_nothing(
    app: Flask, files: Files, before: set[str], session: Session,
    fields: dict[str, Any], status: int, field: str,
) -> None:  # fmt: skip
    answer = files.upload(**fields)
    assert answer.status_code == status, answer.text
    details = answer.json["error"]["details"]
    assert not field or field in {detail["field"] for detail in details}
    assert stored_keys(app) == before
    assert session.execute(select(Model.metadata.tables["documents"].c.id)).all() == []


FORMS: list[tuple[list[tuple[str, Any]], dict[str, str]]] = [
    (
        [("colour", "red"), ("category", "Poem"), ("clientId", "987654"), ("name", "a\0b"),
         ("entityType", "Client"), ("tags", "[1")],
        {"colour": "is unknown", "category": "must be one of", "name": "has the character U+0000",
         "clientId": "there is no client 987654", "tags": "is no JSON list", "file": "is required",
         "entityId": "is required together with entityType"},
    ),
    (
        [("file", (TEXT, "a.txt")), ("clientId", "1e5"), ("entityType", "Ode"),
         ("folder", "f" * 300), ("name", "a"), ("name", "b"), ("tags", "x" * 51)],
        {"clientId": "must be a whole number", "entityType": "must be one of",
         "folder": "must have at most", "name": "is there twice", "tags": "must have labels"},
    ),
    (
        [("file", "text without a name"), ("category", "Poem")],
        {"file": "must be sent as a file", "category": "must be one of"},
    ),
    (
        [("file", (b"", "a.txt")), ("category", "Poem"), ("nope", "1")],
        {"file": "is empty", "category": "must be one of", "nope": "is unknown"},
    ),
    (
        [("documentId", "{document}"), ("category", "Poem"), ("clientId", "987654")],
        {"file": "is required", "category": "must be one of",
         "clientId": "there is no client 987654"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("form", "told"), FORMS, ids=range(len(FORMS)))
def test_all_that_is_wrong_with_a_form_is_told_at_once(
    app: Flask, files: Files, form: list[tuple[str, Any]], told: dict[str, str]
) -> None:
    document = files.api.post("/odata/Documents", {"name": "offer.pdf"}).json["id"]
    before = stored_keys(app)
    filled = [(name, str(document) if text == "{document}" else text) for name, text in form]
    boundary, body = encoded(filled)
    answer = files.api.client.post(
        "/api/documents/upload", data=body, headers=files.api.headers,
        content_type=f"multipart/form-data; boundary={boundary}",
    )  # fmt: skip
    assert answer.status_code == 400, answer.text
    details = {one["field"]: one["message"] for one in answer.json["error"]["details"]}
    assert details.keys() == told.keys(), details
    for name, message in told.items():
        assert details[name].startswith(message), details
    assert stored_keys(app) == before


@pytest.mark.requirement("SEC-71")
def test_an_empty_file_is_refused(app: Flask, files: Files, before: set[str]) -> None:
    answer = files.upload(b"")
    assert answer.status_code == 400
    assert answer.json["error"]["details"] == [{"field": "file", "message": "is empty"}]
    assert stored_keys(app) == before


@pytest.mark.requirement("SEC-71")
@pytest.mark.parametrize(
    ("form", "field"),
    [
        ([], "file"),
        ([("name", "a")], "file"),
        ([("upload", (TEXT, "a.txt"))], "upload"),
        ([("file", "text without a name")], "file"),
        ([("file", (b"a", "a.txt")), ("file", (b"b", "b.txt"))], "file"),
    ],
    ids=["nothing", "no file", "other field", "no file name", "two files"],
)
def test_a_form_has_one_file_in_its_field(
    app: Flask, files: Files, before: set[str], form: list[tuple[str, Any]], field: str
) -> None:
    boundary, body = encoded(form)
    answer = files.api.client.post(
        "/api/documents/upload", data=body, headers=files.api.headers,
        content_type=f"multipart/form-data; boundary={boundary}",
    )  # fmt: skip
    assert answer.status_code == 400, answer.text
    assert field in {detail["field"] for detail in answer.json["error"]["details"]}
    assert stored_keys(app) == before


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data", b"x", 400),
        ("multipart/form-data; boundary=a", b"no boundary here", 400),
        ("multipart/form-data; boundary=a", b"--a\r\nX: y\r\n\r\nz\r\n--a--\r\n", 400),
        ("multipart/form-data; boundary=a", b'--a\r\nContent-Disposition: form-data; name="file";'
         b' filename="a.txt"\r\n\r\nbreaks off', 400),
        ("multipart/form-data; boundary=a", b"--a\r\n" + b"X" * 600_000, 413),
        ("multipart/form-data; boundary=a",
         b'--a\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nz\r\n--a--\r\n', 400),
    ],
    ids=["json", "no boundary", "no parts", "nameless", "breaks off", "endless header", "latin"],
)  # fmt: skip
def test_what_is_no_form_is_refused(
    app: Flask, files: Files, before: set[str], content_type: str, body: bytes, status: int
) -> None:
    answer = files.api.client.post(
        "/api/documents/upload", data=body, content_type=content_type, headers=files.api.headers
    )
    assert answer.status_code == status, answer.text
    assert stored_keys(app) == before


@pytest.mark.requirement("SEC-117")
def test_thousands_of_parts_are_refused(app: Flask, files: Files, before: set[str]) -> None:
    boundary, body = encoded([(f"field{n}", "x") for n in range(3000)])
    answer = files.api.client.post(
        "/api/documents/upload", data=body, headers=files.api.headers,
        content_type=f"multipart/form-data; boundary={boundary}",
    )  # fmt: skip
    assert answer.status_code == 413


def test_an_upload_that_is_interrupted_leaves_nothing(
    app: Flask, files: Files, before: set[str]
) -> None:
    boundary, body = encoded([("file", (b"a" * 500_000, "a.txt"))])
    address = "/api/documents/upload"
    for path, content_type, sent in (
        (address, f"multipart/form-data; boundary={boundary}", body[:300_000]),
        ("/api/documents/{key}/content", "text/plain", b"b" * 100_000),
    ):
        key = files.api.post("/odata/Documents", {"name": "a.txt"}).json["id"]
        answer = files.api.client.open(
            path.format(key=key), method="POST" if path == address else "PUT",
            input_stream=io.BytesIO(sent), content_type=content_type,
            headers=files.api.headers, environ_overrides={"CONTENT_LENGTH": str(len(body))},
        )  # fmt: skip
        assert answer.status_code == 400, answer.text
        assert files.api.get(f"/odata/Documents({key})").json["status"] == "Pending"
    assert stored_keys(app) == before


@pytest.mark.requirement("SEC-116")
@pytest.mark.parametrize("announced", [True, False], ids=["Content-Length", "while it comes in"])
def test_a_file_over_the_limit_is_refused(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], announced: bool
) -> None:
    app = make_app(MAX_UPLOAD_MB=1, STORAGE_URL="memory://")
    files = Files(sign_in("Admin", app))
    limit = 1024 * 1024
    assert files.upload(b"a" * limit, "fits.txt").status_code == 201
    store: BlobStore = blobs.of(app)
    kept = [entry.size for entry in store.entries()]
    if announced:
        answer = files.upload(b"a" * (limit + 1_000_001), "large.txt")
    else:
        answer = files.upload(b"a" * (limit + 1), "large.txt")
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "FILE_TOO_LARGE")
    key = files.api.post("/odata/Documents", {"name": "a.txt"}).json["id"]
    raw = files.api.client.put(
        f"/api/documents/{key}/content", data=b"a" * (limit + 1), headers=files.api.headers
    )
    assert raw.status_code == 413
    assert [entry.size for entry in store.entries()] == kept


def test_the_same_key_uploads_once(app: Flask, files: Files) -> None:
    headers = {"Idempotency-Key": "upload-1"}
    first = files.upload(TEXT, "a.txt", headers, category="Report")
    again = files.upload(TEXT, "a.txt", headers, category="Report")
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")
    assert files.api.get("/odata/Documents/$count").text == "1"
    for content, name in ((TEXT + b"x", "a.txt"), (TEXT, "b.txt")):
        other = files.upload(content, name, headers, category="Report")
        assert other.json["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    # What was refused may be corrected and sent again.
    headers = {"Idempotency-Key": "upload-2"}
    assert files.upload(TEXT, "a.txt", headers, category="Poem").status_code == 400
    assert files.upload(TEXT, "a.txt", headers, category="Other").status_code == 201


def test_who_may_not_write_uploads_nothing(
    app: Flask, files: Files, before: set[str], sign_in: Callable[..., Api]
) -> None:
    key = files.document()
    stored = stored_keys(app)
    viewer, sales = Files(sign_in("Viewer")), Files(sign_in("Sales"))
    assert viewer.upload().status_code == 403
    assert sales.upload().status_code == 201
    # Another's document may be read, and not replaced.
    assert sales.upload(documentId=key).status_code == 403
    answer = sales.api.client.put(
        f"/api/documents/{key}/content", data=TEXT, headers=sales.api.headers
    )
    assert answer.status_code == 403
    assert len(stored_keys(app) - stored) == 1


@pytest.mark.parametrize("status", ["Archived", "Quarantined"])
def test_what_is_put_away_takes_no_file(
    files: Files, status: str, unit_of_work: Callable[..., Any]
) -> None:
    key = files.document()
    documents: Any = Model.metadata.tables["documents"]
    with unit_of_work() as session:
        session.execute(documents.update().values(status=status))
    assert files.upload(documentId=key).json["error"]["code"] == "INVALID_STATE"


def test_versions_that_come_at_the_same_time_are_all_kept(app: Flask, files: Files) -> None:
    key = files.document()

    def upload(number: int) -> int:
        mine = Files(Api(app.test_client(), files.api.headers))
        answer = mine.upload(f"file {number}".encode(), "a.txt", documentId=key)
        assert answer.status_code == 201, answer.text
        return int(answer.json["version"])

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(upload, range(12)))
    assert sorted(numbers) == list(range(2, 14))
    for number, made in enumerate(numbers):
        assert files.download(key, f"?version={made}").data == f"file {number}".encode()


def test_tags_are_a_list_in_any_way(files: Files) -> None:
    for tags in ("a, b", json.dumps(["a", "b"]), ["a", "b"]):
        assert files.upload(tags=tags).json["tags"] == ["a", "b"]


@pytest.mark.parametrize(
    "tags", ["[1", "[" * 60_000, "[NaN]", '["a\\u0000b"]', '["\\ud800"]', "[1e999]", "[{}]"]
)
def test_a_list_of_tags_that_is_none_is_refused(files: Files, tags: str) -> None:
    answer = files.upload(tags=tags)
    assert answer.status_code == 400, answer.text
    assert {detail["field"].partition("[")[0] for detail in answer.json["error"]["details"]} == {
        "tags"
    }
