"""Which bars a chart shows of the rows of its report."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
from flask import Flask

from app.bi.charts import MOST_BARS, Chart, vega_lite
from app.bi.reports.builtin import built_in
from app.bi.reports.charting import MOST_KEPT, Charted, chart_of
from app.bi.reports.definition import Column, Report
from app.bi.reports.service import get_report, report_chart_spec
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.contract.conftest import Api
from tests.factories import line, make_client, make_issued_invoice, make_project, today


def charted(rows: Iterable[dict[str, Any]], **chart: Any) -> Charted:
    given = {"type": "bar", "x": "Client/name", "y": "due", "series": "currency"} | chart
    columns = (
        Column("due", "Due", "money", True), Column("percent", "Used", "percent"),
    )  # fmt: skip
    report = Report(9, None, "Nine", None, "Invoices", {}, columns=columns, chart=Chart(**given))
    found = chart_of(report, rows)
    assert found is not None
    return found


def bar(name: str, due: Any, currency: str = "EUR", key: int = 1, **more: Any) -> dict[str, Any]:
    return {"Client/name": name, "clientId": key, "due": due, "currency": currency, **more}


def test_rows_of_one_place_are_added_up() -> None:
    rows = [
        {"year": 2026, "month": month, "rate": rate, "currency": "EUR", "due": Decimal(rate)}
        for month in range(1, 13)
        for rate in (7, 19)
    ]
    found = charted(rows, x="month")
    assert [row["month"] for row in found.rows] == [f"2026-{month:02d}" for month in range(1, 13)]
    assert {row["due"] for row in found.rows} == {Decimal(26)}
    assert found.remark == ""


def test_months_of_several_currencies_are_all_shown() -> None:
    rows = [
        {"year": 2026, "month": month, "currency": code, "due": 1}
        for month in range(1, 13)
        for code in ("CHF", "EUR", "GBP")
    ]
    assert len(charted(rows, x="month").rows) == 36


def test_of_many_months_the_latest_are_shown() -> None:
    rows = [
        {"year": 2020 + at // 12, "month": at % 12 + 1, "currency": "EUR", "due": 1}
        for at in range(60)
    ]
    found = charted(rows, x="month")
    assert found.rows[-1]["month"] == "2024-12" and len(found.rows) == MOST_BARS
    assert found.remark == f"The latest; {60 - MOST_BARS} earlier ones are not shown."


def test_records_of_one_name_are_told_apart() -> None:
    found = charted([bar("Alpin", 5, key=7), bar("Alpin", 3, key=9), bar("Bern", 2, key=8)])
    assert [row["Client/name"] for row in found.rows] == ["Alpin (7)", "Alpin (9)", "Bern"]


def test_one_client_in_two_currencies_stands_at_one_place() -> None:
    found = charted([bar("Alpin", 5), bar("Alpin", 3, "CHF")])
    assert [row["Client/name"] for row in found.rows] == ["Alpin", "Alpin"]


def test_percentages_are_never_added_up() -> None:
    rows = [
        {"code": f"P-{at}", "name": "Migration", "percent": Decimal(60), "currency": "EUR"}
        for at in (1, 2)
    ]
    found = charted(rows, x="name", y="percent", series=None)
    assert [(row["name"], row["percent"]) for row in found.rows] == [
        ("Migration (P-1)", 60), ("Migration (P-2)", 60),
    ]  # fmt: skip
    nameless = [{"kind": "a", "percent": Decimal(60)}, {"kind": "a", "percent": Decimal(70)}]
    found = charted(nameless, x="kind", y="percent", series=None)
    assert [row["percent"] for row in found.rows] == [60, 70]


def test_of_many_bars_the_largest_of_each_currency_are_shown() -> None:
    rows = [bar(f"E{at}", at, key=at) for at in range(100)]
    rows += [bar(f"C{at}", at, "CHF", key=1000 + at) for at in range(100)]
    found = charted(rows)
    shown = {(row["currency"], row["due"]) for row in found.rows}
    assert shown == {(code, at) for code in ("EUR", "CHF") for at in range(88, 100)}
    assert found.remark == "The largest of each colour; 176 others are not shown."


def test_one_large_currency_does_not_hide_the_other() -> None:
    rows = [bar(f"A{at}", 1, "CHF", key=at) for at in range(900)]
    found = charted([*rows, bar("Last", 1, "EUR", key=1000)])
    assert {row["currency"] for row in found.rows} == {"CHF", "EUR"}


def test_what_is_kept_to_choose_from_has_an_end() -> None:
    found = charted(bar(f"A{at}", at, key=at) for at in range(MOST_KEPT + 10))
    assert f"{MOST_KEPT + 10 - MOST_BARS:,} others" in found.remark


def test_a_chart_keeps_the_order_of_its_rows_and_says_what_it_leaves_out() -> None:
    rows = [
        {"status": status, "priority": priority, "due": 1}
        for status in ("New", "Open", "OnHold")
        for priority in ("Urgent", "Low")
    ]
    found = charted(rows, x="status", series="priority")
    spec = vega_lite(found.chart, found.rows, "Title", "A remark.")
    assert spec["title"]["subtitle"] == "A remark."
    # A page that has a title of its own: the remark is drawn nevertheless.
    assert vega_lite(found.chart, found.rows, remark="A remark.")["title"]["text"] == "A remark."
    assert "title" not in vega_lite(found.chart, found.rows)
    encoding = spec["encoding"]
    assert all(encoding[name]["sort"] is None for name in ("x", "color", "xOffset"))


def test_every_figure_of_a_built_in_chart_is_a_column_of_its_report() -> None:
    for report in built_in().values():
        assert report.chart is not None
        assert report.chart.y in {column.name for column in report.columns}


@pytest.fixture
def alike(app: Flask) -> None:
    """Two clients, and two projects, of one name each; an invoice with two rates of tax."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for amount in ("100", "50"):
            client = make_client(name="Twin", currency="EUR")
            lines = [line(amount, tax_rate=Decimal(rate), tax_category="S") for rate in ("19", "7")]
            make_issued_invoice(client_id=client, line_items=lines)
            make_project(name="Move", budget_hours=Decimal(10))


