"""Questions and reports in the console: asked, gone on with, saved, run, exported, mailed."""

from __future__ import annotations

import re
from decimal import Decimal
from urllib.parse import quote, urlencode

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.bi.reports.builtin import built_in
from app.console.svg_charts import HEIGHT, axis_of, picture_of
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.report import QuestionSession
from tests.console.conftest import Browser, SignIn
from tests.factories import line, make_invoice

LINK = re.compile(r'<a class="button" href="(/admin/questions\?[^"]+)"')


@pytest.fixture
def browser(sign_in: SignIn, app: Flask) -> Browser:
    """An administrator, and a company with some figures."""
    found = sign_in("Admin")
    for name, status in (("Acme", "Active"), ("Beta", "Active"), ("Gamma", "Inactive")):
        key = found.make("clients", name=name, status=status, email="a@example.com")
        with app.app_context(), transaction(), acting_as(system_caller("test")):
            make_invoice(client_id=key, line_items=[line("100", tax_rate=Decimal(0))])
    return found


def ask(browser: Browser, question: str, *before: str) -> str:
    query = urlencode([("q", question), *(("before", text) for text in before)])
    answer = browser.get(f"questions?{query}")
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_question_is_answered_with_rows_chart_and_query(browser: Browser) -> None:
    page = ask(browser, "Clients by status")
    assert "Understood as: " in page
    assert "<td" in page and "Inactive" in page
    assert 'class="bars"' in page
    assert "/odata/Clients?" in page


def test_a_question_goes_on_from_the_one_before(browser: Browser) -> None:
    page = ask(browser, "only active ones", "How many clients are there?")
    assert ">2<" in page.replace("\n", "") or "2 clients" in page or "is 2" in page or "2." in page
    assert 'name="before" value="How many clients are there?"' in page


def test_asking_writes_nothing(browser: Browser, session: Session) -> None:
    ask(browser, "How many clients are there?")
    assert session.scalar(select(func.count()).select_from(QuestionSession)) == 0


