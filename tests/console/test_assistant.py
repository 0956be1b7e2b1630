"""The assistant in the console: asked, read as it grows, confirmed, left, deleted."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.project import Task
from tests.console.conftest import Browser, SignIn
from tests.waiting import until

KEY = re.compile(r'name="key" value="(act_[^"]+)"')


def ask(browser: Browser, message: str, **fields: str) -> str:
    """Begin a conversation; its page."""
    sent = browser.submit("assistant", message=message, **fields)
    assert sent.status_code == 303, sent.text
    sent.close()  # what is streamed is made when the answer is out
    return sent.headers["Location"].removeprefix("/admin/")


def publish(browser: Browser) -> int:
    key = browser.make(
        "kbarticles", title="Resetting a password", visibility="Internal", language="en",
        body="Choose **Forgot password** on the sign-in page. A link comes by e-mail.",
    )  # fmt: skip
    browser.submit(f"kbarticles/{key}", step="status:InReview")
    browser.submit(f"kbarticles/{key}", step="status:Published")
    return key


def test_a_question_is_answered_and_goes_on(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = ask(browser, "How many clients are there?")
    shown = browser.get(page).text
    assert "How many clients are there?" in shown and 'class="said assistant"' in shown
    assert browser.submit(page, message="And leads?").status_code == 303
    assert "And leads?" in browser.get(page).text
    assert "How many clients are there?" in browser.get("assistant").text
    assert browser.submit(page, step="delete").status_code == 303
    assert browser.get(page).status_code == 404


def test_unknown_words_are_answered_in_the_language_of_the_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    page = ask(browser, "Xyzzy plugh")
    browser.submit(page, message="Plugh").close()
    assert browser.get(page).text.count("in der Wissensdatenbank nichts gefunden") == 2


def test_an_answer_is_read_as_a_stream_of_events(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = ask(browser, "How many clients are there?", stream="1")
    until(lambda: "data-stream" not in browser.get(page).text)
    events = browser.get(f"{page}/stream")
    assert events.content_type.startswith("text/event-stream")
    assert "event: message.delta" in events.text and "event: message.end" in events.text
    last = re.findall(r"^id: (\d+)$", events.text, re.MULTILINE)[-1]
    again = browser.client.get(f"/admin/{page}/stream", headers={"Last-Event-ID": last})
    assert again.status_code == 204


def test_a_proposal_is_done_when_it_is_confirmed(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    page = ask(browser, "Create a task to call Eva tomorrow")
    found = KEY.search(browser.get(page).text)
    assert found is not None
    assert session.scalar(select(func.count()).select_from(Task)) == 0
    assert browser.submit(page, step="confirm", key=found[1]).status_code == 303
    session.rollback()
    assert session.scalar(select(Task.title)) == "Call Eva"
    assert browser.submit(page, step="confirm", key=found[1]).status_code == 409
    assert "executed" in browser.get(page).text


def test_a_proposal_may_be_left(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    page = ask(browser, "Create a task to call Eva tomorrow")
    found = KEY.search(browser.get(page).text)
    assert found is not None
    assert browser.submit(page, step="reject", key=found[1]).status_code == 303
    assert session.scalar(select(func.count()).select_from(Task)) == 0
    assert "rejected" in browser.get(page).text


def test_a_record_is_asked_about_and_hostile_text_is_only_text(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="<b>Acme</b>")
    form = browser.get(f"assistant?module=Clients&entityId={key}").text
    assert "About &lt;b&gt;Acme&lt;/b&gt;" in form
    page = ask(browser, "<script>alert(1)</script>", module="Clients", entityId=str(key))
    assert "<script>alert" not in browser.get(page).text
    assert "<b>Acme" not in browser.get(page).text
    assert browser.get("assistant?module=Clients&entityId=12345").status_code == 404


def test_nobody_reads_the_conversation_of_another(sign_in: SignIn) -> None:
    page = ask(sign_in("Admin"), "How many clients are there?")
    other = sign_in("Sales")
    assert other.get(page).status_code == 404
    assert other.get(f"{page}/stream").status_code == 404
    assert other.submit(page, message="And now?").status_code == 404


def test_an_empty_message_is_refused_with_its_reason(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit("assistant", message="  ")
    assert answer.status_code == 400 and "must have 1 to" in answer.text


def test_articles_are_found_read_and_judged(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = publish(browser)
    assert "Resetting a password" in browser.get("knowledge").text
    article = browser.get(f"knowledge/{key}").text
    assert "<strong>Forgot password</strong>" in article
    assert browser.submit(f"knowledge/{key}", helpful="no", comment="Too short").status_code == 303
    again = browser.get(f"knowledge/{key}").text
    assert "Too short" in again and "helped 0 of 1" in again
    viewer = sign_in("Viewer")
    assert viewer.get(f"knowledge/{key}").status_code == 200
    assert "Too short" not in viewer.get(f"knowledge/{key}").text


def test_a_search_shows_the_passage_with_the_words_marked(
    sign_in: SignIn, index: Callable[[], None]
) -> None:
    browser = sign_in("Admin")
    publish(browser)
    hostile = browser.make(
        "kbarticles", title="Script", visibility="Internal", language="en",
        body="A password in a `<script>alert(1)</script>` is no secret.",
    )  # fmt: skip
    browser.submit(f"kbarticles/{hostile}", step="status:InReview")
    browser.submit(f"kbarticles/{hostile}", step="status:Published")
    index()
    found = browser.get("knowledge?q=password").text
    assert "2 found" in found and "<mark>password</mark>" in found
    assert "&lt;script&gt;alert(1)" in found and "<script>alert(1)" not in found
    nothing = browser.get("knowledge?q=zeppelin").text
    assert "0 found" in nothing and "Nothing fits" in nothing


def test_a_draft_is_read_by_nobody_who_may_not(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("kbarticles", title="Draft", body="<script>alert(1)</script>x")
    assert "<script>alert" not in browser.get(f"knowledge/{key}").text
    assert sign_in("Viewer").get(f"knowledge/{key}").status_code == 404
    assert browser.submit(f"knowledge/{key}", helpful="yes").status_code == 404
