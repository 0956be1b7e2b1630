"""The search at the top of every page, and the figures of the first one."""

from __future__ import annotations

import io
import re

import pytest

from tests.console.conftest import SignIn


def test_what_is_found_is_marked_and_leads_to_its_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Müller & Söhne")
    lead = browser.make("leads", company="Mullermann", lastName="Ada")
    page = browser.get("search?q=muller").text
    assert f'href="/admin/clients/{key}"' in page and "<mark>Müller</mark> &amp; Söhne" in page
    assert f'href="/admin/leads/{lead}"' in page


def test_a_title_is_said_once_and_a_stage_in_the_language_of_the_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Rollo", email="rollout@acme.example"))
    browser.make("opportunities", name="Rollout", clientId=client, stage="Negotiation")
    browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    page = browser.get("search?q=rollout").text
    assert '<mark>Rollout</mark></a> <small dir="auto">Verhandlung</small></li>' in page
    assert "E-Mail: <mark>rollout</mark>" in page and "Negotiation" not in page


def test_a_number_leads_to_its_record(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Acme")
    number = re.search(r"C-\d+", browser.get(f"clients/{key}").text)
    assert number is not None
    answer = browser.get(f"search?q={number[0]}")
    assert answer.headers["Location"] == f"/admin/clients/{key}"


@pytest.mark.parametrize("query", ["", "a", "%3Cscript%3Ealert(1)%3C/script%3E", "x" * 300, "--"])
def test_odd_words_are_no_error(sign_in: SignIn, query: str) -> None:
    answer = sign_in("Admin").get(f"search?q={query}")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_only_what_the_role_may_read_is_found(sign_in: SignIn) -> None:
    sign_in("Admin").make("leads", company="Secretive", lastName="Ada")
    assert "Secretive" not in sign_in("Accountant").get("search?q=secretive").text.replace(
        'value="secretive"', ""
    )


def test_a_role_without_articles_and_documents_finds_records_alone(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Turbine")
    file = io.BytesIO(b"The turbine stands still.")
    browser.submit("documents/upload", name="Turbine manual", file=(file, "manual.txt"))
    assert "Turbine manual" in browser.get("search?q=turbine").text
    browser.submit("roles/new", name="Intern", **{"clients:read": "all"})
    found = sign_in("Intern").get("search?q=turbine").text
    assert f'href="/admin/clients/{key}"' in found and "Turbine manual" not in found


def test_the_first_page_of_a_role_has_what_it_may_read(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    admin.submit("roles/new", name="Intern", **{"clients:read": "all"})
    page = sign_in("Intern").get("")
    assert page.status_code == 200
    for title in ("Net revenue by month", "Pipeline by stage", "Open tickets by age",
                  "Leads converted by source"):  # fmt: skip
        assert title not in page.text and title in admin.get("").text


def test_the_first_page_has_charts_with_their_queries(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    for source, status in (("Web", "Converted"), ("Web", "New"), ("Phone", "New")):
        browser.make("leads", company="Acme", lastName=status, source=source)
    browser.make("tickets", subject="Broken", requesterEmail="a@example.com")
    page = browser.get("").text
    for title in ("Net revenue by month", "Pipeline by stage", "Open tickets by age",
                  "Leads converted by source"):  # fmt: skip
        assert title in page
    assert page.count("/odata/") >= 6
    assert re.search(r'>today</a></th>.*?<td class="number"><data value="1">1<', page, re.DOTALL)
    assert 'data-live="30"' in page
