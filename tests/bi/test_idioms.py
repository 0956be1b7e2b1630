"""What people say instead of the words of the records: sign-ups, stars, funnels, unread bills."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.factories import line, make_client, make_issued_invoice


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("how many clients signed up this year", "how many clients were created this year"),
        ("projects charged on a time and material basis", "projects by time and material"),
        ("contacts who asked not to be contacted", "contacts with do not contact"),
        ("invoices that the customer has not viewed", "which invoices were not viewed"),
        ("invoices the client hasn't opened yet", "which invoices were not viewed"),
        ("revenue the month before last", "revenue 2 months ago"),
        ("tickets that had to be reopened", "reopened tickets"),
        ("tickets written in German", "tickets in German"),
        ("clients we have had since before 2023", "clients created before 2023"),
        ("gimme the overdue invoices", "list the overdue invoices"),
        ("who owns the biggest deal", "the biggest deal with owner"),
        ("tickets by country, leaving out Germany", "tickets by country without Germany"),
        ("tasks that don't belong to any project", "tasks without a project"),
        ("leads in the last fortnight", "leads in the last 2 weeks"),
        ("how much tickets do we have from Swiss customers", "how many tickets of Swiss clients"),
        ("custmers in Swizerland", "clients in Switzerland"),
        ("leads created in May of last year", "leads created in May 2025"),
        ("deals over 6m", "deals over 6 million"),
        ("which unpaid invoices has nobody reminded yet", "unpaid invoices without reminders"),
        ("tickets we haven't answered yet", "unanswered tickets"),
        ("hot leads we did not call", "hot leads that were not contacted"),
        ("contacts marked do not contact", "contacts with do not contact"),
        ("invoices without a purchase order number", "invoices without a purchase order"),
        ("articles more people found unhelpful than helpful",
         "articles with more unhelpful than helpful votes"),
    ],
)  # fmt: skip
def test_other_words_ask_for_the_same(ask: Ask, question: str, plain: str) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == wanted["status"] == "answered", said["answer"]
    queries = [one["query"]["odata"].partition("&$select")[0] for one in (said, wanted)]
    assert queries[0] == queries[1]


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("articles with more unhelpful than helpful votes", "notHelpfulCount gt helpfulCount"),
        ("tasks with more actual hours than estimated hours", "actualHours gt estimatedHours"),
        ("how many clients are companies", "type eq 'Company'"),
        ("won deals that have no invoice", "not (Invoices/any(a:a/type eq 'Invoice'))"),
    ],
)  # fmt: skip
def test_what_is_compared_is_a_condition(ask: Ask, question: str, condition: str) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer["answer"]
    assert condition in unquote(answer["query"]["odata"])


@pytest.mark.parametrize(
    "question",
    [
        "clients with more employees than revenue",  # a number and an amount of money
        "clients with more invoices than tickets",  # of each there are records, no figure
        "tasks that were not invoiced in May",  # not then, or made then and not invoiced
        "leads we did not call this month",
        "tickets flagged for review",
    ],
)
def test_what_cannot_be_compared_is_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] == "unsupported"


def test_a_review_that_is_due_on_a_day_to_come_is_none_of_the_past(ask: Ask) -> None:
    answer = ask("articles due for review next month")
    assert answer["status"] == "answered", answer["answer"]
    assert "createdAt ge" not in unquote(answer["query"]["odata"])
    assert "reviewDueAt ge" in unquote(answer["query"]["odata"])


def test_two_that_are_compared_by_nothing_are_a_choice(ask: Ask) -> None:
    answer = ask("Compare Germany and Switzerland")
    assert answer["status"] == "needsClarification"
    assert "Net revenue by country (country Germany or Switzerland)." in answer["alternatives"]
    assert 2 <= len(answer["alternatives"]) <= 4
    for one in answer["alternatives"]:
        assert ask(one)["status"] == "answered", one
    assert ask("compare invoices and bananas")["status"] == "unsupported"


def test_what_is_not_offered_says_what_is(ask: Ask) -> None:
    answer = ask("What is our DSO?")
    assert answer["status"] == "unsupported"
    assert answer["alternatives"] == ["What is our average days to pay?"]


def test_a_built_in_report_is_offered_by_its_number(ask: Ask) -> None:
    answer = ask("show me the ageing report")
    assert answer["status"] == "unsupported"
    assert "“Receivables ageing”" in answer["answer"]
    assert answer["reportId"] == 3
    assert ask("revenue this year")["reportId"] is None
    assert ask("delete the ageing report")["reportId"] is None


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("documents per category and file type", "groupby((category,contentType)"),
        ("how many customers have a delivery address on file?", "shippingAddress/city ne null"),
        ("clients without a delivery address", "shippingAddress/city eq null"),
        ("how many days late are our overdue invoices on average?", "with average as"),
    ],
)  # fmt: skip
def test_what_stands_in_a_query(ask: Ask, question: str, part: str) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer["answer"]
    assert part in unquote(answer["query"]["odata"])
    assert " or contains" not in unquote(answer["query"]["odata"])


def test_tags_of_clients_and_lines_of_invoices(app: Flask, ask: Ask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        one = make_client(name="Tagged", tags=["key account"])
        make_issued_invoice(client_id=one, line_items=[line("10") | {"description": "A3 scanner"}])
    found = ask("contacts at our key accounts")
    assert "Client/tags/any(t:t eq 'key account')" in unquote(found["query"]["odata"])
    assert "line/lineNet" in ask("revenue from A3 scanner")["query"]["odata"]


def test_a_lead_in_that_names_somebody_is_not_left_aside(ask: Ask) -> None:
    assert ask("I look at Tom's tickets: how many tickets are open?")["status"] != "answered"


def test_a_country_that_two_are_like_is_not_guessed(ask: Ask) -> None:
    assert ask("clients in Germny")["confidence"] < 0.8
    assert ask("clients in Austrlia")["status"] == "unsupported"


def test_what_is_not_kept_is_refused_before_a_record_is_chosen(ask: Ask) -> None:
    assert ask("What's our profit margin on Nordlicht Team?")["status"] == "unsupported"


@pytest.mark.parametrize("question", ["Who performs best?", "How's business?"])
def test_what_says_too_little_is_a_choice(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] == "needsClarification"
    for one in answer["alternatives"]:
        assert ask(one)["status"] == "answered", one


def test_what_is_left_out_is_no_record_that_is_missing(ask: Ask) -> None:
    for question in ("clients with unpaid invoices excluding Germany",
                     "clients with unpaid invoices, leaving out Germany"):  # fmt: skip
        answer = ask(question)
        if answer["status"] == "answered":
            assert "not (billingAddress/country eq 'DE')" in unquote(answer["query"]["odata"])
    assert ask("clients without unpaid invoices")["status"] == "answered"
