"""Reports: built in and saved, their rows, charts, parameters, schedules."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

from app.bi.exports.mailing import send_due_reports
from app.bi.reports import saving
from app.bi.reports.builtin import built_in
from app.bi.reports.schedules import next_run
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.event import OutgoingMail
from app.models.report import SavedReport
from tests.contract.conftest import Api
from tests.factories import make_client, make_opportunity, put_row, rows

KEYS = [
    "revenue-by-month", "pipeline-by-stage", "receivables-ageing", "sales-by-client",
    "tax-summary", "tickets-by-status-and-age", "lead-sources", "project-hours-and-budget",
]  # fmt: skip
# Whose rows each of them shows; the roles that may not read them are told so.
REFUSED = {"Accountant": {7}, "Support": {2}, "Sales": set(), "Viewer": set()}


def test_eight_reports_are_built_in(admin: Api) -> None:
    items = admin.get("/api/bi/reports").json["items"]
    assert [item["key"] for item in items] == KEYS
    assert [item["id"] for item in items] == list(range(1, 9))
    assert all(item["formats"] == ["xlsx", "csv", "pdf", "json"] for item in items)


@pytest.mark.parametrize(("limit", "offset"), [(3, 0), (3, 6), (1, 7), (5, 8), (200, 2)])
def test_reports_are_listed_in_pages(admin: Api, limit: int, offset: int) -> None:
    page = admin.get(f"/api/bi/reports?limit={limit}&offset={offset}").json
    assert [item["key"] for item in page.pop("items")] == KEYS[offset : offset + limit]
    assert page == {"total": 8, "limit": limit, "offset": offset}
    assert admin.get("/api/bi/reports?limit=201").status_code == 400


@pytest.mark.parametrize("key", KEYS)
def test_a_report_gives_the_rows_of_its_query(admin: Api, business: None, key: str) -> None:
    report = admin.get(f"/api/bi/reports/{key}").json
    answer = admin.get(f"/api/bi/reports/{key}/data")
    assert answer.status_code == 200, answer.text
    found = answer.json
    assert found["query"] == report["query"]
    again = admin.get(found["query"]["odata"]).json["value"]
    assert len(again) == found["rowCount"]
    names = {column["name"] for column in found["columns"]}
    assert all(names <= set(row) for row in found["rows"])
    if key != "project-hours-and-budget":
        assert found["rows"]


def test_an_average_keeps_the_digits_of_its_currency(app: Flask, admin: Api) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for currency, amounts in (("KWD", ("1.001", "2.002")), ("EUR", ("1", "1", "2"))):
            client = make_client(currency=currency)
            for amount in amounts:
                make_opportunity(client_id=client, amount=Decimal(amount))
    rows = admin.get("/api/bi/reports/pipeline-by-stage/data").json["rows"]
    found = {row["currency"]: Decimal(str(row["averageAmount"])) for row in rows}
    assert found == {"KWD": Decimal("1.502"), "EUR": Decimal("1.33")}


def test_sums_are_told_for_each_currency_by_itself(admin: Api, business: None) -> None:
    totals = admin.get("/api/bi/reports/1/data").json["totals"]
    found = {row["currency"]: Decimal(str(row["revenue"])) for row in totals}
    assert found == {"CHF": Decimal(70), "EUR": Decimal("150.25")}


def test_what_is_owed_stands_under_its_age(admin: Api, business: None) -> None:
    found = admin.get("/api/bi/reports/receivables-ageing/data?currency=EUR").json["rows"]
    assert [(row["Client/name"], row["invoices"]) for row in found] == [("ACME GmbH", 1)]
    assert (
        Decimal(str(found[0]["notDue"])) == Decimal("50.25") == Decimal(str(found[0]["amountDue"]))
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [("bogus=1", "filters.bogus"), ("from=yesterday", "filters.from"),
     ("from=2026-02-30", "filters.from"), ("clientId=1%20or%20true", "filters.clientId"),
     ("from=2026-02-02&to=2026-02-01", "filters.to"),
     ("limit=0", "limit"), ("limit=5001", "limit"), ("limit=x", "limit"),
     ("currency=EUR&currency=CHF", "currency"), ("currency=" + "x" * 300, "filters.currency")],
)  # fmt: skip
def test_a_bad_parameter_is_named(admin: Api, query: str, field: str) -> None:
    answer = admin.get(f"/api/bi/reports/1/data?{query}")
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["details"][0]["field"] == field


def test_a_parameter_is_a_literal_and_nothing_else(admin: Api, business: None) -> None:
    answer = admin.get("/api/bi/reports/1/data", query_string={"currency": "EUR' or true or '"})
    assert answer.status_code == 200 and answer.json["rows"] == []


@pytest.mark.parametrize("role", list(REFUSED))
def test_reports_keep_to_the_rights_of_their_caller(
    business: None, sign_in: Callable[..., Api], role: str
) -> None:
    caller = sign_in(role)
    for report in built_in().values():
        status = caller.get(f"/api/bi/reports/{report.id}/data").status_code
        assert status == (403 if report.id in REFUSED[role] else 200), (role, report.id)
    listed = {item["id"] for item in caller.get("/api/bi/reports").json["items"]}
    assert listed == set(range(1, 9)) - REFUSED[role]


@pytest.mark.parametrize(("form", "head"), [("svg", b"<svg"), ("png", b"\x89PNG")])
@pytest.mark.only_on("sqlite")
def test_a_chart_is_drawn(
    admin: Api, business: None, form: str, head: bytes, database: str
) -> None:
    answer = admin.get(f"/api/bi/reports/tickets-by-status-and-age/chart.{form}")
    assert answer.status_code == 200, answer.text
    assert answer.data.startswith(head)
    assert admin.get(f"/api/bi/reports/999/chart.{form}").status_code == 404


# --- saved reports


def save(api: Api, **values: Any) -> dict[str, Any]:
    answer = api.post("/api/bi/reports", values)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json
    assert answer.headers["Location"].endswith(f"/{body['id']}")
    return body


def test_a_question_is_saved_and_understood_anew(admin: Api, business: None) -> None:
    report = save(admin, name="Urgencies", question="Open tickets by priority")
    assert report["id"] > 100 and report["question"] == "Open tickets by priority"
    found = admin.get(f"/api/bi/reports/{report['id']}/data").json
    assert [row["count"] for row in found["rows"]] == [3, 1]
    svg = report["chart"]
    assert svg["x"] == "priority"


def test_an_odata_query_is_saved(admin: Api, business: None) -> None:
    url = "/odata/Clients?$filter=startswith(name,'A')&$select=name,currency"
    report = save(admin, name="A", odata=url, shared=True)
    assert [column["name"] for column in report["columns"]] == ["name", "currency"]
    assert admin.get(f"/api/bi/reports/{report['id']}/data").json["rows"] == [
        {"name": "ACME GmbH", "currency": "EUR"}
    ]


def test_columns_are_those_of_the_rows_and_not_of_the_first_one_alone(
    admin: Api, business: None
) -> None:
    url = "/odata/Tasks?$select=title,dueAt,estimatedHours&$expand=Project($select=name)"
    report = save(admin, name="Work", odata=f"{url}&$orderby=id&$filter=startswith(title,'X')")
    path = f"/api/bi/reports/{report['id']}"
    assert report["columns"] == []
    project = admin.post("/odata/Projects", {"name": "Move"}).json["id"]
    full = {"dueAt": "2026-06-01T10:00:00Z", "estimatedHours": 1.5, "projectId": project}
    for body in ({"title": "X1"}, {"title": "X2", **full}):
        assert admin.post("/odata/Tasks", body).status_code == 201
    kinds = {column["name"]: column["type"] for column in admin.get(path).json["columns"]}
    assert kinds == {
        "title": "text", "dueAt": "instant", "estimatedHours": "number", "Project/name": "text",
    }  # fmt: skip
    file = admin.post(f"{path}/export", {"format": "csv"}).data.decode("utf-8-sig")
    assert file.splitlines()[0] == "Title,Due at,Estimated hours,Project name"
    assert file.splitlines()[2].endswith(",Move")


def test_columns_stand_in_the_order_in_which_they_were_selected(admin: Api) -> None:
    body = {"name": "Zoo", "tags": ["big", "old"], "billingAddress": {"city": "Kiel"}}
    assert admin.post("/odata/Clients", body).status_code == 201
    url = "/odata/Clients?$select=tags,billingAddress,createdAt,name,id"
    report = save(admin, name="Order", odata=url)
    names = [column["name"] for column in report["columns"]]
    assert (names[0], names[-3:]) == ("tags", ["createdAt", "name", "id"])
    assert "billingAddress/city" in names[1:-3]
    answer = admin.post(f"/api/bi/reports/{report['id']}/export", {"format": "csv"})
    row = answer.data.decode("utf-8-sig").splitlines()[1]
    assert row.startswith("big; old,") and ",Kiel," in row
    everything = save(admin, name="All", odata="/odata/Clients")["columns"]
    assert "tags" not in {column["name"] for column in everything}


def test_what_a_report_asks_for_is_changed(
    admin: Api, business: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = save(admin, name="A", odata="/odata/Clients?$select=name,createdAt")
    path = f"/api/bi/reports/{report['id']}"
    both = {"question": "open tickets", "odata": "/odata/Clients"}
    assert admin.patch(path, both).status_code == 400
    changed = admin.patch(path, {"odata": "/odata/Projects?$select=name,startDate,tags"}).json
    assert changed["query"]["entity"] == "Projects"
    question = admin.patch(path, {"question": "Open tickets by priority"}).json
    assert question["question"] == "Open tickets by priority"
    monkeypatch.setattr(saving, "MOST_SAVED", 1)
    more = admin.post("/api/bi/reports", {"name": "B", "odata": "/odata/Clients"})
    assert (more.status_code, more.json["error"]["details"][0]["field"]) == (400, "name")


@pytest.mark.parametrize(
    "values",
    [
        {"name": "x"},
        {"name": "x", "question": "open tickets", "odata": "/odata/Clients"},
        {"name": "x", "question": "profit margin by product"},
        {"name": "x", "odata": "https://evil.example/other"},
        {"name": "x", "odata": "/odata/Nothing"},
        {"name": "x", "odata": "/odata/Clients?$filter=nope eq 1"},
        {"name": "x", "odata": "/odata/Clients?$filter=true&$filter=false"},
        {"name": "x", "odata": "/odata/Clients?$skiptoken=abc"},
        {"name": "", "odata": "/odata/Clients"},
        {"odata": "/odata/Clients"},
        {"name": "x", "odata": "/odata/Clients", "columns": [{"name": "a", "type": "evil"}]},
    ],
)
def test_a_report_that_cannot_be_run_is_not_saved(admin: Api, values: dict[str, Any]) -> None:
    answer = admin.post("/api/bi/reports", values)
    assert answer.status_code == 400, answer.text
    assert len(admin.get("/api/bi/reports").json["items"]) == 8


def test_reports_belong_to_their_owner(
    admin: Api, business: None, sign_in: Callable[..., Api]
) -> None:
    own = save(admin, name="Own", question="open tickets")
    shared = save(admin, name="Shared", odata="/odata/Leads?$select=source", shared=True)
    sales, accountant = sign_in("Sales"), sign_in("Accountant")
    assert sales.get(f"/api/bi/reports/{own['id']}").status_code == 404
    assert sales.get(f"/api/bi/reports/{shared['id']}/data").json["rowCount"] == 2
    assert accountant.get(f"/api/bi/reports/{shared['id']}/data").status_code == 403
    for change in (
        sales.patch(f"/api/bi/reports/{shared['id']}", {"name": "Mine"}),
        sales.delete(f"/api/bi/reports/{shared['id']}"),
        admin.patch("/api/bi/reports/1", {"name": "Mine"}),
        admin.delete("/api/bi/reports/1"),
    ):
        assert change.status_code == 403, change.text
    renamed = admin.patch(f"/api/bi/reports/{own['id']}", {"name": "Other"})
    assert renamed.json["name"] == "Other"
    assert admin.delete(f"/api/bi/reports/{own['id']}").status_code == 204
    assert admin.get(f"/api/bi/reports/{own['id']}").status_code == 404


# --- schedules


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ({"every": "daily", "time": "07:00"}, "2026-06-18T05:00"),
        ({"every": "daily", "time": "23:30"}, "2026-06-17T21:30"),
        ({"every": "weekly", "weekday": 1, "time": "07:00"}, "2026-06-22T05:00"),
        ({"every": "monthly", "day": 31, "time": "07:00"}, "2026-06-30T05:00"),
    ],
)
def test_the_next_time_is_one_of_the_day_of_the_organisation(
    schedule: dict[str, Any], expected: str
) -> None:
    now = datetime(2026, 6, 17, 10, 0, tzinfo=UTC)
    found = next_run(schedule, now, ZoneInfo("Europe/Berlin"))
    assert found.strftime("%Y-%m-%dT%H:%M") == expected


def test_a_report_is_mailed_when_its_time_has_come(app: Flask, admin: Api, business: None) -> None:
    report = save(admin, name="Urgencies", question="Open tickets by priority")
    path = f"/api/bi/reports/{report['id']}/schedule"
    schedule = {"every": "daily", "to": ["Ada@acme.example"], "format": "csv"}
    answer = admin.put(path, schedule)
    assert answer.status_code == 200 and answer.json["nextRunAt"]
    with app.app_context():
        assert send_due_reports() == 0
        with transaction(), acting_as(system_caller()):
            put_row(SavedReport, report["id"] - 100, next_run_at=datetime(2026, 1, 1, tzinfo=UTC))
        assert send_due_reports() == 1
        assert send_due_reports() == 0
        (mail,) = rows(OutgoingMail)
    assert mail["attachments"][0]["contentType"].startswith("text/csv")
    assert mail["subject"].startswith("Urgencies")
    assert admin.delete(path).status_code == 204
    assert admin.get(f"/api/bi/reports/{report['id']}").json["schedule"] is None


def test_a_report_is_not_mailed_for_who_may_not_export_any_more(
    app: Flask, admin: Api, business: None, sign_in: Callable[..., Api]
) -> None:
    manager = sign_in("Manager")
    report = save(manager, name="Urgencies", question="Open tickets by priority")
    path = f"/api/bi/reports/{report['id']}/schedule"
    schedule = {"every": "daily", "to": ["ada@acme.example"], "format": "csv"}
    assert manager.put(path, schedule).status_code == 200
    users = admin.get("/api/admin/users").json["items"]
    key = next(user["id"] for user in users if user["username"] == "manager")
    assert admin.patch(f"/api/admin/users/{key}", {"status": "disabled"}).status_code == 200
    with app.app_context():
        with transaction(), acting_as(system_caller()):
            put_row(SavedReport, report["id"] - 100, next_run_at=datetime(2026, 1, 1, tzinfo=UTC))
        assert send_due_reports() == 1
        assert send_due_reports() == 0  # and the next time is another day
        assert rows(OutgoingMail) == []


@pytest.mark.parametrize(
    "values",
    [{}, {"every": "hourly", "to": ["a@b.example"]},
     {"every": "daily", "to": []},
     {"every": "daily", "to": ["nobody"]},
     {"every": "daily", "to": ["a@b.example"], "time": "25:0"},
     {"every": "weekly", "to": ["a@b.example"], "weekday": 8},
     {"every": "daily", "to": ["a@b.example\r\nBcc: x@y.example"]}],
)  # fmt: skip
def test_a_bad_schedule_is_refused(admin: Api, business: None, values: dict[str, Any]) -> None:
    report = save(admin, name="R", question="open tickets")
    answer = admin.put(f"/api/bi/reports/{report['id']}/schedule", values)
    assert answer.status_code == 400, answer.text
