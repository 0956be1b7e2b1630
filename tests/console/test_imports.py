"""Imports in the console: a file is tried, its columns are named, and it is imported."""

from __future__ import annotations

import io
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.importing import taking
from app.models.client import Client
from tests.console.conftest import Browser, SignIn

ROWS = "Partner,E-Mail\nMüller GmbH,info@mueller.example\nBeta,beta@example.com\n"


def send(browser: Browser, content: str = ROWS, **fields: Any) -> Any:
    wanted = {"type": "client", "dryRun": "false", "mode": "allOrNothing", "update": "", **fields}
    return browser.submit("imports", **wanted, file=(io.BytesIO(content.encode()), "kunden.csv"))


def names(session: Session) -> list[str]:
    return sorted(session.scalars(select(Client.name)))


def test_a_column_that_is_not_known_is_named_and_the_file_imported(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    tried = send(browser, dryRun="true")
    assert tried.status_code == 200
    assert "is no property" in tried.text and 'name="map:Partner"' in tried.text
    assert 'aria-invalid="true"' in tried.text
    again = send(browser, dryRun="true", **{"map:Partner": "name"})
    assert again.status_code == 200 and "Tried, nothing was kept: 2 rows, 2 made" in again.text
    assert names(session) == []
    done = send(browser, **{"map:Partner": "name"})
    assert "Done: 2 rows, 2 made" in done.text
    session.rollback()
    assert names(session) == ["Beta", "Müller GmbH"]


def test_rows_with_problems_are_listed_and_may_be_left_out(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    rows = "name,email\nAcme,nobody\nBeta,beta@example.com\n"
    refused = send(browser, rows)
    assert refused.status_code == 400 and "must be an e-mail address" in refused.text
    assert names(session) == []
    done = send(browser, rows, mode="skipBad")
    assert "1 left out, 1 problem." in done.text and "must be an e-mail address" in done.text
    session.rollback()
    assert names(session) == ["Beta"]


def test_a_long_file_is_left_to_the_worker(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "MOST_AT_ONCE", 1)
    browser = sign_in("Admin")
    queued = send(browser, **{"map:Partner": "name"})
    assert queued.status_code == 303
    page = browser.client.get(queued.headers["Location"])
    assert "kunden.csv" in page.text and "Queued" in page.text
    assert "kunden.csv" in browser.get("jobs").text


def test_a_file_that_is_no_table_is_said_on_the_page(sign_in: SignIn) -> None:
    answer = send(sign_in("Admin"), "")
    assert answer.status_code == 400 and 'role="alert"' in answer.text


def test_who_may_make_none_may_import_none(sign_in: SignIn) -> None:
    viewer = sign_in("Viewer")
    assert "/admin/imports" not in viewer.get("clients/").text
    assert viewer.get("imports").status_code == 403
    assert send(viewer).status_code == 403


def test_an_import_of_another_site_does_nothing(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    form = {"type": "client", "file": (io.BytesIO(b"name\nForged\n"), "x.csv")}
    assert browser.client.post("/admin/imports", data=form).status_code == 403
    assert names(session) == []


def test_how_numbers_are_read_is_shown_and_chosen(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    rows = "name;revenue\nAcme;12.500\n"
    tried = send(browser, rows, dryRun="true")
    assert "could be two numbers: write 12500 or 12.50" in tried.text
    assert "could be two: choose above" in tried.text
    chosen = send(browser, rows, dryRun="true", decimalSign="comma")
    assert "<td>12.500</td><td>12500</td>" in chosen.text
    assert '<option value="comma" selected>' in chosen.text
    assert "Done: 1 rows, 1 made" in send(browser, rows, decimalSign="comma").text
    session.rollback()
    assert session.scalars(select(Client.revenue)).one() == 12500


def test_a_trial_shows_the_first_rows_as_they_were_read(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    rows = 'Firma;Land;Umsatz;Rang\nMüller GmbH;Österreich;"12.500,50 €";1\n'
    refused = send(browser, rows, dryRun="true")
    assert "is no property" in refused.text
    tried = send(browser, rows, dryRun="true", unknownColumns="ignore")
    assert "1 rows, 1 made" in tried.text, tried.text
    shown = tried.text.partition("The first rows as they were read")[2].partition("</table>")[0]
    for cell in ("Müller GmbH", "AT", "12500.5", "EUR"):
        assert f">{cell}</td>" in shown