def spec_of(app: Flask, key: str) -> list[dict[str, Any]]:
    with app.app_context(), acting_as(system_caller("test")):
        spec = report_chart_spec(get_report(key), {})
    assert spec is not None
    values: list[dict[str, Any]] = spec["data"]["values"]
    return values


def test_charts_of_records_that_look_alike(app: Flask, alike: None) -> None:
    due = spec_of(app, "receivables-ageing")
    assert sorted(value["y"] for value in due) == [113.0, 226.0]
    assert len({value["x"] for value in due}) == 2
    (tax,) = spec_of(app, "tax-summary")
    assert tax["y"] == 39.0
    places = [value["x"] for value in spec_of(app, "project-hours-and-budget")]
    assert places == ["Move (P-000001)", "Move (P-000002)"]


def test_the_chart_of_a_workbook_is_that_of_the_picture(admin: Api, alike: None) -> None:
    answer = admin.post("/api/bi/reports/tax-summary/export", {"format": "xlsx"})
    book = openpyxl.load_workbook(io.BytesIO(answer.data))
    rows = [[cell.value for cell in row] for row in book["Chart data"].iter_rows()]
    assert rows[0] == ["Month", "EUR"] and [row[1] for row in rows[1:]] == [39]
    assert book["Data"].page_setup.orientation == "landscape"
    assert book["Data"].print_title_rows == "$1:$1"


@pytest.mark.parametrize(
    ("names", "lies"),
    [([f"2026-{month:02d}" for month in range(1, 13)], False),
     ([f"Company {number} Ltd" for number in range(12)], True), (["A long name indeed"], False)],
    ids=["months", "names", "one name"],
)  # fmt: skip
def test_long_names_stand_beside_their_bars(names: list[str], lies: bool) -> None:
    spec = vega_lite(Chart("bar", "x", "y"), [{"x": name, "y": 1} for name in names])
    assert (spec["encoding"]["y"]["field"] == "x") == lies


@pytest.mark.parametrize(
    ("question", "chart", "totals"),
    [
        ("Revenue by week", ("line", "week", "amount", "currency"), "amount"),
        ("Revenue by quarter", ("line", "quarter", "amount", "currency"), "amount"),
        ("Revenue by weekday", ("bar", "weekday", "amount", "currency"), "amount"),
        ("Open tickets by priority and client", ("bar", "priority", "count", "Client/name"),
         "count"),
        ("Average deal size by stage", ("bar", "stage", "amount", "currency"), None),
        ("Win rate by owner", ("bar", "Owner/displayName", "percent", None), "hits"),
    ],
)  # fmt: skip
def test_a_question_becomes_a_report_with_chart_and_sums(
    admin: Api, business: None, question: str, chart: tuple[Any, ...], totals: str | None
) -> None:
    saved = admin.post("/api/bi/reports", {"name": "Mine", "question": question})
    assert saved.status_code == 201, saved.text
    assert tuple(saved.json["chart"][name] for name in ("type", "x", "y", "series")) == chart
    columns = {column["name"]: column["total"] for column in saved.json["columns"]}
    assert [name for name, is_total in columns.items() if is_total][:1] == [totals][: bool(totals)]


def test_weeks_are_told_by_their_mondays(admin: Api, business: None) -> None:
    saved = admin.post("/api/bi/reports", {"name": "W", "question": "Revenue by week"}).json
    found = admin.get(f"/api/bi/reports/{saved['id']}/data").json
    monday = today() - timedelta(days=today().weekday())
    assert {row["week"] for row in found["rows"]} == {str(monday)}
    assert {"EUR", "CHF"} == {row["currency"] for row in found["totals"]}
    answer = admin.post(f"/api/bi/reports/{saved['id']}/export", {"format": "csv"})
    assert f"\r\n{monday}," in answer.text


def test_amounts_of_two_currencies_are_never_one_bar() -> None:
    rows = [
        {"kind": "a", "team": "x", "currency": code, "due": Decimal(1)} for code in ("EUR", "CHF")
    ]
    columns = (Column("due", "Due", "money", True), Column("currency", "Currency", "text"))
    for series, names in (("team", {"x, EUR", "x, CHF"}), (None, {"EUR", "CHF"})):
        chart = Chart("arc", "kind", "due", series)
        report = Report(9, None, "Nine", None, "Invoices", {}, columns=columns, chart=chart)
        found = chart_of(report, rows)
        assert found is not None and found.chart.type == "bar"
        assert {row[found.chart.series or ""] for row in found.rows} == names
        assert [row["due"] for row in found.rows] == [1, 1]
