"""Days at the edges of the calendar, over HTTP: kept, or refused by the name of their field."""

from __future__ import annotations

from typing import Any

import pytest

from app.invoices import sending
from tests.contract.conftest import Api
from tests.contract.test_rest_money import draft, pay, refusal

LAST = "9999-12-31"
TO = {"to": ["billing@acme.example"]}


def far_draft(api: Api) -> int:
    key: int = draft(api)["id"]
    changed = api.patch(f"/odata/Invoices({key})", {"issueDate": LAST})
    assert changed.status_code == 200, changed.text
    return key


def details(answer: Any) -> list[tuple[str | None, str]]:
    error = answer.json["error"]
    return [(one.get("field", one.get("target")), one["message"]) for one in error["details"]]


def test_what_is_planned_for_the_end_of_the_calendar_is_not_issued(admin: Api) -> None:
    key = far_draft(admin)
    for answer in (
        admin.post(f"/api/invoices/{key}/send", TO),
        admin.post(f"/api/invoices/{key}/send", {"markOnly": True}),
        admin.patch(f"/odata/Invoices({key})", {"status": "Sent"}),
        pay(admin, key),
    ):
        assert answer.status_code == 400, answer.text
        assert answer.json["error"]["code"] == "VALIDATION_ERROR"
        ((field, message),) = details(answer)
        assert field == "issueDate"
        assert "must not be after today" in message
    answer = admin.post(f"/api/invoices/{key}/preview", TO)
    assert answer.status_code == 400, answer.text
    ((field, message),) = details(answer)
    assert field == "dueDate"
    assert "after the year 9999" in message and "paymentTermsDays" in message
    found = admin.get(f"/api/invoices/{key}/preflight").json
    assert ("BR-CO-25", "dueDate") in [(one["rule"], one["field"]) for one in found["problems"]]
    assert not found["ready"]


def test_with_a_due_date_of_its_own_it_is_issued(admin: Api) -> None:
    key: int = draft(admin)["id"]
    admin.patch(f"/odata/Invoices({key})", {"dueDate": LAST})
    problems = admin.get(f"/api/invoices/{key}/preflight").json["problems"]
    assert "dueDate" not in {one["field"] for one in problems}
    assert admin.post(f"/api/invoices/{key}/send", TO).status_code == 200
    assert admin.get(f"/odata/Invoices({key})").json["dueDate"] == LAST
    assert admin.get(f"/api/invoices/{key}/pdf").status_code == 200
    assert admin.post(f"/api/invoices/{key}/credit-note", {}).status_code == 201


def test_each_of_several_invoices_has_its_own_result(admin: Api) -> None:
    keys = [draft(admin)["id"], far_draft(admin), draft(admin)["id"]]
    answer = admin.post("/api/invoices/send", {**TO, "invoiceIds": keys})
    assert answer.status_code == 200, answer.text
    assert (answer.json["sent"], answer.json["failed"]) == (2, 1)
    assert [one["ok"] for one in answer.json["results"]] == [True, False, True]
    assert answer.json["results"][1]["error"]["code"] == "VALIDATION_ERROR"


def test_an_unexpected_error_of_one_keeps_no_other_from_going_out(
    admin: Api, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = [draft(admin)["id"] for _ in range(3)]
    send = sending.send_invoice

    def failing(invoice_id: int, letter: Any) -> Any:
        found = send(invoice_id, letter)
        if invoice_id == keys[1]:
            raise RuntimeError("an inner detail")
        return found

    monkeypatch.setattr(sending, "send_invoice", failing)
    answer = admin.post("/api/invoices/send", {**TO, "invoiceIds": keys})
    assert answer.status_code == 200, answer.text
    assert [one["ok"] for one in answer.json["results"]] == [True, False, True]
    error = answer.json["results"][1]["error"]
    assert error["code"] == "INTERNAL_ERROR"
    assert "an inner detail" not in answer.text
    logged = capsys.readouterr().err
    assert "Traceback" in logged and "an inner detail" in logged
    states = [admin.get(f"/odata/Invoices({key})").json["status"] for key in keys]
    assert states == ["Sent", "Draft", "Sent"]


@pytest.mark.parametrize(
    ("place", "body", "field"),
    [
        ("Invoices", {"issueDate": None, "dueDate": None, "serviceDate": None}, "issueDate"),
        ("Projects", {"name": "Far"}, "startDate"),
        ("KbArticles", {"title": "Far", "body": "Far"}, "reviewDueAt"),
        ("Documents", {}, "retainUntil"),
        ("Opportunities", {"name": "Far", "amount": 1}, "closeDate"),
    ],
)
def test_a_day_before_the_year_1000_is_refused_by_name(
    admin: Api, place: str, body: dict[str, Any], field: str
) -> None:
    for day in ("0001-01-01", "0999-12-31", "1900-02-29"):
        answer = admin.post(f"/odata/{place}", body | {field: day})
        assert answer.status_code == 400, answer.text
        assert field in [name for name, _ in details(answer)], answer.text
    for day in ("1000-01-01", "2024-02-29", LAST):
        answer = admin.post(f"/odata/{place}", body | {field: day})
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert field not in [name for name, _ in details(answer)], answer.text


@pytest.mark.parametrize("day", ["0001-01-01", "1000-01-01", "2024-02-29", "9998-12-31", LAST])
@pytest.mark.parametrize("other", ["from", "to"])
def test_reports_and_sums_take_any_day_of_the_calendar(admin: Api, day: str, other: str) -> None:
    for answer in (
        admin.get(f"/api/crm/pipeline/summary?{other}={day}"),
        admin.get(f"/api/admin/audit?{other}={day}T00:00:00Z"),
        admin.get(f"/odata/Invoices?$filter=dueDate ge {day} and createdAt lt {day}T23:59:59Z"),
        admin.get(f"/odata/Tickets?$filter=createdAt lt {day}T00:00:00%2B14:00"),
    ):
        assert answer.status_code in (200, 400), answer.text
    for report in admin.get("/api/bi/reports").json["items"]:
        if other in {one["name"] for one in report["parameters"]}:
            for more in ({}, {"from": day, "to": day}):
                answer = admin.post(
                    f"/api/bi/reports/{report['id']}/export",
                    {"format": "json", "filters": {other: day, **more}},
                )
                assert answer.status_code in (200, 400), (report, answer.text)


def test_the_first_and_the_last_day_are_no_error_of_ours(admin: Api) -> None:
    for day in ("0001-01-01", LAST):
        answer = admin.post(f"/api/invoices/{draft(admin)['id']}/payments",
                            {"amount": 1, "date": day})  # fmt: skip
        assert refusal(answer) == (400, "VALIDATION_ERROR")
