"""What is asked in other words is read alike: *by*, and when, of whatever is counted."""

from itertools import product
from pathlib import Path

import pytest

from app.bi.answering import answer_question
from app.http.security import acting_as, system_caller

# What is counted, and by what; each as it is and in its other number.
COUNTED = (
    ("tickets", "priority", "priorities"), ("tickets", "client", "clients"),
    ("tickets", "status", "statuses"), ("invoices", "client", "clients"),
    ("deals", "stage", "stages"), ("deals", "owner", "owners"), ("leads", "source", "sources"),
    ("clients", "industry", "industries"), ("clients", "country", "countries"),
    ("tasks", "assignee", "assignees"), ("projects", "status", "statuses"),
    ("articles", "author", "authors"),
)  # fmt: skip
BY = (
    "{n} by {d}", "{n} per {d}", "{n}, by {d}", "{n} (by {d})", "{n} grouped by {d}",
    "{n} broken down by {d}", "break {n} down by {d}", "break down {n} by {d}", "split {n} by {d}",
    "how do our {n} break down by {d}", "{n} split by {d}", "{n} for each {d}",
    "{n}: number per {d}",
    "how many {n} does each {d} have", "how many {n} are there in each {d}", "count of {n} per {d}",
    "what is the number of {n} per {d}", "number of {n} for every {d}",
    "distribution of {n} by {d}",
    "how are {n} distributed across {ds}", "{n} sorted into {ds}", "i need {n} by {d} please",
    "could you show {n} by {d}", "give me the number of {n} for each {d}", "count {n} by {d}",
)  # fmt: skip
WHEN = (
    ("{q} last month", "last month's {q}", "{q} in may", "may {q}", "in may: {q}", "{q} for may",
     "{q} during the last month", "last month: {q}"),
    ("{q} since march", "{q} from march on"), ("{q} in q1", "q1 {q}", "{q} from january to march",
     "{q} jan to mar", "{q} between january and march"),
    ("{q} this year", "this year's {q}", "{q}, this year"), ("{q} last week", "last week {q}"),
    ("{q} over the last 30 days", "{q} in the past 30 days"), ("{q} so far this year", "{q} ytd"),
)  # fmt: skip

# What has most or comes first, of one and of several, in small letters and with capitals.
NUMBERS = (
    ("which client has the most tickets", "which clients have the most tickets"),
    ("Which Client has the most Tickets", "Which Clients have the most Tickets"),
    ("which product brings in the most revenue", "which products bring in the most revenue"),
    ("welches land hat die meisten kunden", "welche länder haben die meisten kunden"),
    ("Welches Produkt bringt am meisten Umsatz", "Welche Produkte bringen am meisten Umsatz"),
    ("welcher kunde hat die meisten tickets", "welche kunden haben die meisten tickets"),
    ("Welcher Kunde hat die meisten Tickets", "Welche Kunden haben die meisten Tickets"),
    ("most common reason for lost deals", "most common reasons for lost deals"),
    ("which lead source is the most common", "which lead sources are the most common"),
    ("top category of tickets", "top categories of tickets"),
    ("häufigster Verlustgrund", "häufigste Verlustgründe"),
)


def odata(question: str) -> str | None:
    with acting_as(system_caller()):
        query = answer_question(question)["query"]
    return query and query["odata"]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("said", BY)
def test_by_is_said_in_many_ways(said: str) -> None:
    others = [
        said.format(n=name, d=dimension, ds=several)
        for name, dimension, several in COUNTED
        if odata(said.format(n=name, d=dimension, ds=several))
        != odata(f"number of {name} by {dimension}")
    ]
    assert others == []


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("alike", WHEN, ids=lambda alike: alike[0])
def test_a_period_stands_anywhere(alike: tuple[str, ...]) -> None:
    others = []
    for name, dimension in (("tickets", "client"), ("invoices", "client"), ("leads", "source")):
        asked = odata(alike[0].format(q=f"number of {name} by {dimension}"))
        questions = (f"{name} by {dimension}", f"{name} per {dimension}")
        others += [said.format(q=question) for said, question in product(alike, questions)
                   if odata(said.format(q=question)) != asked]  # fmt: skip
    assert others == []


def parts() -> list[list[str]]:
    """The parts of the file beside this one: a question, and others that ask the same."""
    text = Path(__file__).with_name("wordings.txt").read_text(encoding="utf-8")
    return [part.splitlines() for part in text.strip().split("\n\n")[1:]]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("alike", parts(), ids=lambda alike: alike[0])
def test_what_people_say_every_day_is_read_alike(alike: list[str]) -> None:
    asked = odata(alike[0])
    assert asked is not None
    assert [question for question in alike if odata(question) != asked] == []


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(("one_thing", "several"), NUMBERS)
def test_of_several_the_first_ten_are_told(one_thing: str, several: str) -> None:
    asked = odata(one_thing)
    assert asked is not None
    assert "&$top=1&" in f"{asked}&"
    assert odata(several) == asked.replace("$top=1", "$top=10")
