"""Merging two records of a kind in the console, and that every operation is offered there."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

import app.console
from app.container.declared import DECLARED
from app.models.client import Client
from app.models.ticket import Ticket
from tests.console.conftest import Browser, SignIn

RECORDS = {
    "clients": ({"name": "Acme GmbH"}, {"name": "Acme", "phone": "+49 30 1234567"}),
    "tickets": ({"subject": "Broken", "requesterEmail": "a@example.com"},
                {"subject": "Broken again", "requesterEmail": "a@example.com"}),
}  # fmt: skip
# Operations that the console does by another address, or shows in a page of its own.
ELSEWHERE = {
    "AddComment": "/Comments", "KbSearch": "search_articles",
    "PipelineSummary": "opportunities/board", "SendInvoices": "of_many",
}  # fmt: skip


def pair(browser: Browser, path: str) -> tuple[int, int]:
    first, second = (browser.make(path, **fields) for fields in RECORDS[path])
    return first, second


@pytest.mark.parametrize("path", RECORDS)
@pytest.mark.parametrize("stays", ["this", "other"])
def test_two_records_are_merged_after_a_look(
    sign_in: SignIn, session: Session, path: str, stays: str
) -> None:
    browser = sign_in("Admin")
    first, second = pair(browser, path)
    page = f"{path}/{first}/merge"
    assert f"/admin/{page}" in browser.get(f"{path}/{first}").text
    assert browser.get(page).status_code == 200
    typed = {"sourceId": f"#{second}", "stays": stays}
    looked = browser.submit(page, **typed, step="preview")
    assert looked.status_code == 200 and "What comes of it" in looked.text
    assert len(session.scalars(select(Client)).all()) == (2 if path == "clients" else 0)
    session.rollback()
    merged = browser.submit(page, **typed)
    kept, gone = (first, second) if stays == "this" else (second, first)
    assert merged.headers["Location"] == f"/admin/{path}/{kept}", merged.text
    assert "has become a part of it" in browser.get(f"{path}/{kept}").text
    if path == "clients":
        assert session.execute(select(Client.id, Client.phone)).all() == [(kept, "+49 30 1234567")]
    else:
        assert session.scalar(select(Ticket.merged_into_id).where(Ticket.id == gone)) == kept


@pytest.mark.parametrize("path", RECORDS)
@pytest.mark.parametrize("typed", ["", "#999", "Nobody", "self"])
def test_what_names_no_other_record_is_said_at_the_field(
    sign_in: SignIn, path: str, typed: str
) -> None:
    browser = sign_in("Admin")
    first, _ = pair(browser, path)
    assert browser.get("contacts/1/merge").status_code == 404
    for step in ("preview", ""):
        source = f"#{first}" if typed == "self" else typed
        refused = browser.submit(f"{path}/{first}/merge", sourceId=source, step=step)
        assert refused.status_code == 400 or step == "preview"
        assert 'id="f-sourceId-p"' in refused.text


@pytest.mark.parametrize(("path", "role"), [("clients", "Support"), ("tickets", "Sales")])
def test_who_may_not_merge_is_not_offered_it(sign_in: SignIn, path: str, role: str) -> None:
    first, second = pair(sign_in("Admin"), path)
    browser = sign_in(role)
    assert "/merge" not in browser.get(f"{path}/{first}").text
    assert browser.get(f"{path}/{first}/merge").status_code == 403
    refused = browser.submit(f"{path}/{first}/merge", sourceId=f"#{second}")
    assert refused.status_code == 403


def test_every_operation_on_records_is_offered_somewhere() -> None:
    folder = Path(app.console.__file__).parent
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".html")
    )
    missing = [
        operation.name
        for operation in DECLARED
        if operation.button is None
        and getattr(operation.run, "__name__", "") not in sources
        and f"BusinessPlatform.{operation.name}" not in sources
        and ELSEWHERE.get(operation.name, "\0") not in sources
    ]
    assert missing == []


def test_an_article_is_drafted_from_a_ticket_and_what_is_missing_is_listed(
    sign_in: SignIn,
) -> None:
    browser = sign_in("Admin")
    key = browser.make("tickets", subject="Paper jam", requesterEmail="a@example.com")
    page = f"tickets/{key}"
    assert f"/admin/{page}/article" in browser.get(page).text
    browser.submit(page, step="comment", body="Done")
    bare = browser.submit(f"{page}/article")
    assert bare.status_code == 303 and "/kbarticles/new?" in bare.headers["Location"]
    assert "Paper jam" in browser.client.get(bare.headers["Location"]).text
    said = "Open the lid, pull the sheet out slowly, close the lid, and print once more."
    browser.submit(page, step="comment", body=said, then="Solved")
    missing = browser.get("knowledge/missing").text
    assert "Paper jam" in missing
    drafted = browser.submit(f"{page}/article")
    assert drafted.status_code == 303, drafted.text
    assert said in browser.client.get(drafted.headers["Location"]).text
    viewer = sign_in("Viewer")
    assert viewer.get("knowledge/missing").status_code == 403
    assert f"{page}/article" not in viewer.get(page).text
