"""Tickets in the console: answered, noted, and helped by articles."""

from __future__ import annotations

import re

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.kb.indexing import index_articles
from app.models.ticket import Ticket, TicketComment
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


def test_the_conversation_begins_with_what_the_customer_wrote(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("tickets", subject="Broken", description="It <i>hums</i>",
                       requesterEmail="a@example.com")  # fmt: skip
    browser.submit(f"tickets/{key}", step="comment", body="We look")
    talk = browser.get(f"tickets/{key}").text.split('class="talk"')[1].split("</form>")[0]
    assert talk.index("It &lt;i&gt;hums&lt;/i&gt;") < talk.index("We look")
    assert "a@example.com, " in talk and "First answer" in browser.get(f"tickets/{key}").text


def test_an_answer_sets_the_state_in_one_step_or_nothing_is_done(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    key = browser.make("tickets", subject="Broken", requesterEmail="a@example.com")
    solved = browser.submit(f"tickets/{key}", step="comment", body="Done", then="Solved")
    assert solved.status_code == 303
    shown = browser.get(f"tickets/{key}").text
    assert "Answered, and set to Solved." in shown
    assert session.execute(select(Ticket.status, Ticket.assignee_id)).one() == ("Solved", 1)
    refused = browser.submit(f"tickets/{key}", step="comment", body="Again", then="Pending")
    assert refused.status_code == 409 and "Again" in refused.text
    session.rollback()
    assert session.scalar(select(func.count()).select_from(TicketComment)) == 1


def test_a_ticket_is_taken_in_one_step_and_stands_in_ones_queue(sign_in: SignIn) -> None:
    browser = sign_in("Support")
    key = browser.make("tickets", subject="Broken pump", requesterEmail="a@example.com")
    assert "Broken pump" in browser.get("queue?agent=none").text
    assert "Broken pump" not in browser.get("queue").text
    assert browser.submit(f"tickets/{key}", step="assign", version='W/"1"').status_code == 303
    page = browser.get(f"tickets/{key}").text
    assert "The ticket is yours." in page and 'value="assign"' not in page
    assert "Broken pump" in browser.get("queue").text
    assert "Broken pump" not in browser.get("queue?agent=none").text
    assert sign_in("Admin").get("queue?agent=nonsense").status_code == 200


def test_a_closed_ticket_is_answered_in_one_that_follows(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("tickets", subject="Broken", requesterEmail="a@example.com")
    browser.submit(f"tickets/{key}", step="comment", body="Done", then="Solved")
    assert browser.submit(f"tickets/{key}", step="status:Closed").status_code == 303
    closed = browser.get(f"tickets/{key}").text
    assert 'name="body"' in closed and "a new one that follows" in closed
    assert 'name="isInternal"' not in closed
    answer = browser.submit(f"tickets/{key}", step="comment", body="One more thing")
    assert answer.headers["Location"].endswith(f"tickets/{key + 1}")
    assert "One more thing" in browser.get(f"tickets/{key + 1}").text


def test_canned_answers_are_filled_in_and_changed_in_the_settings(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = browser.get("settings/answers").text
    version = re.search(r'name="version" value="([^"]+)"', page)
    assert version is not None and "Received" in page
    form = {"name": ["Hi", ""], "text": ["Hello {contact}: {number}\r\n{agent}", ""]}
    wrong = {"name": "Hi", "text": "Hello {nobody}", "version": version[1]}
    refused = browser.submit("settings/answers", **wrong)
    assert refused.status_code == 400 and "Hello {nobody}" in refused.text
    assert "has {nobody}" in refused.text
    saved = browser.submit("settings/answers", version=version[1], **form)
    assert saved.status_code == 303
    late = browser.submit("settings/answers", version=version[1], **form)
    assert late.status_code == 412
    key = browser.make("tickets", subject="Broken", requesterEmail="a@example.com")
    assert "Hello a@example.com: T-000001" in browser.get(f"tickets/{key}?answer=Hi").text
    assert "Received" not in browser.get(f"tickets/{key}").text
    viewer = sign_in("Viewer")
    assert viewer.get("settings/answers").status_code == 403
