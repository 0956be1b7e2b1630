"""Kinds of questions, each as a matrix: percentiles, first few, what the first has, columns."""

from __future__ import annotations

from itertools import product
from urllib.parse import unquote

import pytest

from app.bi.answering import answer_question
from tests.bi.conftest import Ask

# What is asked of records, and what the first of them has: the kind's set, a property of it.
FIRST = [
    ("largest open deal", "stage", "stage"),
    ("oldest open ticket", "priority", "priority"),
    ("newest ticket", "status", "status"),
    ("largest overdue invoice", "due date", "dueDate"),
]
COLUMNS = [
    ("all clients in Zurich", "Clients", {"names": "name", "phone numbers": "phone"}),
    ("blocked clients", "Clients", {"names": "name", "websites": "website"}),
    ("open tickets", "Tickets", {"subject": "subject", "priority": "priority"}),
]


def address(question: str) -> str:
    answer = answer_question(question)
    assert answer["status"] == "answered", answer
    return unquote(answer["query"]["odata"])


@pytest.mark.parametrize("percent", [1, 25, 90, 99])
@pytest.mark.parametrize(
    ("question", "percentile"),
    [
        ("{} deal size", "{}th percentile of"),
        ("{} resolution time by priority", "p{}"),
        ("{} days to pay", "percentile {} of"),
        ("{} Zahlungsdauer", "das {}. Perzentil der"),
        ("{} Lösungszeit nach Priorität", "{}. Perzentil der"),
    ],
)
def test_a_percentile_is_what_a_median_would_be_by_another_method(
    ask: Ask, question: str, percentile: str, percent: int
) -> None:
    middle = "Median der" if "Perzentil" in percentile else "median"
    median = ask(question.format(middle))
    found = ask(question.format(percentile.format(percent)))
    assert (median["status"], found["status"]) == ("answered", "answered"), (median, found)
    wanted = unquote(median["query"]["odata"]).replace(".median", f".percentile{percent}")
    assert unquote(found["query"]["odata"]) == wanted
    assert str(percent) in found["interpretation"]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(("records", "words", "path"), FIRST)
def test_what_the_first_record_has_is_asked_of_that_record(
    records: str, words: str, path: str
) -> None:
    of_it = address(f"{words} of the {records}")
    assert "$top=1&" in of_it
    assert f",{path}" in of_it or f"={path}" in of_it


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(("count", "first"), [*product((3, 5), ("first", "top", "largest"))])
def test_the_first_few_by_a_figure_have_the_most_of_it(count: int, first: str) -> None:
    assert address(f"{first} {count} open deals by amount") == address(
        f"the {count} largest open deals"
    )


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(("records", "kind", "columns"), COLUMNS)
def test_columns_that_are_named_are_shown(records: str, kind: str, columns: dict[str, str]) -> None:
    shown = address(f"{' and '.join(columns)} of {records}")
    assert shown.startswith(f"/odata/{kind}?")
    selected = shown.partition("$select=")[2].partition("&")[0].split(",")
    assert set(columns.values()) <= set(selected)


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    "question",
    ["clients with revenue over 50000 in 2025", "Kunden mit Umsatz über 50.000 in 2025"],
)
def test_what_clients_have_in_all_is_of_no_period(question: str) -> None:
    """Clients that were created then are another question."""
    answer = answer_question(question)
    assert "createdAt" not in unquote(str(answer["query"]))


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("question", "inside"),
    [
        ("open deals with no tasks since May", "not (Tasks/any(a:a/createdAt ge 2026-05-01"),
        ("clients without tickets this month", "not (Tickets/any(a:a/createdAt ge 2026-06-01"),
    ],
)
def test_a_period_behind_what_is_missing_is_of_that(question: str, inside: str) -> None:
    assert inside in address(question)


@pytest.mark.usefixtures("demo")
def test_a_number_is_never_left_aside() -> None:
    answer = answer_question("countries with more than 1 client and fewer than 5 prospects")
    assert answer["status"] == "needsClarification"


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("apart", "together"),
    [
        (
            "welche Deals schließen nächste Woche ab",
            "welche Deals nächste Woche schließen ab",
        ),
        ("Kunden nach Name sortiert", "Kunden sortiert nach Name"),
        ("Umsatz nach Land aufgeschlüsselt", "Umsatz aufgeschlüsselt nach Land"),
    ],
)
def test_the_end_of_a_german_verb_may_stand_at_the_end(apart: str, together: str) -> None:
    assert address(apart) == address(together)


@pytest.mark.parametrize(
    ("question", "part", "other"),
    [
        ("share of payments by card", "$count as count", "hitsExact"),
        ("anteil der zahlungen über 5000", "$count as count", "hitsExact"),
        ("how many payments received last month", "$count as count", "groupby"),
        ("Wie viele Zahlungseingänge hatten wir in Q1?", "$count as count", "groupby"),
        ("welcher Anteil der Kunden beschäftigt mindestens 200 Menschen", "$count", "with average"),
        ("Kunden, die momentan keine offenen Tickets haben", "not (Tickets/any(", "Invoices"),
        ("invoices in descending order by total, the first ten", "desc,id&$top=10", "apply"),
        ("Rechnungen absteigend nach Gesamtsumme, nur die ersten zehn", "&$top=10", "apply"),
        ("which open ticket is the oldest", "orderby=createdAt,id&$top=1&", "apply"),
        ("welches nicht zugewiesene Ticket liegt am längsten", "createdAt,id&$top=1&", "apply"),
        ("how much did we credit customers this quarter", "type eq 'CreditNote'", "Payments"),
        ("how much did we lose to competitors last quarter", "eq 'Competitor'", "(competitor"),
        ("fakturiert letzte Woche nach Land", "total with sum", "$count"),
        ("may: payments over 100", "payment/date ge 2026-05-01", "apply=filter"),
        ("compare tax: current quarter / last quarter", "currentValue", "apply=filter(type"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("demo")
def test_a_first_question_is_of_its_kind(question: str, part: str, other: str) -> None:
    assert part in address(question) and other not in address(question)
