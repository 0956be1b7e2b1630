"""Documents in the console: uploaded, shared, followed, deleted and brought back."""

from __future__ import annotations

import io
import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.document import Document
from tests.console.conftest import Browser, SignIn

LINK = re.compile(r'<code class="secret">https?://[^/]+(/s/[^<]+)</code>')


def upload(browser: Browser, content: bytes = b"Dear reader", **fields: str) -> str:
    """Upload a file; its page."""
    sent = browser.submit("documents/upload", **fields, file=(io.BytesIO(content), "letter.txt"))
    assert sent.status_code == 303, sent.text
    return sent.headers["Location"].removeprefix("/admin/")


def test_a_file_is_uploaded_shown_and_given_a_new_version(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = upload(browser, name="Letter", category="Contract")
    key = page.rpartition("/")[2]
    shown = browser.get(page).text
    assert "Letter" in shown and f"{page}/download" in shown
    assert browser.get(f"{page}/download").data == b"Dear reader"
    assert upload(browser, b"Dear all", documentId=key) == page
    assert browser.get(f"{page}/download").data == b"Dear all"
    assert browser.get(f"{page}/download?version=1").data == b"Dear reader"
    assert f"{page}/download?version=1" in browser.get(page).text


@pytest.mark.parametrize("order", ["no token", "wrong token", "token last"])
def test_an_upload_that_no_page_sent_leaves_nothing(
    sign_in: SignIn, session: Session, order: str
) -> None:
    browser = sign_in("Admin")
    file = (io.BytesIO(b"forged"), "letter.txt")
    forms = {
        "no token": {"file": file},
        "wrong token": {"csrf": "x", "file": file},
        "token last": {"name": "x", "csrf": browser.token(), "file": file},
    }
    answer = browser.client.post("/admin/documents/upload", data=forms[order])
    assert answer.status_code == 403
    assert session.scalar(select(func.count()).select_from(Document)) == 0


def test_a_file_that_is_refused_is_said_on_the_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    answer = browser.submit("documents/upload", file=(io.BytesIO(b"MZ\x90\x00" * 50), "tool.exe"))
    assert answer.status_code == 415
    assert 'role="alert"' in answer.text and "Upload a file" in answer.text
    assert browser.submit("documents/upload", name="x").status_code == 415


def test_a_link_is_made_used_logged_and_ended(sign_in: SignIn, client: FlaskClient) -> None:
    browser = sign_in("Admin")
    page = upload(browser)
    made = browser.submit(f"{page}/shares", expiresInDays="3", maxDownloads="5", note="Lawyer")
    found = LINK.search(made.text)
    assert found is not None and "Lawyer" in made.text
    assert found[1] not in browser.get(f"{page}/shares").text
    assert client.get(found[1]).status_code == 200
    log = re.search(rf"/admin/({page}/shares/\d+)\"", made.text)
    assert log is not None
    assert "127.0.0.1" in browser.get(log[1]).text
    assert browser.submit(f"{log[1]}/revoke").status_code == 303
    assert client.get(found[1]).status_code in (404, 410)
    assert "revoked" in browser.get(f"{page}/shares").text


@pytest.mark.parametrize("password", ["  blue harbour ", "  b  "])
def test_the_password_of_a_link_has_its_spaces(
    sign_in: SignIn, client: FlaskClient, password: str
) -> None:
    browser = sign_in("Admin")
    found = LINK.search(browser.submit(f"{upload(browser)}/shares", password=password).text)
    assert found is not None
    for typed, status in (("", 401), (password.strip(), 401), (password, 200)):
        answer = client.post(f"{found[1]}?download=1", data={"password": typed})
        assert answer.status_code == status, typed


def test_the_form_for_a_link_begins_with_what_is_declared(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = f"{upload(browser)}/shares"
    days = re.compile(r'<input[^>]*name="expiresInDays"[^>]*>')
    shown = days.search(browser.get(page).text)
    assert shown is not None and 'value="7"' in shown[0]
    refused = days.search(browser.submit(page, expiresInDays="", maxDownloads="-1").text)
    assert refused is not None and 'value="7"' not in refused[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("expiresInDays", "0"),
        ("expiresInDays", "many"),
        ("password", "abc"),
        ("password", "    "),
        ("maxDownloads", "-1"),
    ],
)
def test_terms_that_are_refused_are_said_at_their_field(
    sign_in: SignIn, field: str, value: str
) -> None:
    browser = sign_in("Admin")
    page = upload(browser)
    answer = browser.submit(f"{page}/shares", **{field: value})
    assert answer.status_code == 400
    assert f'id="f-{field}-p"' in answer.text


def test_what_is_deleted_lies_in_the_trash_and_comes_back(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = upload(browser, name="Lost")
    assert browser.submit(page, step="delete").status_code == 303
    assert "Lost" in browser.get("documents/trash").text
    assert browser.submit(f"{page}/restore").status_code == 303
    assert "The trash is empty." in browser.get("documents/trash").text
    assert browser.get(f"{page}/download").data == b"Dear reader"
    assert browser.submit(f"{page}/restore").status_code == 409


def test_a_viewer_reads_and_does_nothing_else(sign_in: SignIn) -> None:
    page = upload(sign_in("Admin"))
    viewer = sign_in("Viewer")
    shown = viewer.get(page).text
    assert "download" in shown and 'name="documentId"' not in shown and "/shares" not in shown
    for path in ("documents/upload", "documents/trash", f"{page}/shares", f"{page}/shares/1"):
        assert viewer.get(path).status_code == 403, path
    for path in (
        "documents/upload",
        f"{page}/shares",
        f"{page}/restore",
        f"{page}/shares/1/revoke",
    ):
        assert viewer.submit(path).status_code == 403, path
