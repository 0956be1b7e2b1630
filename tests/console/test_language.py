"""The language of a page: whose wish counts, and that no page forgets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from flask import Flask
from sqlalchemy import update

from app.bi.answers import EXAMPLES
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.user import User
from app.settings import change_settings
from tests.browser.company import Company
from tests.console.catalogue import read, strings
from tests.console.conftest import PASSWORD, Browser, SignIn
from tests.console.test_catalogue import Texts

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}
# What people have called so, or what stands for itself: names of roles, of formats, of data.
OWN = {"Admin", "Manager", "Sales", "Support"}
# What the records and the log of the company say, and answers in the language of the question, by
# how the address begins.
SAID = {
    "tickets/": {"Solved"}, "assistant": {"Create a task to call Eva tomorrow"},
    "questions?": set(EXAMPLES), "audit": {"name"},
}  # fmt: skip


def spoken(browser: Browser, path: str = "", **headers: Any) -> str:
    """The language that a page says it is in."""
    text = browser.client.get(f"/admin/{path}", **headers).text
    found = re.search(r'<html lang="(\w+)"', text)
    assert found is not None
    assert ("Übersicht" in text) is (found[1] == "de")
    return found[1]


@pytest.mark.parametrize(
    ("of_user", "of_browser", "of_organisation", "expected"),
    [
        ("de", "en-GB", "en", "de"),
        ("de-CH", "fr", "en", "de"),
        ("en-GB", "de", "de", "en"),
        ("en", "de;q=0.9,fr", "en", "de"),
        ("en", "de;q=0,en", "de", "en"),
        ("fr", "de", "en", "de"),
        ("en", "", "de", "de"),
        ("en", "fr", "fr", "en"),
    ],
)
def test_the_user_then_the_browser_then_the_organisation_say_it(
    app: Flask, sign_in: SignIn, of_user: str, of_browser: str, of_organisation: str, expected: str
) -> None:
    browser = sign_in("Admin")
    with app.app_context(), transaction() as session, acting_as(system_caller("test")):
        session.execute(update(User).values(language=of_user))
        change_settings("defaults", {"language": of_organisation})
    assert spoken(browser, headers={"Accept-Language": of_browser}) == expected


def test_who_is_not_signed_in_reads_the_language_of_the_browser(app: Flask) -> None:
    client = app.test_client()
    assert "Passwort" in client.get("/admin/sign-in", headers=GERMAN).text
    assert "Password" in client.get("/admin/sign-in").text
    refused = client.post(
        "/admin/sign-in", headers=GERMAN, data={"username": "nobody", "password": "x" * 12}
    )
    assert '<html lang="de"' in refused.text


def test_days_amounts_and_counts_are_written_as_in_the_language(
    app: Flask, sign_in: SignIn
) -> None:
    browser = sign_in("Admin")
    key = browser.make("projects", name="Umbau", startDate="2026-03-01", budgetAmount="1234.50")
    page = browser.client.get(f"/admin/projects/{key}", headers=GERMAN).text
    assert ">01.03.2026</time>" in page
    assert "Startdatum" in page


@pytest.mark.only_on("sqlite")
def test_no_page_has_a_text_in_another_language(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    company = Company(app, PASSWORD)
    english = untranslated(read("de"))
    found: list[tuple[str, str]] = []
    for path in company.pages():
        answer = browser.client.get(f"/admin/{path}", headers=GERMAN)
        assert answer.status_code == 200, path
        said = {text for start, texts in SAID.items() if path.startswith(start) for text in texts}
        found += [(path, text) for text in texts_of(answer.text) if text in english - said]
    assert found == []


def untranslated(catalogue: Catalog) -> set[str]:
    """Texts that are otherwise in the language of the catalogue."""
    known = {text for message in catalogue for text in strings(message.string)}
    texts = {text for message in catalogue for text in strings(message.id)}
    return {text for text in texts if text and "%(" not in text} - known - OWN


def texts_of(page: str) -> Iterator[str]:
    """Without articles, and without what the log keeps of records."""
    parser = Texts()
    parser.feed(re.sub(r"(?s)<(article|dl class=\"change\").*?</(article|dl)>", "", page))
    yield from (" ".join(text.split()) for text in parser.found if text.strip())


def test_the_history_of_a_deal_says_from_and_to_which_stage(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    deal = browser.make("opportunities", name="Deal", clientId=str(client))
    browser.submit(f"opportunities/{deal}", step="stage:Proposal")
    page = browser.client.get(f"/admin/opportunities/{deal}", headers=GERMAN).text
    for head in ("Von", "Nach", "Am"):
        assert f'<th scope="col">{head}</th>' in page
