"""Tickets in the console: answered, noted, and helped by articles."""

from __future__ import annotations

import re

from app.kb.indexing import index_articles
from tests.console.conftest import SignIn


def test_an_answer_and_a_note_are_added_and_shown(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("tickets", subject="Broken", requesterEmail="a@example.com")
    page = f"tickets/{key}"
    said = browser.submit(page, step="comment", body="We look <b>into</b> it")
    assert said.status_code == 303, said.text
    assert browser.submit(page, step="comment", body="Odd", isInternal="on").status_code == 303
    shown = browser.get(page).text
    assert ">Open<" in shown and 'name="body"' in shown  # it goes on to be answered
    assert "We look &lt;b&gt;into&lt;/b&gt; it" in shown
    assert "note, not for the customer" in shown and "Admin, " in shown
    empty = browser.submit(page, step="comment", body="")
    assert empty.status_code == 400 and 'role="alert"' in empty.text


def test_an_article_that_helps_is_found_and_linked(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    article = browser.make(
        "kbarticles", title="Resetting a password", visibility="Internal",
        body="Choose forgot password on the page to sign in; a link to reset it comes by mail.",
    )  # fmt: skip
    for state in ("InReview", "Published"):
        browser.submit(f"kbarticles/{article}", step=f"status:{state}")
    with browser.client.application.app_context():
        index_articles()
    key = browser.make("tickets", subject="How do I reset my password?",
                       requesterEmail="a@example.com")  # fmt: skip
    page = browser.get(f"tickets/{key}/suggestions")
    assert "Resetting a password" in page.text
    linked = browser.submit(f"tickets/{key}/suggestions", article=str(article))
    assert linked.status_code == 303, linked.text
    assert "linked" in browser.get(f"tickets/{key}/suggestions").text
    assert re.search(r"Kb articles|KB articles", browser.get(f"tickets/{key}").text)


def test_a_viewer_says_nothing(sign_in: SignIn) -> None:
    key = sign_in("Admin").make("tickets", subject="Broken", requesterEmail="a@example.com")
    viewer = sign_in("Viewer")
    assert 'name="body"' not in viewer.get(f"tickets/{key}").text
    assert viewer.submit(f"tickets/{key}", step="comment", body="x").status_code == 403
    assert viewer.submit(f"tickets/{key}/suggestions", article="1").status_code == 403
