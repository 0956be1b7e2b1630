"""Questions that go on: what they are about was said before, and they say the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from bench.nlq import HIGH
from tests.bi.conftest import Ask
from tests.conftest import Once
from tests.contract.conftest import PASSWORD
from tests.factories import make_client, make_project, make_ticket

Talk = Callable[..., dict[str, Any]]


@pytest.fixture
def talk(app: Flask, ask: Ask, once: Once) -> Talk:
    """Ask one question after the other; a project that took too long, a client in Rostock."""
    once("a project that took too long", partial(_make_records, app))

    def put(*questions: str) -> dict[str, Any]:
        answer = ask(questions[0])
        for question in questions[1:]:
            answer = ask(question, sessionId=answer["sessionId"])
        return answer

    return put


def _make_records(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        lead = create_user(
            username="karin", email=None, display_name="Karin Vogt", password=PASSWORD,
            roles=["Sales"],
        )  # fmt: skip
        rostock = make_client(name="Ostsee Kaufhaus", billing_city="Rostock")
        make_ticket(category="Billing")
        make_project(name="Archive", client_id=rostock, budget_hours=10, manager_id=lead)


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = unquote(answer["query"]["odata"])
    return text


@pytest.mark.parametrize(
    ("questions", "parts"),
    [
        (("active projects", "who runs them"), ("expand=", "Manager($select=displayName)")),
        (("projects of Ostsee Kaufhaus", "and who is in charge?"), ("Manager($select=",)),
        (("open deals", "who is handling those"), ("Owner($select=displayName)",)),
        (("articles overdue for review", "who owns them?"), ("Owner($select=displayName)",)),
        (("articles overdue for review", "who wrote them?"), ("Author($select=displayName)",)),
    ],
    ids=lambda value: " > ".join(value)[:50],
)
def test_who_has_part_in_records_is_a_column_of_them(
    talk: Talk, questions: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    address = _address(talk(*questions))
    assert all(part in address for part in parts)


def test_who_is_shown_already_is_counted(talk: Talk) -> None:
    assert "groupby((assigneeId" in _address(talk("overdue tasks", "who do they belong to?"))


@pytest.mark.parametrize(
    ("questions", "part"),
    [
        (("how much is overdue", "which customers"), "groupby((clientId,Client/name"),
        (("unpaid invoices", "who are the customers"), "groupby((clientId,Client/name"),
        (("how many unpaid invoices are there", "which ones exactly?"), "/odata/Invoices?$filter="),
        (("how many clients have open tickets", "which tickets"), "/odata/Tickets?$filter=status"),
        (("clients in Rostock", "which invoices"), "Client/billingAddress/city eq 'Rostock'"),
        (("tickets of ACME", "which invoices"), "clientId eq"),
    ],
    ids=lambda value: " > ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_which_records_are_those_behind_the_figure(
    talk: Talk, questions: tuple[str, ...], part: str
) -> None:
    assert part in _address(talk(*questions))


def test_records_that_have_nothing_to_do_with_it_are_no_sure_answer(talk: Talk) -> None:
    answer = talk("french articles", "which customers")
    assert answer["status"] != "answered" or answer["confidence"] < HIGH


@pytest.mark.parametrize(
    ("questions", "parts"),
    [
        (
            ("how much has ACME paid us this year", "what do they still owe"),
            ("clientId eq", "amountDue"),
        ),
        (("invoices of ACME", "and how many tickets do they have"), ("Tickets?", "clientId eq")),
        (("invoices of ACME", "what about their contacts"), ("Contacts?", "clientId eq")),
        (("open deals of Karin Vogt", "how many leads does she have"), ("Leads?", "ownerId eq")),
        (("clients in Rostock", "how many open tickets do they have"), ("Tickets?", "'Rostock'")),
    ],
    ids=lambda value: " > ".join(value)[:50],
)
def test_they_are_whoever_was_named(
    talk: Talk, questions: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    address = _address(talk(*questions))
    assert all(part in address for part in parts)


def test_whose_is_not_known_is_no_sure_answer(talk: Talk) -> None:
    answer = talk("revenue this year", "their open tickets")
    assert answer["status"] != "answered" or answer["confidence"] < HIGH


@pytest.mark.parametrize(
    ("questions", "part"),
    [
        (("unpaid invoices of ACME", "when are they due?"), "dueDate"),
        (("open deals", "when were they created"), "createdAt"),
        (("clients in Rostock", "phone numbers pls"), ",phone"),
        (("leads from web", "and their emails"), ",email"),
        (("unpaid invoices", "reminders sent"), "remindersSent"),
        (("unpaid invoices", "phone numbers"), "Client($select=name,phone)"),
    ],
    ids=lambda value: " > ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_a_property_is_a_column_of_the_records_before(
    talk: Talk, questions: tuple[str, ...], part: str
) -> None:
    address = _address(talk(*questions))
    assert part in address and "apply" not in address


@pytest.mark.parametrize(
    ("questions", "parts"),
    [
        (("revenue this year", "number of invoices too"), ("value with sum", "countOne with sum")),
        (("open deals", "how much is that altogether"), ("amount with sum",)),
        (("revenue by month this year", "how much is that in total"), ("value with sum",)),
        (("revenue by month this year", "also by country"), ("month", "country")),
        (("clients in Rostock with unpaid invoices", "how much is that altogether"),
         ("Client/billingAddress/city eq 'Rostock'", "amountDue with sum")),
        (("tax this year", "and on credit notes in the same period"),
         ("type eq 'CreditNote'", "taxTotal with sum", "issueDate ge")),
    ],
    ids=lambda value: " > ".join(value)[:50],
)  # fmt: skip
def test_a_further_figure_is_of_what_was_asked_before(
    talk: Talk, questions: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    address = _address(talk(*questions))
    assert all(part in address for part in parts)
    assert "in total" not in questions[-1] or "month" not in address


def test_a_figure_of_the_first_few_is_not_that_of_all(talk: Talk) -> None:
    answer = talk("the 5 biggest open deals", "how much is that altogether")
    assert answer["status"] == "unsupported" and "first 5" in answer["answer"]


@pytest.mark.parametrize(
    ("question", "part"),
    [("without any invoice this year", "Invoices/"), ("with open tickets", "Tickets/"),
     ("only those with more than 2 overdue invoices", "gt 2")],
)  # fmt: skip
def test_what_they_have_or_lack_restricts_the_records_before(
    talk: Talk, question: str, part: str
) -> None:
    address = _address(talk("clients in Rostock", question))
    assert "'Rostock'" in address and part in address


def test_what_was_readable_of_a_question_sent_back_is_gone_on_from(talk: Talk) -> None:
    answer = talk("hows the pipeline zooming by stage", "only Karins deals")
    assert "groupby((stage" in _address(answer) and "ownerId eq" in _address(answer)
    assert answer["confidence"] < HIGH


def test_what_was_left_aside_in_a_question_sent_back_is_told_with_what_goes_on(talk: Talk) -> None:
    answer = talk("overdue invoices halt by client please zorb", "only those in Germany")
    assert "“zorb” is left aside" in answer["interpretation"]


@pytest.mark.parametrize("question", ["who runs them", "which ones exactly?", "when is it due"])
def test_nothing_is_gone_on_from_what_was_not_understood(talk: Talk, question: str) -> None:
    answer = talk("whats the blorp in the zorp", question)
    assert answer["status"] == "unsupported" and "was not understood" in answer["answer"]


def test_a_lead_in_without_anything_before_is_no_sure_answer(talk: Talk) -> None:
    answer = talk("whats the blorp in the zorp", "only Karins deals")
    assert answer["status"] != "answered" or answer["confidence"] < HIGH


def test_a_restriction_takes_the_place_of_one_that_it_contradicts(talk: Talk) -> None:
    address = _address(talk("average days to pay for invoices over 5000", "and below 500?"))
    assert "lt 500" in address and "5000" not in address


def test_a_restriction_is_of_the_records_before_whatever_else_it_could_be(talk: Talk) -> None:
    address = _address(talk("tickets this year by agent", "without the billing ones"))
    assert "/odata/Tickets?" in address and "Billing" in address


def test_what_only_looked_at_a_record_is_not_gone_on_from(talk: Talk) -> None:
    address = _address(talk("INV-2026-00001", "is it paid", "how much is still open"))
    assert "number eq 'INV-2026-00001'" in address and "'Paid'" not in address


def test_who_did_what_nobody_keeps_is_not_somebody_else(talk: Talk) -> None:
    answer = talk("overdue tasks", "who created them")
    assert answer["status"] == "unsupported" and "who created" in answer["answer"]


@pytest.mark.parametrize("question", ["outstanding amount", "average invoice amount"])
def test_a_figure_of_the_same_records_may_be_of_those_before_or_of_all(
    talk: Talk, question: str
) -> None:
    answer = talk("revenue last month", question)
    assert answer["status"] == "needsClarification" and len(answer["alternatives"]) == 2


def test_a_figure_of_other_records_stands_by_itself(talk: Talk) -> None:
    answer = talk("open tickets by priority", "total revenue")
    assert "/odata/Invoices?" in _address(answer) and answer["confidence"] >= 0.75


def test_a_question_that_was_sent_back_begins_a_session(ask: Ask) -> None:
    assert ask("whats the blorp in the zorp")["sessionId"]
    assert ask("drop table clients")["sessionId"] is None
