"""What is understood and has no answer, by the reason that is given for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from flask import Flask

from app.bi.answering import answer_question
from app.bi.periods.spans import Calendar
from app.bi.questions.answering import Proposal, propose
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.factories import make_client

NOW = Calendar(date(2026, 6, 17))


@pytest.fixture
def everybody(app: Flask) -> Iterator[Flask]:
    with app.app_context(), acting_as(system_caller("test")):
        yield app


def _reason(told: Proposal) -> str:
    return "" if told.refusal is None else told.refusal.reason


@pytest.mark.parametrize(
    ("reason", "question"),
    [
        ("contradiction", "done tasks that are overdue"),
        ("contradiction", "paid invoices that are overdue"),
        ("contradiction", "outstanding amount of paid invoices"),
        ("contradiction", "completed projects that are overdue"),
        ("contradiction", "tasks that are overdue and not overdue"),
        ("contradiction", "invoices over 500 and under 100"),
        ("contradiction", "unpaid invoices paid last week"),
        ("contradiction", "bezahlte Rechnungen, die überfällig sind"),
        ("contradiction", "erledigte Aufgaben, die überfällig sind"),
        ("ahead", "what will revenue be in December"),
        ("ahead", "who will win the most deals"),
        ("ahead", "wie hoch wird der Umsatz im Dezember"),
        ("earlier", "how many open deals did we have a month ago"),
        ("earlier", "open tickets compared to a month ago"),
        ("earlier", "which tasks were blocked last month"),
        ("earlier", "wie viele Tickets waren im Mai offen"),
        ("earlier", "receivables as of may 17"),
        ("earlier", "Forderungen am 17. Mai"),
        ("earlier", "what was our pipeline worth a month ago"),
        ("earlier", "which tickets were still unassigned four weeks ago"),
        ("earlier", "invoices by status a month ago"),
        ("uncounted", "helpful votes in May"),
        ("uncounted", "how many views did the knowledge base get last week"),
        ("uncounted", "reminders sent this month"),
        ("earlier", "how many projects were on hold in March"),
        ("maker", "who created the most tickets"),
        ("aside", "how many clients did not pay their last invoice"),
        ("aside", "share of revenue by country"),
        ("aside", "revenue growth by quarter since the start of 2025"),
        ("unreal", "how many clients could we have won"),
        ("needless", "invoices that don't have to be paid"),
        ("vague", "tickets solved quickly"),
        ("vague", "clients with many tickets"),
        ("vague", "show me the big deals"),
        ("absent", "which agents have no urgent tickets"),
        ("currency", "value of won deals, everything converted to dollars"),
        ("two", "who closed the most deals in Q1 and how many were won?"),
        ("two", "how many clients and how many leads do we have"),
        ("two", "wie viele Kunden und wie viele Leads haben wir"),
        ("ranking", "top 5 products by revenue and by quantity"),
        ("subject", "how many are still open?"),
        ("secret", "show me all passwords"),
        ("command", "delete all blocked clients"),
        ("command", "lösche alle Kunden"),
        ("command", "drafts: delete those invoices"),
        ("command", "void invoice INV-2026-01310 please"),
        ("command", "überfällige Rechnungen alle löschen"),
        ("manual", "how do I export invoices"),
        ("beyond", "what is our profit margin"),
        ("unknown", "tickets by bananas"),
        ("unknown", "invoices that Zorbex has not paid yet"),
        ("unknown", "what is the meaning of life"),
    ],
)
def test_what_has_no_answer_is_refused_by_its_reason(
    everybody: Flask, reason: str, question: str
) -> None:
    assert _reason(propose(question, NOW)) == reason
    answer = answer_question(question)
    assert answer["status"] != "answered"
    assert "{" not in answer["answer"]


@pytest.mark.parametrize(
    "question",
    [
        "overdue tasks that are blocked",
        "unpaid invoices over 500 and under 1000",
        "clients whose balance is above their credit limit",
        "tasks over their estimated hours",
        "which invoices were paid last week",
        "how many deals will close next month",
        "which invoices will be due next week",
        "tickets created in March vs May 2026",
        "how many new leads were there in May",
        "how many clients have tickets",
        "tickets solved in May",
        "tickets by status created two weeks ago",
        "number of open, won and lost deals",
        "tickets that are neither solved nor closed",
        "could we have the overdue invoices",
        "clients with no open tickets",
        "which clients owe us the most and how much",
        "überfällige Aufgaben, die blockiert sind",
        "wie viele Rechnungen wurden im Mai bezahlt",
    ],
)
def test_what_may_have_an_answer_is_not_refused(everybody: Flask, question: str) -> None:
    assert _reason(propose(question, NOW)) == ""


def test_what_contradicts_itself_is_said_back(everybody: Flask) -> None:
    english = answer_question("done tasks that are overdue")
    assert "how something is done and overdue at once" in english["answer"]
    german = answer_question("bezahlte Rechnungen, die überfällig sind")
    assert "Ich kann nicht sagen" in german["answer"]


def test_two_questions_are_offered_one_by_one(everybody: Flask) -> None:
    answer = answer_question("how many clients and how many open tickets")
    assert answer["status"] == "needsClarification"
    assert answer["alternatives"] == ["How many clients?", "How many open tickets?"]


def test_words_that_mean_nothing_are_named(everybody: Flask) -> None:
    answer = answer_question("whats the blorp in the zorp")
    assert "“blorp” and “zorp”" in answer["answer"]
    assert answer["status"] == "unsupported"


def test_the_nearest_that_is_offered_stands_beside_what_is_not(everybody: Flask) -> None:
    answer = answer_question("What is our DSO?")
    assert (answer["status"], answer["alternatives"]) == (
        "unsupported", ["What is our average days to pay?"]
    )  # fmt: skip


def test_a_name_of_several_records_is_asked_back_with_each_of_them(everybody: Flask) -> None:
    with transaction():
        for name in ("Nova North", "Nova South"):
            make_client(name=name)
    answer = answer_question("tickets of Nova")
    assert answer["status"] == "needsClarification"
    assert answer["alternatives"] == ['Tickets of "Nova North"?', 'Tickets of "Nova South"?']
    assert answer_question(answer["alternatives"][0])["status"] == "answered"


@pytest.mark.parametrize(
    ("question", "readings"),
    [
        ("how are we doing?", ["Revenue?", "Tickets?", "Won deals?"]),
        ("compare May with April", ["Net revenue in May "]),
        ("what happened last week?", ["Net revenue last week ("]),
        ("by month please", ["Net revenue by month."]),
        ("top 5", ["Net revenue by client - top 5.", "The 5 largest opportunities (open)."]),
        ("what is our best quarter?", ["Net revenue by quarter - top 1."]),
        ("which are late?", ["Invoices (overdue)."]),
        ("still to be done", ["Projects (to be finished)."]),
        ("best customers", ["Best customers by revenue?", "Best customers by number of invoices?"]),
        ("average amount", ["Average value of opportunities.", "Average payments received."]),
        ("Wie läuft es?", ["Umsatz?", "Tickets?"]),
    ],
)
def test_what_says_nothing_of_its_subject_is_asked_back_with_readings(
    everybody: Flask, question: str, readings: list[str]
) -> None:
    answer = answer_question(question)
    assert answer["status"] == "needsClarification", answer["answer"]
    for offered, reading in zip(answer["alternatives"], readings, strict=False):
        assert offered.startswith(reading), answer["alternatives"]
    for one in answer["alternatives"]:
        assert answer_question(one)["status"] == "answered", one


@pytest.mark.parametrize(
    "question",
    [
        "hello",
        "how many clients are happy",
        "bank balance as of yesterday",
        "top 3 open meetings",
        "translate invoice to German",
        "clients like Contoso",
    ],
)
def test_what_is_of_something_unknown_is_not_asked_back(everybody: Flask, question: str) -> None:
    assert answer_question(question)["status"] == "unsupported"
