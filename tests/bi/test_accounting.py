"""Words that show nowhere in the query cost confidence; an "or" is not answered as an "and"."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from flask import Flask

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.contract.conftest import PASSWORD
from tests.factories import make_client


@pytest.mark.parametrize(
    ("sure", "less_sure"),
    [
        # Two values joined by "and": of both together, or of each.
        ("tickets by priority", "new and solved tickets by priority"),
        # One of the two is part of the other.
        ("open tickets", "new and open tickets"),
        # Nothing but a verb says whose amounts they are.
        ("how much did we invoice by currency", "how much have we booked by currency"),
        # Where there is nothing, something else may have been asked for.
        ("urgent tickets", "solved tickets"),
    ],
)
def test_what_may_be_meant_otherwise_is_less_sure(ask: Ask, sure: str, less_sure: str) -> None:
    plain, answer = ask(sure), ask(less_sure)
    assert plain["status"] == "answered", plain["answer"]
    assert answer["confidence"] < plain["confidence"], answer["interpretation"]


def test_how_long_is_a_time(ask: Ask) -> None:
    answer = ask("how long are deals open on average")
    assert "days since creation (open)" in answer["interpretation"]


def test_the_biggest_of_each_month_is_not_counted(ask: Ask) -> None:
    assert ask("biggest invoice per month this year")["status"] == "unsupported"


def test_a_share_is_of_what_stands_behind_among(ask: Ask) -> None:
    answer = ask("share of urgent tickets among open tickets")
    assert answer["interpretation"].startswith("Share of tickets: urgent (open)")


def test_what_says_more_of_a_group_is_no_group(ask: Ask) -> None:
    answer = ask("revenue by country of the customer")
    assert answer["columns"][0]["name"] == "country"
    assert answer["rowCount"] == 2
    both = ask("revenue by client and industry")
    assert {"Client/name", "Client/industry"} <= {column["name"] for column in both["columns"]}
    one = ask("revenue per customer industry")
    assert "Client/name" not in {column["name"] for column in one["columns"]}


def test_what_a_list_is_ordered_by_is_shown(ask: Ask) -> None:
    answer = ask("top 3 clients by number of employees in each country")
    assert answer["status"] == "answered", answer["answer"]
    assert "employeeCount" in {column["name"] for column in answer["columns"]}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did revenue grow compared to last year?", ["as current", "as previous"]),
        # A draft has no date but that of its making.
        ("draft invoices older than 30 days", ["status eq 'Draft'", "createdAt lt"]),
        ("How many drafts are older than 2 weeks?", ["status eq 'Draft'", "createdAt lt"]),
    ],
)
def test_what_is_owed_grows_or_is_a_draft_is_asked_for_as_such(
    ask: Ask, question: str, said: list[str]
) -> None:
    answer = ask(question)
    assert answer["status"] == "answered"
    address = unquote(answer["query"]["odata"])
    assert [part for part in said if part not in address] == []


def test_who_made_records_is_nobody_who_is_responsible_for_them(app: Flask, ask: Ask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username="karin", email=None, display_name="Karin Vogt", password=PASSWORD,
            roles=["Sales"],
        )  # fmt: skip
    assert ask("who created the most tickets")["status"] == "unsupported"
    assert ask("Which leads were created by Karin Vogt?")["status"] == "unsupported"
    assert "ownerId eq" in unquote(ask("Which leads are owned by Karin Vogt?")["query"]["odata"])


@pytest.mark.parametrize(
    "name", ["Haus & Garten GmbH & Co. KG", "Haus & Garten GmbH", "Haus & Garten"]
)
def test_names_of_companies_have_signs_and_dots(app: Flask, ask: Ask, name: str) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_client(name="Haus & Garten GmbH & Co. KG")
    answer = ask(f"how many open tickets does {name} have")
    assert answer["status"] == "answered", answer["answer"]
    assert "Haus & Garten GmbH & Co. KG" in answer["answer"]
