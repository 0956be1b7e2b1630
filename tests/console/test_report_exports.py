"""A report that is exported from a page, or mailed as a page said, speaks as the page does."""

from __future__ import annotations

import csv
import io
import json
import re

import openpyxl
import pytest
from flask import Flask
from pypdf import PdfReader

from app.bi.exports.jobs import run_exports
from app.bi.exports.mailing import send_due_reports
from app.bi.reports.builtin import built_in
from app.bi.reports.definition import Report
from app.clock import utc_now
from app.console.language import msgids
from app.db.engines import transaction
from app.localisation.catalogue import COLUMN, text_as, text_in
from app.models.event import OutgoingMail
from app.models.report import SavedReport
from tests.bi.conftest import business
from tests.console.conftest import Browser, SignIn
from tests.factories import put_row, rows

__all__ = ["business"]

pytestmark = pytest.mark.only_on("sqlite")
# English words that a German text has as well.
BOTH = {"Name", "EUR", "Status", "Service"}


@pytest.fixture
def browser(sign_in: SignIn, business: None) -> Browser:
    """Of somebody whose browser speaks German."""
    browser = sign_in("Admin")
    browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    return browser


def texts_of(content: bytes, form: str) -> list[str]:
    """The cells of a table, or the words of a page between two blanks or more."""
    if form == "csv":
        table = list(csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=";"))
        return [cell for row in table for cell in row]
    if form == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(content))
        cells = [cell.value for sheet in book.worksheets for row in sheet for cell in row]
        return [*book.sheetnames, *(each for each in cells if isinstance(each, str))]
    return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]


@pytest.mark.parametrize("form", ["csv", "xlsx", "pdf"])
@pytest.mark.parametrize("report", built_in().values(), ids=lambda report: report.key)
def test_an_export_speaks_as_its_page_does(browser: Browser, report: Report, form: str) -> None:
    answer = browser.submit(f"reports/{report.id}/export", format=form)
    assert answer.status_code == 200, answer.text
    german = {english: text_in("de", english) for _, english in msgids("de")}
    texts = texts_of(answer.data, form)
    whole = "\n".join(texts)
    for column in report.columns:
        assert text_as("de", COLUMN, column.label).split()[0] in whole, column.label
    foreign = [text for text in texts if german.get(text, text) != text and text not in BOTH]
    assert foreign == []
    if form == "pdf":
        assert german[report.name] in whole and "Seite 1" in whole and "Stand" in whole
        assert not re.search(r"Page|As of|rows|Total\b", whole)


def test_numbers_and_days_are_written_as_in_its_language(browser: Browser) -> None:
    text = texts_of(browser.submit("reports/1/export", format="pdf").data, "pdf")[0]
    assert "150,25" in text and "150.25" not in text
    assert "150,25" in texts_of(browser.submit("reports/1/export", format="csv").data, "csv")
    assert re.search(r"Stand \d\d\.\d\d\.\d\d, \d\d:\d\d UTC\. 2 Zeilen\.", text)


def test_what_is_for_programs_has_the_words_of_the_api(browser: Browser) -> None:
    body = json.loads(browser.submit("reports/1/export", format="json").data)
    assert body["report"]["name"] == "Revenue by month"
    assert {"Year", "Month"} <= {column["label"] for column in body["columns"]}


def test_the_worker_speaks_as_the_page_that_asked_did(browser: Browser, app: Flask) -> None:
    begun = browser.submit("reports/1/export", format="xlsx", background="1")
    with app.app_context():
        assert run_exports() == 1
    file = browser.get(begun.headers["Location"].removeprefix("/admin/") + "/file")
    assert "Werte des Diagramms" in texts_of(file.data, "xlsx")


def test_a_mailed_report_speaks_as_the_page_that_scheduled_it(browser: Browser, app: Flask) -> None:
    saved = browser.submit("questions", q="Clients by status", name="Stände")
    address = saved.headers["Location"].removeprefix("/admin/")
    schedule = {"every": "daily", "format": "csv", "time": "07:00", "to": "a@b.example"}
    assert browser.submit(f"{address}/schedule", **schedule).status_code == 303
    with app.app_context():
        with transaction():
            (report,) = rows(SavedReport)
            put_row(SavedReport, report["id"], next_run_at=utc_now())
        assert send_due_reports() == 1
        (mail,) = rows(OutgoingMail)
    assert re.search(r"Stände, Stand .* Zeilen?\.", mail["text_body"])
