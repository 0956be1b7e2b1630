"""Public links: who may make them, what they give, and when they stop."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.extensions import Model
from tests.conftest import KeepApp
from tests.contract.conftest import Api
from tests.documents.conftest import PDF, TEXT, Files

PASSWORD = "blue harbour 12"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "User-Agent": "Firefox"}


@pytest.fixture
def key(files: Files) -> int:
    """A document to share."""
    return files.document()


def share(files: Files, key: int, **terms: Any) -> dict[str, Any]:
    answer = files.api.post(f"/api/documents/{key}/share", terms or None)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def visit(files: Files, made: dict[str, Any], query: str = "", **headers: str) -> TestResponse:
    return files.api.client.get(f"/s/{made['token']}{query}", headers=headers)


def accesses(session: Session) -> list[str]:
    table = Model.metadata.tables["share_accesses"]
    session.rollback()
    return list(session.execute(select(table.c.action).order_by(table.c.id)).scalars())


def events(session: Session, name: str) -> int:
    table = Model.metadata.tables["events"]
    session.rollback()
    statement = select(func.count()).where(table.c.type == f"document.{name}")
    return int(session.execute(statement).scalar_one())


@pytest.mark.requirement("SEC-50")
def test_a_link_is_made_without_saying_anything(files: Files, key: int, session: Session) -> None:
    made = share(files, key)
    expected = {
        "documentId": key, "hasPassword": False, "maxDownloads": None, "downloadCount": 0,
        "recipientEmail": None, "note": None, "version": None, "revokedAt": None,
    }  # fmt: skip
    assert {name: made[name] for name in expected} == expected
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", made["token"])
    assert made["url"] == f"http://localhost/s/{made['token']}"
    ends = datetime.fromisoformat(made["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < ends <= timedelta(days=7)
    assert files.api.get(f"/odata/Documents({key})").json["isShared"] is True
    assert events(session, "shared") == 1
    table = Model.metadata.tables["document_shares"]
    stored = session.execute(select(table)).one()
    assert made["token"] not in str(stored)


def test_a_program_gets_the_bytes(files: Files, key: int, session: Session) -> None:
    made = share(files, key)
    answer = visit(files, made)
    assert (answer.status_code, answer.data) == (200, TEXT)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="fox.txt"'
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert visit(files, made, Range="bytes=4-8").data == TEXT[4:9]
    assert accesses(session) == ["downloaded"]
    assert (events(session, "share_accessed"), events(session, "downloaded")) == (1, 1)
    listed = files.api.get(f"/api/documents/{key}/shares").json
    assert (listed["total"], listed["items"][0]["downloadCount"]) == (1, 1)
    assert "token" not in listed["items"][0]
    assert files.api.get(f"/odata/Documents({key})").json["downloadCount"] == 1


def test_a_browser_gets_a_page_on_which_nothing_runs(files: Files, session: Session) -> None:
    key = files.document(TEXT, '<script>"x"&.txt')
    made = share(files, key, maxDownloads=3)
    answer = visit(files, made, **BROWSER)
    assert answer.mimetype == "text/html"
    assert "&lt;script&gt;&#34;x&#34;&amp;.txt" in answer.text
    assert "<script" not in answer.text
    assert "45 bytes" in answer.text
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy
    assert answer.headers["Cache-Control"] == "no-store"
    assert made["token"] not in answer.text
    assert visit(files, made, "?download=1", **BROWSER).data == TEXT
    assert accesses(session) == ["viewed", "downloaded"]
    assert "Downloads left</dt><dd>2" in visit(files, made, **BROWSER).text


def test_a_page_speaks_the_language_of_the_browser(files: Files, key: int) -> None:
    german = BROWSER | {"Accept-Language": "de-AT,en;q=0.5"}
    page = visit(files, share(files, key), **german).text
    assert "<dd>45 Bytes</dd>" in page and "<dd>Textdatei</dd>" in page
    large = share(files, files.document(PDF + b"%" * 1500, "b.pdf"))
    shown = visit(files, large, **german).text
    assert "<dd>PDF-Dokument</dd>" in shown and re.search(r"<dd>\d,\d KB</dd>", shown)
    assert '<html lang="de">' in page and "hat diese Datei mit Ihnen geteilt." in page
    assert (
        "Diese Datei ist geschützt"
        in visit(files, share(files, key, password="a long one"), **german).text
    )
    ended = share(files, key)
    assert files.api.delete(f"/api/documents/{key}/shares/{ended['id']}").status_code == 204
    assert "Dieser Link führt nicht weiter" in visit(files, ended, **german).text
    assert "This link does not work" in visit(files, ended, **BROWSER).text


def test_the_page_does_not_tell_the_host_back(files: Files, key: int) -> None:
    made = share(files, key)
    for headers in ({"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}):
        assert "evil" not in visit(files, made, **{**BROWSER, **headers}).text
        answer = files.api.post(f"/api/documents/{key}/share", headers=headers)
        assert answer.json["url"].startswith("http://localhost/s/")


@pytest.mark.requirement("SEC-50")
@pytest.mark.parametrize("token", ["x", "A" * 43, "A" * 101, "%2e%2e", "a%00b", "1' OR '1'='1"])
def test_a_wrong_token_is_nothing(files: Files, key: int, token: str) -> None:
    share(files, key)
    answer = files.api.client.get(f"/s/{token}")
    assert answer.status_code in (400, 404)
    assert files.api.client.get(f"/s/{token}", headers=BROWSER).status_code in (400, 404)


@pytest.mark.requirement("SEC-50")
def test_a_link_shows_its_document_alone_and_is_told_nowhere_else(files: Files, key: int) -> None:
    other = files.document(PDF, "other.pdf")
    links = {key: share(files, key), other: share(files, other)}
    assert len({made["token"] for made in links.values()}) == 2
    assert [visit(files, links[one]).data for one in (key, other)] == [TEXT, PDF]
    for path in (
        f"/api/documents/{key}/shares", f"/odata/Documents({key})?$expand=*",
        f"/api/documents/{key}", "/api/admin/audit", "/api/events",
    ):  # fmt: skip
        answer = files.api.get(path)
        assert answer.status_code in (200, 404), path
        assert links[key]["token"] not in answer.text, path
    for ending in ("/", "/download", f"/{other}", "/../" + links[other]["token"], "%00", "?id=2"):
        answer = files.api.client.get(f"/s/{links[key]['token']}{ending}")
        assert PDF not in answer.data, ending


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"expiresInDays": 0}, "expiresInDays"), ({"expiresInDays": 366}, "expiresInDays"),
    ({"expiresInDays": "x"}, "expiresInDays"), ({"expiresInDays": 1.5}, "expiresInDays"),
    ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
    ({"expiresAt": "2999-01-01T00:00:00Z"}, "expiresAt"), ({"expiresAt": "soon"}, "expiresAt"),
    ({"maxDownloads": 0}, "maxDownloads"), ({"maxDownloads": -1}, "maxDownloads"),
    ({"password": "abc"}, "password"), ({"password": 1234}, "password"),
    ({"password": "a" * 201}, "password"), ({"recipientEmail": "x"}, "recipientEmail"),
    ({"recipientEmail": "a@b.example\r\nBcc: c@d.example"}, "recipientEmail"),
    ({"note": "x" * 501}, "note"), ({"version": 2}, "version"), ({"colour": "red"}, "colour"),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "field"), REFUSED, ids=range(len(REFUSED)))
def test_terms_are_checked(files: Files, key: int, terms: dict[str, Any], field: str) -> None:
    answer = files.api.post(f"/api/documents/{key}/share", terms)
    assert answer.status_code == 400, answer.text
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]
    assert files.api.get(f"/api/documents/{key}/shares").json["total"] == 0


def test_all_that_is_wrong_with_a_link_is_told_at_once(files: Files, key: int) -> None:
    past = "2020-01-01T00:00:00Z"
    for terms, fields in (
        ({"expiresAt": past, "version": 2}, {"expiresAt", "version"}),
        ({"expiresAt": past, "expiresInDays": 5, "version": 2},
         {"expiresAt", "expiresInDays", "version"}),
        ({"expiresAt": past, "maxDownloads": 0, "nope": 1}, {"expiresAt", "maxDownloads", "nope"}),
    ):  # fmt: skip
        answer = files.api.post(f"/api/documents/{key}/share", terms)
        assert answer.status_code == 400, answer.text
        assert {detail["field"] for detail in answer.json["error"]["details"]} == fields


def test_both_ends_are_one_too_many(files: Files, key: int) -> None:
    later = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    answer = files.api.post(f"/api/documents/{key}/share", {"expiresAt": later, "expiresInDays": 2})
    assert answer.status_code == 400
    assert share(files, key, expiresAt=later)["expiresAt"].startswith(later[:10])


def test_a_pinned_link_keeps_its_version(files: Files, key: int) -> None:
    pinned, current = share(files, key, version=1), share(files, key)
    files.upload(PDF, "fox.pdf", documentId=key)
    assert visit(files, pinned).data == TEXT
    assert visit(files, current).data == PDF


def test_who_may_share(files: Files, key: int, sign_in: Callable[..., Api]) -> None:
    address = f"/api/documents/{key}/share"
    for role in ("Manager", "Sales", "Accountant"):
        assert sign_in(role).post(address).status_code == 201, role
    for role in ("Support", "Viewer"):
        assert sign_in(role).post(address).status_code == 403, role
    assert files.api.post("/api/documents/987654/share").status_code == 404


def test_a_role_may_be_held_to_sharing_its_own_documents(
    files: Files, key: int, sign_in: Callable[..., Api]
) -> None:
    rights = {"documents:create": "all", "documents:read": "all", "documents:share": "own"}
    role = files.api.post("/api/admin/roles", {"name": "Bookkeeper", "permissions": rights})
    assert role.status_code == 201, role.text
    bookkeeper = Files(sign_in("Bookkeeper"))
    own = bookkeeper.document()
    made = share(bookkeeper, own)
    assert bookkeeper.api.post(f"/api/documents/{key}/share").status_code == 403
    assert bookkeeper.api.get(f"/api/documents/{key}/shares").status_code == 403
    assert bookkeeper.api.delete(f"/api/documents/{key}/shares/{made['id']}").status_code == 403
    # The link of another document is not this document's.
    assert files.api.delete(f"/api/documents/{key}/shares/{made['id']}").status_code == 404


def test_only_what_is_in_use_is_shared(files: Files, key: int) -> None:
    pending = files.api.post("/odata/Documents", {"name": "a.txt"}).json["id"]
    files.api.patch(f"/odata/Documents({key})", {"status": "Archived"})
    for document in (pending, key):
        answer = files.api.post(f"/api/documents/{document}/share")
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")


def test_a_revoked_link_stops_and_its_document_is_unshared(
    files: Files, key: int, session: Session
) -> None:
    first, second = share(files, key), share(files, key)
    for made, is_shared in ((first, True), (second, False)):
        address = f"/api/documents/{key}/shares/{made['id']}"
        assert files.api.delete(address).status_code == 204
        assert files.api.delete(address).status_code == 204  # again is no error
        assert visit(files, made).status_code == 404
        assert files.api.get(f"/odata/Documents({key})").json["isShared"] is is_shared
    assert events(session, "share_revoked") == 2
    assert accesses(session) == ["denied", "denied"]
    page = visit(files, first, **BROWSER)
    assert (page.status_code, "was withdrawn" in page.text) == (404, True)


def test_links_stop_with_their_document(files: Files, session: Session) -> None:
    for number, stop in enumerate(("archive", "delete"), start=1):
        key = files.document()
        made, _ = share(files, key), share(files, key)
        if stop == "archive":
            files.api.patch(f"/odata/Documents({key})", {"status": "Archived"})
        else:
            files.api.delete(f"/odata/Documents({key})")
        assert visit(files, made).status_code == 404
        assert events(session, "share_revoked") == number
    files.api.delete(f"/odata/Documents({files.document()})")  # which has no link
    assert events(session, "share_revoked") == 2


def test_an_expired_link_stops(files: Files, key: int) -> None:
    made = share(files, key, expiresInDays=1)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=1, seconds=1), tick=True):
        answer = visit(files, made)
        assert (answer.status_code, "expired" in answer.text) == (404, True)


def test_a_link_of_a_quarantined_document_waits(
    files: Files, key: int, unit_of_work: Callable[..., Any]
) -> None:
    made = share(files, key)
    documents: Any = Model.metadata.tables["documents"]
    with unit_of_work() as writing:
        writing.execute(documents.update().values(status="Quarantined"))
    assert visit(files, made).status_code == 409
    assert files.api.patch(f"/odata/Documents({key})", {"status": "Active"}).status_code == 200
    assert visit(files, made).data == TEXT


def test_a_password_is_asked(files: Files, key: int, session: Session) -> None:
    made = share(files, key, password=PASSWORD)
    page = visit(files, made, **BROWSER).text
    assert 'aria-required="true"' in page and " required" not in page
    assert made["hasPassword"] is True
    assert PASSWORD not in str(made)
    address = f"/s/{made['token']}"
    post, form = files.api.client.post, {"password": PASSWORD}
    missing = visit(files, made)
    assert (missing.status_code, missing.json["error"]["code"]) == (401, "INVALID_CREDENTIALS")
    assert visit(files, made, **{"X-Share-Password": PASSWORD}).data == TEXT
    assert post(address, json=form).data == TEXT
    assert post(address, data=form).data == TEXT
    assert post(address, json={"password": 7}).status_code == 400
    page = visit(files, made, **BROWSER)
    assert page.status_code == 200
    assert "fox" not in page.text
    wrong = post(address, data={"password": "green harbour"}, headers=BROWSER)
    assert (wrong.status_code, "The password is wrong." in wrong.text) == (401, True)
    assert post(address, data=form, headers=BROWSER).data == TEXT
    hashed = session.execute(
        select(Model.metadata.tables["document_shares"].c.password_hash)
    ).scalar_one()
    assert hashed.startswith("$argon2id$")


@pytest.mark.parametrize("sent", ["schön ☀".encode(), "Müller".encode("latin-1"), b"plain"])
def test_a_password_in_the_header_may_have_any_letters(files: Files, key: int, sent: bytes) -> None:
    """WSGI hands the bytes of a header on as Latin-1."""
    latin = sent == "Müller".encode("latin-1")
    made = share(files, key, password=sent.decode("latin-1" if latin else "utf-8"))
    assert visit(files, made, **{"X-Share-Password": sent.decode("latin-1")}).data == TEXT


def test_tries_of_a_password_are_limited(files: Files, key: int) -> None:
    made = share(files, key, password=PASSWORD)
    address, client = f"/s/{made['token']}", files.api.client
    for _ in range(5):
        assert client.post(address, json={"password": "wrong"}).status_code == 401
    closed = client.post(address, json={"password": PASSWORD})
    assert (closed.status_code, closed.json["error"]["code"]) == (429, "RATE_LIMITED")
    assert 0 < int(closed.headers["Retry-After"]) <= 900
    page = client.post(address, data={"password": PASSWORD}, headers=BROWSER)
    assert (page.status_code, page.mimetype) == (429, "text/html")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=16), tick=True):
        for _ in range(4):
            assert client.post(address, json={"password": "wrong"}).status_code == 401
        assert client.post(address, json={"password": PASSWORD}).data == TEXT
        for _ in range(5):
            assert client.post(address, json={"password": "wrong"}).status_code == 401


def test_forty_guesses_at_once_are_five(app: Flask, files: Files, key: int) -> None:
    made = share(files, key, password=PASSWORD)

    def guess(number: int) -> int:
        client = app.test_client()
        answer = client.post(f"/s/{made['token']}", json={"password": f"guess {number}"})
        return answer.status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(guess, range(40)))
    assert statuses.count(401) == 5
    assert statuses.count(429) == 35


@pytest.mark.parametrize("limit", [1, 7])
def test_a_limit_holds_under_fifty_at_once(
    app: Flask, files: Files, key: int, session: Session, limit: int
) -> None:
    made = share(files, key, maxDownloads=limit)

    def download(number: int) -> tuple[int, bytes]:
        ranged = {"Range": "bytes=1-"} if number % 2 else {}
        answer = app.test_client().get(f"/s/{made['token']}", headers=ranged)
        return answer.status_code, answer.data

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(download, range(50)))
    given = [data for status, data in answers if status == 200]
    assert given == [TEXT] * limit  # whole ones: a part would be a way round the limit
    assert {status for status, _ in answers} == {200, 404}
    assert accesses(session).count("downloaded") == limit
    assert files.api.get(f"/api/documents/{key}/shares").json["items"][0]["downloadCount"] == limit


def test_looking_costs_nothing(files: Files, key: int) -> None:
    made = share(files, key, maxDownloads=1)
    address = f"/s/{made['token']}"
    head = files.api.client.head(address)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(TEXT)))
    known = visit(files, made, **{"If-None-Match": head.headers["ETag"]})
    assert known.status_code == 304
    assert visit(files, made, **BROWSER).status_code == 200
    assert visit(files, made).data == TEXT
    assert visit(files, made).status_code == 404
    assert files.api.client.head(address).status_code == 404


def test_visitors_are_counted_by_their_address(keep_app: KeepApp, files: Files, key: int) -> None:
    made = share(files, key)
    client = keep_app(RATE_LIMIT_USER="3/minute").test_client()
    statuses = [client.get(f"/s/{made['token']}").status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


@pytest.mark.requirement("SEC-137")
def test_a_token_is_in_no_log(
    files: Files, key: int, capsys: pytest.CaptureFixture[str], session: Session
) -> None:
    made = share(files, key, password=PASSWORD)
    visit(files, made)
    files.api.client.post(f"/s/{made['token']}", json={"password": PASSWORD})
    for method, ending in (
        ("GET", "/"),
        ("GET", "/more"),
        ("PUT", ""),
        ("GET", ")"),
        ("GET", "%00"),
    ):
        files.api.client.open(f"/s/{made['token']}{ending}", method=method)
    for method, ending in (("GET", "/pdf/x"), ("DELETE", ""), ("GET", "/")):
        files.api.client.open(f"/s/i/{made['token']}{ending}", method=method)
    output = capsys.readouterr()
    assert made["token"] not in output.out + output.err
    assert PASSWORD not in output.out + output.err
    for name in ("audit_records", "events", "share_accesses"):
        rows = str(session.execute(select(Model.metadata.tables[name])).all())
        assert made["token"] not in rows
        assert PASSWORD not in rows


def test_the_same_key_makes_one_link(files: Files, key: int) -> None:
    headers = {"Idempotency-Key": "share-1"}
    answers = [
        files.api.post(f"/api/documents/{key}/share", {"note": "x"}, headers=headers)
        for _ in range(2)
    ]
    assert answers[0].json["token"] == answers[1].json["token"]
    assert files.api.get(f"/api/documents/{key}/shares").json["total"] == 1
