"""Exports: every form, nothing that runs, what is left out is told, large ones by the worker."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import openpyxl
import pytest
from flask import Flask
from pypdf import PdfReader

from app.bi.exports import pdf_file, service
from app.bi.exports.csv_file import write_csv
from app.bi.exports.formats import FORMATS, ExportFormat
from app.bi.exports.jobs import run_exports, tidy_exports
from app.blobs import BlobMissingError, blobs
from app.clock import utc_now
from app.db.engines import transaction
from app.errors import ServiceUnavailableError
from app.localisation.guards import guarded, unguarded
from app.models.event import Event
from app.models.report import ReportExport
from app.models.user import ApiKey
from tests.contract.conftest import Api
from tests.factories import event_names, put_row, rows

TICKETS = "/odata/Tickets?$select=id,subject,createdAt&$orderby=id"


@pytest.fixture
def report(admin: Api, business: None) -> int:
    """A saved report whose rows have a formula among them."""
    answer = admin.post("/api/bi/reports", {"name": "All tickets", "odata": TICKETS})
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def export(api: Api, report: int | str, form: str, **more: Any) -> Any:
    answer = api.post(f"/api/bi/reports/{report}/export", {"format": form, **more})
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.requirement("SEC-67")
def test_a_workbook_has_typed_cells_and_no_formula(admin: Api, report: int) -> None:
    answer = export(admin, report, "xlsx")
    assert answer.headers["X-Row-Count"] == "4" and answer.headers["X-Truncated"] == "false"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="all-tickets-')
    book = openpyxl.load_workbook(io.BytesIO(answer.data))
    sheet = book["Data"]
    assert [cell.value for cell in sheet[1]] == ["Id", "Subject", "Created at"]
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:C5"
    assert isinstance(sheet["A2"].value, int) and isinstance(sheet["C2"].value, datetime)
    subjects = {cell.value: cell.data_type for cell in sheet["B"][1:]}
    assert subjects["=HYPERLINK(1)"] == "s"
    every = [cell for each in book.worksheets for row in each.iter_rows() for cell in row]
    assert not [cell for cell in every if cell.data_type == "f"]


def test_a_workbook_has_sums_by_currency_and_a_sheet_with_the_chart(
    admin: Api, business: None
) -> None:
    book = openpyxl.load_workbook(io.BytesIO(export(admin, 1, "xlsx").data))
    assert book.sheetnames == ["Data", "About", "Chart data", "Chart"]
    found = [[cell.value for cell in row] for row in book["Data"].iter_rows()]
    totals = {row[2]: row[6] for row in found[-2:]}
    assert totals == {"CHF": 70, "EUR": 150.25}
    assert [row[0] for row in found[-2:]] == ["Total", "Total"]
    about = {row[0].value: row[1].value for row in book["About"].iter_rows()}
    assert about["Complete"] == "yes" and about["Query"].startswith("/odata/Invoices?$apply=")


@pytest.mark.requirement("SEC-67")
def test_csv_keeps_texts_from_being_formulas(admin: Api, report: int) -> None:
    answer = export(admin, report, "csv")
    assert answer.data.startswith(b"\xef\xbb\xbf")
    found = list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"))))
    assert found[0] == ["Id", "Subject", "Created at"]
    assert "'=HYPERLINK(1)" in [row[1] for row in found]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx"])
def test_what_looks_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert guarded(text) == "'" + text and unguarded("'" + text) == text
    assert guarded("a" + text) == "a" + text


def test_json_says_what_it_is(admin: Api, business: None) -> None:
    body = json.loads(export(admin, 1, "json", filters={"currency": "CHF"}).data)
    assert body["report"] == {"id": 1, "name": "Revenue by month"}
    assert body["parameters"]["currency"] == "CHF"
    assert [row["currency"] for row in body["rows"]] == ["CHF"]
    assert body["totalRows"] == 1 and body["truncated"] is False
    assert body["totals"][0]["currency"] == "CHF"


def test_a_pdf_shows_the_rows(admin: Api, report: int) -> None:
    reader = PdfReader(io.BytesIO(export(admin, report, "pdf").data))
    text = "".join(page.extract_text() for page in reader.pages)
    assert "All tickets" in text and "=HYPERLINK(1)" in text and "4 rows" in text


def test_a_pdf_has_the_chart_and_the_sums(admin: Api, business: None) -> None:
    (page, *_) = PdfReader(io.BytesIO(export(admin, 1, "pdf").data)).pages
    assert len(page.images) == 1
    text = page.extract_text()
    assert "Total" in text and "150.25" in text
    (picture,) = page.images
    wide, high = picture.image.size
    assert wide / high > 3  # as wide as the page lies, above a table of its width


def test_a_chart_that_cannot_be_drawn_keeps_no_pdf_from_being_made(
    admin: Api, business: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any) -> bytes:
        raise ServiceUnavailableError("Too much is being drawn.")

    monkeypatch.setattr(pdf_file, "draw", refused)
    (page, *_) = PdfReader(io.BytesIO(export(admin, 1, "pdf").data)).pages
    assert not page.images and "150.25" in page.extract_text()


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_report_is_a_file_too(admin: Api, form: str) -> None:
    answer = export(admin, 3, form)
    assert answer.headers["X-Row-Count"] == "0" and answer.data


@pytest.mark.parametrize("form", FORMATS)
def test_rows_that_are_left_out_are_told(
    admin: Api, report: int, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setitem(FORMATS, form, dataclasses.replace(FORMATS[form], most_rows=3))
    answer = export(admin, report, form)
    assert answer.headers["X-Row-Count"] == "3" and answer.headers["X-Truncated"] == "true"
    if form == "xlsx":
        cells = [
            cell.value for cell in openpyxl.load_workbook(io.BytesIO(answer.data))["Data"]["A"]
        ]
        assert cells[-1] == "Truncated: the first 3 of 4 rows."
    if form == "json":
        assert json.loads(answer.data)["truncated"] is True


def test_a_new_format_needs_one_entry(
    admin: Api, report: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = ExportFormat("Tabs", "text/tab-separated-values", 2, write_csv)
    monkeypatch.setitem(FORMATS, "tsv", form)
    assert "tsv" in admin.get(f"/api/bi/reports/{report}").json["formats"]
    answer = export(admin, report, "tsv")
    assert answer.headers["Content-Type"].startswith("text/tab-separated-values")
    assert answer.headers["Content-Disposition"].endswith('.tsv"')
    assert answer.headers["X-Row-Count"] == "2" and answer.headers["X-Truncated"] == "true"
    queued = admin.post(f"/api/bi/reports/{report}/export", {"format": "tsv", "background": True})
    assert queued.status_code == 202 and queued.json["format"] == "tsv"


@pytest.mark.parametrize(
    "body",
    [{}, {"format": "exe"}, {"format": 5}, {"format": "xlsx", "filters": {"bogus": 1}},
     {"format": "xlsx", "filters": []}, {"format": "xlsx", "more": 1}],
)  # fmt: skip
def test_a_bad_wish_is_refused(admin: Api, body: dict[str, Any]) -> None:
    answer = admin.post("/api/bi/reports/1/export", body)
    assert answer.status_code == 400, answer.text


def test_only_those_who_may_export_do(business: None, sign_in: Callable[..., Api]) -> None:
    for role, status in {"Sales": 403, "Support": 403, "Viewer": 403, "Accountant": 200}.items():
        answer = sign_in(role).post("/api/bi/reports/1/export", {"format": "csv"})
        assert answer.status_code == status, role
    answer = sign_in("Manager").post("/api/bi/reports/99/export", {"format": "csv"})
    assert answer.status_code == 404


def test_an_export_is_an_event(app: Flask, admin: Api, report: int) -> None:
    export(admin, report, "csv")
    with app.app_context():
        assert event_names("Report", report) == ["report.exported"]
        (event,) = rows(Event, entity="Report")
    assert event["payload"]["object"] == {
        "id": report, "name": "All tickets", "format": "csv", "rowCount": 4, "truncated": False,
    }  # fmt: skip


# --- large exports


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """More than two rows are many."""
    monkeypatch.setattr(service, "AT_ONCE", 2)
    yield


def test_a_large_export_is_made_by_the_worker(
    app: Flask, admin: Api, report: int, small: None, sign_in: Callable[..., Api]
) -> None:
    answer = admin.post(f"/api/bi/reports/{report}/export", {"format": "csv"})
    assert answer.status_code == 202, answer.text
    made = answer.json
    assert made["status"] == "queued" and made["rowsTotal"] == 4
    assert admin.get(made["url"] + "/file").status_code == 409
    assert sign_in("Manager").get(made["url"]).status_code == 404
    with app.app_context():
        assert run_exports() == 1
        assert run_exports() == 0
    done = admin.get(made["url"]).json
    assert (done["status"], done["progress"], done["rowsDone"]) == ("done", 100, 4)
    file = admin.get(done["downloadUrl"])
    assert file.headers["X-Row-Count"] == "4"
    assert file.data.decode("utf-8-sig").splitlines()[0] == "Id,Subject,Created at"


def test_who_lost_the_right_gets_no_file(
    app: Flask, admin: Api, business: None, sign_in: Callable[..., Api]
) -> None:
    manager = sign_in("Manager")
    wish = {"format": "csv", "background": True}
    made = manager.post("/api/bi/reports/1/export", wish).json
    users = admin.get("/api/admin/users").json["items"]
    key = next(user["id"] for user in users if user["username"] == "manager")
    assert admin.patch(f"/api/admin/users/{key}", {"roles": ["Sales"]}).status_code == 200
    with app.app_context():
        assert run_exports() == 1
        (row,) = rows(ReportExport)
    assert made["id"] == row["key"]
    assert row["status"] == "failed" and "bi:export" in row["error"]


@pytest.mark.parametrize(
    "change",
    [{"revoked": True}, {"expires_at": timedelta(days=-1)}, {"scopes": ["clients:read"]}, {}],
    ids=["revoked", "expired", "narrower", "as it was"],
)
def test_an_export_of_a_key_is_made_with_what_the_key_may_by_then(
    app: Flask, admin: Api, business: None, change: dict[str, Any]
) -> None:
    wish = {"name": "ERP", "role": "Manager", "scopes": ["bi:export", "bi:query", "invoices:read"]}
    made = admin.post("/api/admin/api-keys", wish).json
    answer = admin.client.post(
        "/api/bi/reports/1/export",
        json={"format": "csv", "background": True},
        headers={"X-API-Key": made["key"]},
    )
    assert answer.status_code == 202, answer.text
    with app.app_context():
        if change:
            moment = utc_now()
            values = {
                "revoked": {"revoked_at": moment},
                "expires_at": {"expires_at": moment - timedelta(days=1)},
                "scopes": {"scopes": ["clients:read"]},
            }[next(iter(change))]
            with transaction():
                put_row(ApiKey, made["id"], **values)
        assert run_exports() == 1
        (row,) = rows(ReportExport)
    assert row["status"] == ("failed" if change else "done"), row["error"]
    assert change or row["rows_done"] > 0


def test_what_ended_three_times_is_given_up(app: Flask, admin: Api, business: None) -> None:
    wish = {"format": "csv", "background": True}
    made = admin.post("/api/bi/reports/1/export", wish).json
    with app.app_context():
        (row,) = rows(ReportExport)
        with transaction():
            put_row(ReportExport, row["id"], attempts=3)
        assert run_exports() == 1
    shown = admin.get(made["url"]).json
    assert (shown["status"], shown["error"]) == (
        "failed", "It ended three times before it was done.",
    )  # fmt: skip


def test_files_of_last_week_go_with_their_rows(app: Flask, admin: Api, business: None) -> None:
    for _ in range(2):
        admin.post("/api/bi/reports/1/export", {"format": "csv", "background": True})
    with app.app_context():
        assert run_exports() == 1  # the other one waits
        old, waiting = rows(ReportExport)
        with transaction():
            for row in (old, waiting):
                put_row(ReportExport, row["id"], created_at=utc_now() - timedelta(days=8))
                put_row(ReportExport, row["id"], finished_at=utc_now() - timedelta(days=8))
        assert tidy_exports() >= 1
        assert old["id"] not in [row["id"] for row in rows(ReportExport)]
        with pytest.raises(BlobMissingError):
            blobs.current.read(old["blob_key"])
