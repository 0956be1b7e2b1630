"""Imports in the console: a file is tried, its columns are named, and it is imported."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.console.imports import PATHS
from app.console.wording import label
from app.importing import submission
from app.importing.columns import Options, plan_columns, properties_of
from app.importing.jobs import run_imports
from app.importing.limits import REQUEST
from app.models.client import Client
from app.models.import_job import ImportJob
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
    assert again.status_code == 200 and "Tried, nothing was kept: 2 rows, 2 created" in again.text
    assert names(session) == []
    done = send(browser, **{"map:Partner": "name"})
    assert "Done: 2 rows, 2 created" in done.text
    session.rollback()
    assert names(session) == ["Beta", "Müller GmbH"]


def test_columns_that_are_not_recognised_are_left_out_by_the_page(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    choice = re.search(
        r'<select id="unknownColumns".*?</select>', browser.get("imports").text, re.S
    )
    assert choice and re.findall(r'value="(\w+)"', choice[0]) == ["ignore", "refuse"]
    rows = "Name;Gänsefüßchen\nAcme;Weg 1\n"
    tried = send(browser, rows, dryRun="true", unknownColumns="ignore")
    assert "Tried, nothing was kept: 1 row, 1 created" in tried.text
    assert "Columns that are left out: Gänsefüßchen" in tried.text
    refused = send(browser, rows, dryRun="true", unknownColumns="refuse")
    assert "look at the fields that are marked" in refused.text
    assert refused.text.count("is no property") == 1 and "G nsef" not in refused.text


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
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 1)
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
    assert "could be two: choose how the file is written" in tried.text
    chosen = send(browser, rows, dryRun="true", decimalSign="comma")
    assert '<td>12.500</td><td><data value="12500">12,500</data></td>' in chosen.text
    assert '<option value="comma" selected>' in chosen.text
    assert "Done: 1 row, 1 created" in send(browser, rows, decimalSign="comma").text
    session.rollback()
    assert session.scalars(select(Client.revenue)).one() == 12500


def test_a_trial_shows_the_first_rows_as_they_were_read(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    rows = 'Firma;Land;Umsatz;Rang\nMüller GmbH;Österreich;"12.500,50 €";1\n'
    refused = send(browser, rows, dryRun="true")
    assert "is no property" in refused.text
    tried = send(browser, rows, dryRun="true", unknownColumns="ignore")
    assert "1 row, 1 created" in tried.text, tried.text
    shown = tried.text.partition("The first rows as they will be")[2].partition("</table>")[0]
    for cell in ("Müller GmbH", "Austria", "12,500.50</data>", "EUR"):
        assert f">{cell}</td>" in shown


def columns_shown(text: str) -> str:
    return text.partition("Columns of the file")[2]


def test_the_next_file_with_the_same_headings_begins_with_the_columns_of_the_last(
    sign_in: SignIn, session: Session
) -> None:
    browser, colleague = sign_in("Admin"), sign_in("Sales")
    rows = "Partner,Rang\nAcme,1\n"
    chosen = {"map:Partner": "name", "map:Rang": "-"}
    assert "1 row, 1 created" in send(browser, rows, dryRun="true", **chosen).text
    next_time = send(colleague, "Rang,Partner\n2,Beta\n")  # in another order
    assert "Done: 1 row, 1 created" in next_time.text
    assert "as they were chosen for the last file" in next_time.text
    assert '<option value="name" selected>' in columns_shown(next_time.text)
    session.rollback()
    assert names(session) == ["Beta"]
    of_leads = send(browser, rows, type="lead", dryRun="true")
    assert "as they were chosen" not in of_leads.text and "is no property" in of_leads.text


def test_a_file_too_large_to_be_looked_at_begins_with_the_columns_of_the_last(
    app: Flask, sign_in: SignIn, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = sign_in("Admin")
    rows = "Partner,Rang\nAcme,1\n"
    send(browser, rows, dryRun="true", **{"map:Partner": "name", "map:Rang": "-"})
    monkeypatch.setattr(submission, "REQUEST", replace(REQUEST, rows=0))
    assert send(browser, rows).status_code == 303
    with app.app_context():
        assert run_imports() == 1
    session.rollback()
    assert names(session) == ["Acme"]
    assert session.scalars(select(ImportJob.options)).one()["mapping"] == {
        "Partner": "name", "Rang": None,
    }  # fmt: skip
    assert send(browser, rows, **{"map:Partner": "", "map:Rang": ""}).status_code == 303
    with app.app_context():
        assert run_imports() == 1
    session.rollback()
    failed = select(ImportJob.status).order_by(ImportJob.id.desc())
    assert session.scalars(failed).first() == "Failed"


def test_columns_are_named_anew_and_forgotten(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    rows = "Partner,name\nAcme,Beta\n"
    send(browser, rows, dryRun="true", **{"map:Partner": "name", "map:name": "-"})
    assert ">Acme</td>" in send(browser, rows, dryRun="true").text
    refused = send(browser, rows, dryRun="true", **{"map:Partner": "", "map:name": ""})
    assert "as they were chosen" not in refused.text and "is no property" in refused.text
    send(browser, rows, dryRun="true", **{"map:Partner": "-", "map:name": ""})
    assert ">Beta</td>" in send(browser, rows, dryRun="true").text


def test_a_trial_shows_what_the_records_will_have(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    rows = "Artikel;Einheit;Preis\nBeratung;Stunden;120,50\nVersand;psch.;9,90\nTee;XBX;3,10\n"
    tried = send(browser, rows, type="product", dryRun="true")
    assert "3 rows, 3 created" in tried.text, tried.text
    shown = tried.text.partition("The first rows as they will be")[2].partition("</table>")[0]
    for cell in ("Beratung", "h", "120.50</data>", "EUR", "lump sum", "box"):
        assert f">{cell}</td>" in shown
    wrong = send(browser, "Artikel;Einheit\nTee;Kübel\n", type="product", dryRun="true")
    assert '<td dir="auto">Einheit</td>' in wrong.text and ">C62</td>" not in wrong.text
    assert "must be a code of UN/ECE Recommendation 20 or 21" in wrong.text


@pytest.mark.parametrize("of_language", ["en", "de"])
def test_a_column_may_be_called_as_the_page_calls_its_property(
    app: Flask, of_language: str
) -> None:
    """But where two are called alike, or people mean another by it; people are found by ids."""
    others = {"legalName", "clientId", "ownerId"}
    with app.test_request_context("/admin/", headers={"Accept-Language": of_language}):
        for kind in PATHS:
            known = {label(name): name for name in properties_of(kind) if name not in others}
            columns, problems = plan_columns(list(known), Options(type=kind))
            assert problems == []
            assert {each.heading: each.target for each in columns} == known


def test_a_file_of_a_hundred_columns_can_be_named(sign_in: SignIn, session: Session) -> None:
    headings = [f"Field {number}" for number in range(100)]
    rows = ",".join(headings) + "\n" + ",".join(["Acme", *["x"] * 99]) + "\n"
    chosen = {f"map:{heading}": "-" for heading in headings} | {"map:Field 0": "name"}
    assert "Done: 1 row, 1 created" in send(sign_in("Admin"), rows, **chosen).text
    session.rollback()
    assert names(session) == ["Acme"]


def test_what_is_read_is_shown_in_the_words_and_signs_of_the_page(sign_in: SignIn) -> None:
    rows = 'Company name;Domain name;Annual Revenue;Country\nA;a.example;"1.250.000,50";Germany\n'
    tried = send(sign_in("Admin"), rows, dryRun="true").text
    assert '<td><data value="1250000.50">1,250,000.50</data></td>' in tried  # read as
    assert ">Germany</td>" in tried and ">DE</td>" not in tried
    assert ">https://a.example</td>" in tried


def test_the_file_comes_last_in_its_form(sign_in: SignIn) -> None:
    """It is read as it comes in: what stands behind it would say too late how."""
    form = sign_in("Admin").get("imports").text.partition('id="import"')[2].partition("</form>")[0]
    assert re.findall(r'<(?:select|input)[^>]* name="(\w+)"', form)[-1] == "file"
