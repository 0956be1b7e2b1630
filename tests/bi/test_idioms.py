"""What people say instead of the words of the records: sign-ups, stars, funnels, unread bills."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from app.bi.nlq.refusing import report_named
from app.bi.nlq.understanding import vocabulary_of
from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("how many clients signed up this year", "how many clients were created this year"),
        ("new sign-ups this month", "clients created this month"),
        ("how much is the largest invoice?", "what is the largest invoice?"),
        ("projects billed at a fixed price", "projects with billing type fixed"),
        ("projects charged on a time and material basis", "projects by time and material"),
        ("contacts who asked not to be contacted", "contacts with do not contact"),
        ("invoices that the customer has not viewed", "which invoices were not viewed"),
        ("invoices the client hasn't opened yet", "which invoices were not viewed"),
        ("show the sales funnel", "pipeline by stage"),
        ("how many one-star ratings did we get?", "how many tickets rated 1"),
        ("revenue the month before last", "revenue 2 months ago"),
        ("tickets that had to be reopened", "reopened tickets"),
        ("tickets written in German", "tickets in German"),
        ("how mny unpayed invoices", "how many unpaid invoices"),
        ("invoices for which we sent three reminders", "invoices with exactly 3 reminders"),
        ("how many days do deals sit in the proposal stage on average?",
         "average days in stage of deals in proposal"),
        ("clients we have had since before 2023", "clients created before 2023"),
    ],
)  # fmt: skip
def test_other_words_ask_for_the_same(ask: Ask, question: str, plain: str) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == wanted["status"] == "answered", said["answer"]
    queries = [one["query"]["odata"].partition("&$select")[0] for one in (said, wanted)]
    assert queries[0] == queries[1]


def test_with_a_figure_is_a_condition(ask: Ask) -> None:
    some = ask("how many tickets with a rating?")
    assert "satisfactionRating ne null" in unquote(some["query"]["odata"])
    assert ask("how many ratings did we get?")["rows"] == some["rows"] == [{"count": 0}]
    average = ask("average rating")
    assert "average" in average["query"]["odata"]


def test_a_review_that_is_due_on_a_day_to_come_is_none_of_the_past(ask: Ask) -> None:
    answer = ask("articles due for review next month")
    assert answer["status"] == "answered", answer["answer"]
    assert "createdAt ge" not in unquote(answer["query"]["odata"])
    assert "reviewDueAt ge" in unquote(answer["query"]["odata"])


def test_two_that_are_compared_by_nothing_are_a_choice(ask: Ask) -> None:
    answer = ask("Compare Germany and Switzerland")
    assert answer["status"] == "needsClarification"
    assert "Revenue of Germany versus Switzerland" in answer["alternatives"]
    assert 2 <= len(answer["alternatives"]) <= 4
    for one in answer["alternatives"]:
        assert ask(one)["status"] == "answered", one
    assert ask("compare invoices and bananas")["status"] == "unsupported"


def test_what_is_not_offered_says_what_is(ask: Ask) -> None:
    answer = ask("What is our DSO?")
    assert answer["status"] == "unsupported"
    assert answer["alternatives"] == ["What is our average days to pay?"]
    assert ask("days sales outstanding")["alternatives"] == ["Average days to pay"]
    weekend = ask("how many tickets were created on weekends?")
    assert weekend["status"] == "needsClarification"
    assert weekend["alternatives"] == ["how many tickets were created per weekday"]
    assert ask(weekend["alternatives"][0])["status"] == "answered"


def test_a_built_in_report_is_offered_by_its_number(ask: Ask) -> None:
    answer = ask("show me the ageing report")
    assert answer["status"] == "needsClarification"
    assert "“Receivables ageing”" in answer["answer"]
    assert answer["reportId"] == 3
    assert ask("revenue this year")["reportId"] is None
    assert ask("delete the ageing report")["reportId"] is None


def test_reports_are_named_by_whole_phrases() -> None:
    vocabulary = vocabulary_of()
    assert report_named("our VAT return please", vocabulary) == "tax-summary"
    assert report_named("ageing of tickets", vocabulary) == "tickets-by-status-and-age"
    assert report_named("imaging of documents", vocabulary) is None
    assert report_named("returned VAT", vocabulary) is None
