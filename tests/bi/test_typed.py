"""Questions as they are typed in a hurry: short forms, and words that restrict nothing."""

from __future__ import annotations

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("no of inv's from may", "number of invoices from may"),
        ("n how many custs r in berlin", "how many customers are in berlin"),
        ("overdue inv this yr", "overdue invoices this year"),
        ("who r the owners of open opps", "who are the owners of open deals"),
        ("tickets that arent solved", "tickets that aren't solved"),
        ("is anyone sitting on more than 25 open tickets", "who has more than 25 open tickets"),
        ("does anybody have more than 5 active projects", "who has more than 5 active projects"),
        # What is asked stands last.
        ("most open tickets, who", "who has the most open tickets"),
        ("clients w overdue invoices, which", "which clients have overdue invoices"),
        ("deals lost on price - how many", "how many deals did we lose on price"),
        ("march invoices, over 60 days overdue: count",
         "number of invoices of march over 60 days overdue"),
        ("deals we lost because of price, sum", "sum of deals lost because of price"),
        ("who has how many open tickets", "open tickets by assignee, most first"),
        # Of which time.
        ("revenue jan-mar", "revenue from january to march"),
        ("invoices issued mid-May", "invoices issued in mid May"),
        ("invoices since the 1st", "invoices since the start of the month"),
        ("revenue q1 26", "revenue q1 2026"),
        ("tax by calendar week, ytd", "tax per week year to date"),
        ("tickets this year, one figure for each week", "tickets per week this year"),
        ("new clients from march on", "new clients since march"),
        ("invoices by month of payment", "invoices by month of paying"),
        # How things are against each other.
        ("did we invoice more this month than last",
         "did we invoice more this month than last month"),
        ("did we win more in may than april", "did we win more deals in may than in april"),
        ("invoicing this month, split eur/chf", "invoiced this month by currency in eur or chf"),
        ("share of unassigned among open tickets", "what share of open tickets is unassigned"),
        ("tickets created in april or created in may", "tickets created in april and may"),
        # Nothing, something, everything.
        ("sum of everything past due", "overdue amount"),
        ("customers with something in the pipeline", "clients with open deals"),
        ("clients without tickets for 6 months", "clients with no tickets for 6 months"),
        ("clients not invoiced for 90 days", "clients we have not invoiced for 90 days"),
        ("deals not touched for 60 days", "deals not touched for more than 60 days"),
        # How fast and how late.
        ("which agent answers fastest", "agent with the shortest first response time"),
        ("which agent takes longest on average", "agent with the longest resolution time"),
        ("who pays late most often", "client with the most invoices paid late"),
    ],
)  # fmt: skip
def test_what_is_typed_in_a_hurry_asks_for_the_same(ask: Ask, written: str, plain: str) -> None:
    said, wanted = ask(written), ask(plain)
    assert said["status"] == wanted["status"], said["answer"]
    if wanted["status"] == "answered":
        assert said["query"]["odata"] == wanted["query"]["odata"]


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("largest unpaid invoice so far by far", "largest unpaid invoice"),
        ("are there literally any high tickets", "are there any high tickets"),
        ("hows the pipeline looking by stage", "pipeline by stage"),
    ],
)
def test_words_that_restrict_nothing_are_left_aside(ask: Ask, question: str, plain: str) -> None:
    said, wanted = ask(question), ask(plain)
    assert said["status"] == "answered", said["answer"]
    assert said["query"]["odata"] == wanted["query"]["odata"]


def test_none_for_so_long_is_none_since_then(ask: Ask) -> None:
    told = ask("clients without tickets for 6 months")["interpretation"]
    assert told == "Clients (without tickets (created less than 6 months ago))."


def test_who_pays_late_on_average_is_told_by_the_days(ask: Ask) -> None:
    told = ask("clients that pay late on average")["interpretation"]
    assert "days from due date to payment by client - those with over 0" in told


@pytest.mark.parametrize(
    "question",
    ["frobnicated invoices this wk", "very blorby tickets", "open deals of the zorgs so far"],
)
def test_what_nobody_knows_is_still_sent_back(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"
