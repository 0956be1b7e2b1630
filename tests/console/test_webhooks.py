"""Webhooks in the console: made, tested, looked at, sent again, ended; secrets shown once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.jobs.leases import LoopThreads
from app.jobs.worker import LOOPS
from app.webhooks.deliverer import deliverer
from tests.console.conftest import Browser, SignIn
from tests.receivers import Receiver, receiver
from tests.waiting import until

SECRET = re.compile(r'<code class="secret">(whsec_[^<]+)</code>')


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver on loopback."""
    with receiver() as made:
        yield made


@pytest.fixture
def near(sign_in: SignIn, make_app: Callable[..., Flask]) -> Iterator[Browser]:
    """An administrator of an application that may call loopback, with its worker."""
    app = make_app(WEBHOOK_ALLOW_PRIVATE=True, WEBHOOK_RETRY_SCHEDULE=(0,))
    browser = sign_in("Admin", app)
    threads = LoopThreads(app, [loop for loop in LOOPS if loop.name.startswith("webhook")])
    threads.start()
    yield browser
    threads.ask_to_stop()
    assert threads.join(20) == []
    deliverer.unbind(app)


def register(browser: Browser, url: str, *events: str) -> Any:
    """A new webhook; its page."""
    made = browser.submit("webhooks", url=url, description="ERP", events=list(events) or ["*"])
    assert made.status_code == 200, made.text
    return re.findall(r"/admin/(webhooks/\d+)", made.text)[0]


def test_a_webhook_is_made_and_its_secret_shown_once(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    made = browser.submit("webhooks", url="https://example.com/hook", events="invoice.*")
    secret = SECRET.search(made.text)
    assert secret is not None
    listed = browser.get("webhooks").text
    assert "https://example.com/hook" in listed and "invoice.*" in listed
    assert secret[1] not in listed


@pytest.mark.parametrize(
    ("url", "events", "reason"),
    [("http://127.0.0.1/hook", "client.*", "must "), ("nonsense", "client.*", "must "),
     ("https://example.com/hook", [], "Choose one event or more."),
     ("https://example.com/hook", "client.eaten", "no event")],
    ids=["loopback", "no address", "no event chosen", "unknown event"],
)  # fmt: skip
def test_what_is_refused_is_said_at_its_field(
    sign_in: SignIn, url: str, events: str | list[str], reason: str
) -> None:
    answer = sign_in("Admin").submit("webhooks", url=url, events=events)
    assert answer.status_code == 400
    assert f'value="{url}"' in answer.text
    assert 'class="field wrong"' in answer.text or 'class="field wide wrong"' in answer.text
    assert reason in answer.text


def test_a_test_is_sent_shown_with_its_attempt_and_sent_again(
    near: Browser, there: Receiver
) -> None:
    page = register(near, there.url())
    sent = near.submit(f"{page}/step", step="test")
    assert sent.status_code == 303
    delivery = sent.headers["Location"].removeprefix("/admin/")
    until(lambda: "succeeded" in near.get(delivery).text)
    shown = near.get(delivery).text
    assert "webhook.ping" in shown and "Attempt 1" in shown
    assert "webhook-signature" in shown.lower()
    assert near.submit(delivery).status_code == 303
    until(lambda: "Attempt 2" in near.get(delivery).text)
    # An event of signing in may be delivered between them.
    pings = [each.message_id for each in there.taken if each.json["type"] == "webhook.ping"]
    assert len(pings) == 2 and len(set(pings)) == 1
    assert "webhook.ping" in near.get(f"{page}?status=succeeded").text
    assert "Nothing was delivered yet." in near.get(f"{page}?status=failed").text


def test_a_webhook_is_changed_disabled_enabled_recovered_and_deleted(
    near: Browser, there: Receiver
) -> None:
    page = register(near, there.url(), "client.*")
    changed = near.submit(page, url=there.url(), description="Books", events="client.created")
    assert changed.status_code == 303
    assert "client.created" in near.get(page).text and "Books" in near.get(page).text
    rotated = near.submit(f"{page}/step", step="rotate")
    assert SECRET.search(rotated.text) is not None
    assert "signs until" in near.get(page).text
    assert near.submit(f"{page}/step", step="disabled").status_code == 303
    assert "Disabled" in near.get(page).text
    assert near.submit(f"{page}/step", step="test").status_code == 409
    key = near.make("clients", name="Missed")
    assert near.submit(f"{page}/step", step="active").status_code == 303
    recovered = near.submit(f"{page}/step", step="recover", since="2020-01-01T00:00")
    assert "events are looked through" in recovered.text
    until(lambda: any(each.json["data"]["object"]["id"] == key for each in there.taken))
    assert near.submit(f"{page}/step", step="recover", since="yesterday").status_code == 400
    assert near.submit(f"{page}/delete").status_code == 303
    assert near.get(page).status_code == 404


def test_who_may_look_may_not_touch(sign_in: SignIn) -> None:
    page = register(sign_in("Admin"), "https://example.com/hook", "client.*")
    manager = sign_in("Manager")
    shown = manager.get(page)
    assert shown.status_code == 200
    assert 'name="step"' not in shown.text and 'name="events"' not in shown.text
    assert "Add a webhook" not in manager.get("webhooks").text
    for path in (page, f"{page}/step", f"{page}/delete", "webhooks"):
        assert manager.submit(path, step="test", url="https://example.com").status_code == 403


def test_a_role_without_webhooks_has_no_page_of_them(sign_in: SignIn, client: FlaskClient) -> None:
    browser = sign_in("Sales")
    assert "/admin/webhooks" not in browser.get("").text
    assert browser.get("webhooks").status_code == 403
    assert browser.get("webhooks/1").status_code == 403


def test_what_is_not_there_is_a_page_that_says_so(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    assert browser.get("webhooks/12345").status_code == 404
    assert browser.submit("webhooks/12345/step", step="test").status_code == 404