def test_what_is_not_understood_offers_other_questions(browser: Browser) -> None:
    page = ask(browser, "Who ate the green frobnicator?")
    links = LINK.findall(page)
    assert links
    assert browser.client.get(links[0].replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("before", [(), ("Frobnicator",)], ids=["first", "second"])
def test_a_question_of_unknown_words_is_answered_in_the_language_of_the_page(
    browser: Browser, before: tuple[str, ...]
) -> None:
    browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de-AT,de;q=0.9"
    assert "Ich weiß nicht, was mit „Xyzzy“" in ask(browser, "Xyzzy plugh", *before)


@pytest.mark.parametrize("question", ["<script>alert(1)</script>", "x" * 1001, "drop table"])
def test_hostile_questions_are_only_text(browser: Browser, question: str) -> None:
    answer = browser.get(f"questions?q={quote(question)}")
    assert answer.status_code in (200, 400)
    assert "<script>alert" not in answer.text


def test_an_answer_is_saved_as_a_report_changed_mailed_and_deleted(browser: Browser) -> None:
    saved = browser.submit("questions", q="Clients by status", name="States", shared="on")
    assert saved.status_code == 303, saved.text
    report = saved.headers["Location"].removeprefix("/admin/")
    assert "States" in browser.get("reports").text
    assert "Inactive" in browser.get(report).text
    assert browser.submit(report, name="Other", description="Mine").status_code == 303
    assert "Other" in browser.get("reports").text
    schedule = {"every": "weekly", "weekday": "2", "time": "06:30", "format": "pdf"}
    wrong = browser.submit(f"{report}/schedule", **schedule, to="nobody")
    assert wrong.status_code == 400 and 'id="f-to-p"' in wrong.text
    sent = browser.submit(f"{report}/schedule", **schedule, to="a@example.com, b@example.com")
    assert sent.status_code == 303
    assert (
        "Mailed weekly at 06:30 as pdf to a@example.com, b@example.com" in browser.get(report).text
    )
    assert browser.submit(f"{report}/schedule", step="stop").status_code == 303
    assert "Mailed weekly" not in browser.get(report).text
    assert browser.submit(report, step="delete").status_code == 303
    assert browser.get(report).status_code == 404


def test_a_question_that_went_on_is_saved_by_its_query(browser: Browser) -> None:
    saved = browser.submit("questions", q="by status", before="How many clients", name="Went on")
    assert saved.status_code == 303, saved.text
    page = browser.client.get(saved.headers["Location"])
    assert page.status_code == 200 and "Inactive" in page.text


@pytest.mark.parametrize("report", sorted(built_in()))
def test_every_built_in_report_has_a_page(browser: Browser, report: int) -> None:
    page = browser.get(f"reports/{report}")
    assert page.status_code == 200
    assert "The query behind it" in page.text


def test_a_parameter_that_is_refused_is_said_at_its_field(browser: Browser) -> None:
    name = built_in()[1].parameters[0].name
    page = browser.get(f"reports/1?{name}=soon")
    assert page.status_code == 400
    assert f'id="f-{name}-p"' in page.text


def test_a_parameter_names_a_record_as_people_do(browser: Browser) -> None:
    key = browser.make("clients", name="Only One")
    page = browser.get("reports/1?clientId=Only+One")
    assert page.status_code == 200
    assert f'name="clientId" value="{key}"' in page.text  # what an export is asked for
    wrong = browser.get("reports/1?clientId=nobody")
    assert wrong.status_code == 400 and "is the name of no record" in wrong.text


@pytest.mark.parametrize(("form", "begin"), [("csv", b""), ("xlsx", b"PK"), ("pdf", b"%PDF")])
def test_a_report_is_exported(browser: Browser, form: str, begin: bytes) -> None:
    answer = browser.submit("reports/4/export", format=form)
    assert answer.status_code == 200
    assert answer.data.startswith(begin)
    assert f'.{form}"' in answer.headers["Content-Disposition"]


def test_an_export_in_the_background_has_a_page(browser: Browser) -> None:
    queued = browser.submit("reports/4/export", format="csv", background="1")
    page = browser.client.get(queued.headers["Location"])
    assert "The worker makes it" in page.text


def test_who_may_ask_but_not_export(browser: Browser, sign_in: SignIn) -> None:
    viewer = sign_in("Viewer")
    assert viewer.get("reports/1").status_code == 200
    assert 'name="format"' not in viewer.get("reports/1").text
    assert viewer.submit("reports/1/export", format="csv").status_code == 403


def test_charts_of_no_figures_are_none_and_lines_have_their_ends(app: Flask) -> None:
    assert picture_of(None) is None
    stacked = [{"x": "Open", "y": 1, "series": "Urgent"}, {"x": "Open", "y": 2, "series": "High"}]
    named = [{**each, "series": f"{each['series']} Ltd"} for each in stacked]
    with app.test_request_context(headers={"Accept-Language": "de"}):
        for values, legend in (
            (stacked, ["Dringend", "Hoch"]),
            (named, ["Urgent Ltd", "High Ltd"]),
        ):
            drawn = picture_of({"type": "bar", "spec": {"data": {"values": values}}})
            assert drawn is not None and [name for _, name in drawn.legend] == legend
    assert picture_of({"type": "bar", "spec": {"data": {"values": []}}}) is None
    values = [{"x": "2026-01", "y": 1}, {"x": "2026-02", "y": None}, {"x": "2026-03", "y": -3}]
    line_ = picture_of({"type": "line", "spec": {"data": {"values": values}}})
    assert line_ is not None and line_.axis is not None
    assert line_.axis.labels == ["1", "0", "-1", "-2", "-3"]
    assert line_.lines[0].path == "0,0 100,40"


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], "1 0.8 0.6 0.4 0.2 0"),
        (["0"], "1 0.8 0.6 0.4 0.2 0"),
        (["3"], "3 2 1 0"),
        (["84210.55", "31000"], "100000 80000 60000 40000 20000 0"),
        (["0.05"], "0.05 0.04 0.03 0.02 0.01 0"),
        (["-700", "1200"], "1500 1000 500 0 -500 -1000"),
        (["-3"], "0 -1 -2 -3"),
    ],
)
def test_an_axis_has_even_steps_around_what_it_shows(values: list[str], ticks: str) -> None:
    numbers = [Decimal(value) for value in values]
    axis = axis_of(numbers)
    assert len({label.partition(".")[2].__len__() for label in axis.labels}) == 1
    assert axis.ticks == [Decimal(tick) for tick in ticks.split()]
    assert (axis.offset(axis.ticks[0]), axis.offset(axis.ticks[-1])) == (0, HEIGHT)
    assert all(0 <= axis.offset(number) <= HEIGHT for number in numbers)


def test_bars_of_one_chart_have_as_many_decimals(app: Flask) -> None:
    values = [{"x": "A", "y": 11092}, {"x": "B", "y": 831.5}]
    with app.test_request_context():
        picture = picture_of({"type": "bar", "spec": {"data": {"values": values}}})
        counts = picture_of({"type": "bar", "spec": {"data": {"values": values[:1]}}})
    assert picture is not None and counts is not None
    assert [bar.text for group in picture.groups for bar in group.bars] == ["11,092.00", "831.50"]
    assert counts.groups[0].bars[0].text == "11,092"
