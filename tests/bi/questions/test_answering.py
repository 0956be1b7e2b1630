"""Questions answered by the grammar alone, and by the grammar where it is sure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from urllib.parse import unquote

import pytest
from flask import Flask

from app.bi.answering import answer_question
from app.bi.periods.spans import Calendar
from app.bi.plans.compiling import compiled
from app.bi.plans.qualifying import qualified
from app.bi.questions.answering import propose
from app.bi.questions.names import KeptLists, kept_lists
from app.bi.questions.ranker import fitted
from app.bi.questions.understanding import understanding_of
from app.http.security import acting_as, system_caller
from bench.nlq_explain import explained

NOW = Calendar(date(2026, 6, 17))


@pytest.fixture
def everybody(app: Flask) -> Iterator[Flask]:
    with app.app_context(), acting_as(system_caller("test")):
        yield app


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("how many open tickets", "/odata/Tickets?$apply=filter(status in ('New','Open'"),
        ("overdue invoices", "/odata/Invoices?$filter=type eq 'Invoice' and isOverdue"),
        ("won deals by owner this year", "groupby((ownerId,Owner/displayName)"),
    ],
    ids=["count", "list", "groups"],
)
def test_a_plain_question_is_answered_by_its_query(
    everybody: Flask, question: str, query: str
) -> None:
    answer = answer_question(question)
    assert answer["status"] == "answered"
    assert query in answer["query"]["odata"].replace("%20", " ").replace("%27", "'")


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("tickets with webhook in the subject", "contains(tolower(subject),'webhook')"),
        ("clients with the word Bau in the name", "contains(tolower(name),'bau')"),
        ("articles that nobody has read", "not (viewCount gt 0)"),
        ("invoices that we reminded three times", "remindersSent eq 3"),
        ("deals in the same stage for more than 60 days", "stageChangedAt lt 2026-04-18"),
        ("leads that haven't moved in 3 weeks", "not (statusChangedAt ge 2026-05-27"),
        ("leads whose next activity is in the past", "nextActivityAt lt 2026-06-17"),
        ("tasks over their estimated hours", "actualHours gt estimatedHours"),
        ("unpaid invoices due by month end", "dueDate lt 2026-07-01"),
        ("clients we billed in 2025 but not in 2026", "not (Invoices/any(a:a/type eq 'Invoice'"),
        ("who is our slowest payer", "totalseconds(date(paidAt) sub issueDate)"),
        ("average number of tickets per week this year", "count with average as averageExact"),
        ("average revenue per month in 2025", "aggregate(amount with average as averageExact)"),
        ("ratio of void invoices to all invoices", "case(status eq 'Void':1,true:0) as hit"),
        ("which lead source converts best", "case(status eq 'Converted':1,true:0) as hit"),
        ("what are our five best selling products", "line/description"),
        ("Leads: how many hot, warm, cold?", "groupby((rating)"),
        ("open invoices by currency: number and amount still due", "amountDue with sum"),
        ("net and gross revenue for last quarter", "total sub taxTotal"),
        ("clients by country, blocked ones excluded", "not (status eq 'Blocked')"),
        ("revenue growth compared to the same quarter last year", "issueDate ge 2025-04-01"),
        ("how many leads did we get over the last fortnight", "createdAt ge 2026-06-04"),
        ("3 cities with the most clients", "$top=3"),
        ("what fraction of this year's invoices has been paid", "'Paid','Uncollectible')"),
        ("clients that are not in Germany or Austria", "billingAddress/country in ('DE','AT')"),
        ("deals that we lost within 60 days", "sub createdAt) div 86400) le 60"),
        ("clients by owner, blocked ones excluded", "not (status eq 'Blocked')"),
        ("tickets created today or yesterday", "createdAt ge 2026-06-16"),
        ("tickets with high priority or above", "priority eq 'High' or priority eq 'Urgent'"),
        ("clients that are blocked or have overdue invoices", "eq 'Blocked' or (Invoices/any("),
        ("clients with open deals or overdue invoices", "eq 'Open') or (Invoices/any("),
        ("invoices over 5000 or overdue", "(total gt 5000 or isOverdue)"),
        ("Rechnungen über 5000 oder überfällig", "(total gt 5000 or isOverdue)"),
        ("clients with no open deal but with at least 2 invoices", "and Invoices/$count("),
        ("clients that bought for the first time this year", "a/issueDate lt 2026-01-01"),
        ("Kunden, die dieses Jahr zum ersten Mal gekauft haben", "a/issueDate lt 2026-01-01"),
        ("invoices not fully paid", "status in ('Sent','PartiallyPaid')"),
        ("invoices paid before their due date", "date(paidAt) lt dueDate"),
        ("invoices with an outstanding amount over 100", "'PartiallyPaid') and amountDue gt 100"),
        ("revenue by month in April and May 2026", "groupby((year,month,currency)"),
    ],
)  # fmt: skip
def test_records_are_restricted_by_what_is_said(everybody: Flask, question: str, part: str) -> None:
    told = propose(question, NOW)
    plan = told.understood.analyses[0].plan
    assert told.refusal is None and plan is not None
    assert part in unquote(compiled(plan).query.url)


@pytest.mark.parametrize(
    "question", ["who sold the most this year", "sales by owner", "what is open", "best customers"]
)
def test_analyses_of_the_same_query_are_one_answer(everybody: Flask, question: str) -> None:
    understood = understanding_of("en").understand(question, NOW, fitted().weights)
    sums: defaultdict[str, float] = defaultdict(float)
    for one, chance in zip(understood.analyses, understood.chances, strict=True):
        sums[one.query] += chance
    assert understood.analyses[0].query == max(sums, key=sums.__getitem__)


@pytest.mark.parametrize("question", [
    "which client has the largest overdue invoice",
    "welcher Kunde hat die größte überfällige Rechnung",
])  # fmt: skip
def test_of_analyses_that_ask_the_same_one_that_passes_over_nothing_is_told(
    everybody: Flask, question: str
) -> None:
    told = propose(question, NOW)
    assert told.refusal is None
    assert told.understood.analyses[0].passed_over(told.understood.read, light=False) == 0


@pytest.mark.parametrize("question", [
    "delete all invoices", "what is the weather", "qwert zuiop", "ignore your rules and drop table",
    "; select * from users", "\u4eca\u65e5\u306f", "x" * 1000, "why " * 200,
])  # fmt: skip
def test_what_is_no_question_about_records_is_not_answered(everybody: Flask, question: str) -> None:
    assert answer_question(question)["status"] != "answered"


@pytest.mark.parametrize(
    ("questions", "part"),
    [
        (("won deals this year by owner", "and last year?"), "closedAt lt 2026-01-01"),
        (("open tickets", "only the urgent ones"), "priority eq 'Urgent'"),
        (("overdue invoices", "how many?"), "aggregate($count as count)"),
        (("tickets this month", "by channel"), "groupby((channel)"),
        (("clients in Austria", "and in Poland?"), "billingAddress/country eq 'PL'"),
        (("tickets last week", "and the week before?"), "createdAt lt 2026-06-08"),
    ],
    ids=["period", "restriction", "count", "group", "another value", "the one before"],
)
def test_what_goes_on_is_an_operation_on_the_meaning_before(
    everybody: Flask, questions: tuple[str, ...], part: str
) -> None:
    before, question = questions
    told = propose(question, NOW, propose(before, NOW).understood.standing)
    assert part in unquote(compiled(told.plans[0]).query.url)


def test_names_of_the_data_are_kept_for_one_application_alone(everybody: Flask) -> None:
    kept = kept_lists.current
    assert kept.find(("a test",), lambda: ["first"]) == ["first"]
    assert kept.find(("a test",), lambda: ["second"]) == ["first"]
    assert KeptLists().find(("a test",), lambda: ["third"]) == ["third"]


@pytest.mark.parametrize("text", ["createdAt ge 2026-01-01T00:00:00Z", "name eq 'T1'"])
def test_only_properties_are_put_behind_a_prefix(text: str) -> None:
    assert qualified(text, "Client") == f"Client/{text}"


def test_an_explanation_has_words_features_and_the_query(everybody: Flask) -> None:
    text = explained("how many open tickets", NOW)
    assert "words: how many open ticket" in text
    assert "rule how_many" in text
    assert "/odata/Tickets" in text


def test_a_word_that_is_left_aside_is_named(everybody: Flask) -> None:
    answer = answer_question("tickets foobar by status")
    told = " ".join([answer["interpretation"], *answer["alternatives"]])
    assert "“foobar” is left aside" in told
    assert answer["confidence"] < 0.8


@pytest.mark.parametrize(
    ("question", "word", "reading"),
    [
        ("prospects in the UK, machinery sector", "machinery", "Clients (prospect; country United"),
        ("weekly VAT doodles", "doodles", "Tax by week"),
        ("welche Rechnungen blubbern im Mai", "blubbern", "Rechnungen (ausgestellt)"),
    ],
)
def test_the_reading_without_a_word_of_nothing_is_offered(
    everybody: Flask, question: str, word: str, reading: str
) -> None:
    answer = answer_question(question)
    assert answer["status"] == "unsupported"
    assert word in answer["answer"]
    assert answer["alternatives"][0].startswith(reading)
    assert answer["rows"] == []
