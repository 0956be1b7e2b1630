"""Summaries of records, and questions about the one that a conversation is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.ai.wording import day_text
from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api

Index = Callable[[], None]


def test_a_summary_names_balances_and_open_items(api: Api, acme: int) -> None:
    answer = chat(api, "Give me a summary", context=about("clients", acme))
    assert answer["context"] == {"module": "clients", "entityId": acme, "title": "Acme"}
    reply = answer["reply"]
    assert "Outstanding balance: 200.00 EUR. [1]" in reply
    assert "200.00 EUR due on 31 January 2030 [2]" in reply
    for expected in ("Turbines: 5,000.00 EUR in Prospecting [3]", "Noise (New, Normal) [4]",
                     "Call Eva (Todo, Normal) [5]"):  # fmt: skip
        assert expected in reply
    assert [(each["n"], each["type"]) for each in answer["citations"]] == [
        (1, "Client"), (2, "Invoice"), (3, "Opportunity"), (4, "Ticket"), (5, "Task"),
    ]  # fmt: skip


def test_a_summary_says_what_is_overdue_and_what_was_credited(api: Api, acme: int) -> None:
    made(api, "Tasks", title="Call Bo", relatedType="Client", relatedId=acme,
         dueAt="2020-01-01T12:00:00Z")  # fmt: skip
    reply = chat(api, "Give me a summary", context=about("clients", acme))["reply"]
    assert "Call Bo (Todo, Normal), overdue [" in reply and reply.count("overdue") == 1
    assert "Credit balance" not in reply  # there is none
    invoice = api.get(f"/odata/Clients({acme})/Invoices").json["value"][0]["id"]
    told = about("invoices", invoice)
    assert "Credited" not in chat(api, "Tell me about it", context=told)["reply"]
    credit = api.post(f"/api/invoices/{invoice}/credit-note", {"issue": True})
    assert credit.status_code == 201, credit.text
    assert "Credited: 200.00 EUR." in chat(api, "Tell me about it", context=told)["reply"]


def test_figures_that_the_caller_may_not_read_are_refused_not_explained(
    api: Api, index: Index, sign_in: Callable[..., Api]
) -> None:
    made(api, "KbArticles", title="How many leads are there", status="Published",
         body="The number of leads there are is shown on the first page.")  # fmt: skip
    index()
    reply = chat(sign_in("Accountant"), "How many leads are there?")["reply"]
    assert reply.startswith("You may not read leads")
    assert "There are 0 leads." in chat(api, "How many leads are there?")["reply"]


def test_a_summary_that_only_announces_is_not_quoted(api: Api, index: Index) -> None:
    for summary in ("How to choose colours, and why.", "Curtains come in blue and green."):
        made(api, "KbArticles", title="Colours of curtains", summary=summary, status="Published",
             body="Choose the colour of your curtains in the shop, or by telephone.")  # fmt: skip
        index()
        reply = chat(api, "How do I choose the colour of curtains?")["reply"]
        assert "Choose the colour of your curtains in the shop" in reply
        assert "How to choose" not in reply
    assert "Curtains come in blue and green. [" in reply


def test_a_summary_leaves_out_what_the_caller_may_not_read(
    acme: int, sign_in: Callable[..., Api]
) -> None:
    reply = chat(sign_in("Support"), "summary", context=about("Client", acme))["reply"]
    assert "Noise" in reply
    assert "Turbines" not in reply


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What is the outstanding balance?", "The outstanding balance of Acme is 200.00 EUR. [1]"),
        ("how much do they owe", "The outstanding balance of Acme is 200.00 EUR. [1]"),
        ("what is their e-mail?", "The email of Acme is eva@acme.example. [1]"),
        ("Which currency?", "The currency of Acme is EUR. [1]"),
        ("What are the payment terms?", "The payment terms of Acme are 30 days. [1]"),
        ("balance", "The outstanding balance of Acme is 200.00 EUR. [1]"),
        ("The balance, please?", "The outstanding balance of Acme is 200.00 EUR. [1]"),
        ("E-Mail?", "The email of Acme is eva@acme.example. [1]"),
        ("What is the email address?", "The email of Acme is eva@acme.example. [1]"),
        ("What is the phone number?", "The phone of Acme is not set. [1]"),
        ("What is the number?", "The number of Acme is C-000001. [1]"),
        ("Who is the owner?", "The owner of Acme is Admin. [1]"),
        ("who is responsible for this client", "The owner of Acme is Admin. [1]"),
        ("owner", "The owner of Acme is Admin. [1]"),
        ("Do not contact?", "Do not contact for Acme: no. [1]"),
    ],
)
def test_a_question_about_a_field_is_answered_from_the_record(
    api: Api, acme: int, question: str, reply: str
) -> None:
    assert chat(api, question, context=about("crm", acme))["reply"] == reply


@pytest.mark.parametrize(
    ("entity_set", "question", "reply"),
    [
        ("Opportunities", "stage", "The stage of Turbines is Prospecting. [1]"),
        ("Opportunities", "Who owns this?", "The owner of Turbines is Admin. [1]"),
        ("Tickets", "Who is assigned?", "The assignee of Noise is not set. [1]"),
        ("Tasks", "assignee?", "The assignee of Call Eva is Admin. [1]"),
        (
            "Invoices",
            "due",
            "The amount due of {number} is 200.00 EUR. [1]\n"
            "The due date of {number} is 31 January 2030. [1]",
        ),
        ("Invoices", "Is it overdue?", "{number} is not overdue. [1]"),
        ("Invoices", "Who is the client?", "The client of {number} is Acme. [1]"),
        ("Invoices", "Who owns it?", "The client owner of {number} is Admin. [1]"),
        ("Invoices", "When was it paid?", "{number} is not paid yet. [1]"),
        ("Invoices", "When was it sent?", "The issue date of {number} is {today}. [1]"),
        ("Invoices", "When is it due?", "The due date of {number} is 31 January 2030. [1]"),
    ],
)
def test_a_word_or_a_person_of_the_record_is_understood(
    app: Flask, api: Api, acme: int, entity_set: str, question: str, reply: str
) -> None:
    row = api.get(f"/odata/{entity_set}?$top=1").json["value"][0]
    answer = chat(api, question, context=about(entity_set, row["id"]))
    with app.app_context():
        day = day_text(row["createdAt"])
    assert answer["reply"] == reply.format_map({**row, "today": day})
    steps = {(step["name"], step["status"]) for step in answer["toolCalls"]}
    assert steps == {("read_record", "ok")}


@pytest.mark.parametrize("entity_set", ["Contacts", "Leads", "Opportunities", "Tickets",
    "Invoices", "KbArticles", "Documents", "Tasks", "Projects"])  # fmt: skip
def test_every_kind_of_record_is_summed_up(api: Api, acme: int, entity_set: str) -> None:
    values: dict[str, dict[str, Any]] = {
        "Contacts": {"lastName": "Roth"}, "Leads": {"company": "Works"},
        "Opportunities": {"name": "Sale", "clientId": acme}, "Tickets": {"subject": "Noise"},
        "Invoices": {"clientId": acme}, "KbArticles": {"title": "T", "body": "B"},
        "Documents": {"name": "a.pdf"}, "Tasks": {"title": "Do"}, "Projects": {"name": "P"},
    }  # fmt: skip
    key = made(api, entity_set, **values[entity_set])
    answer = chat(api, "summary please", context=about(entity_set, key))
    assert "[1]" in answer["reply"], answer["reply"]
    assert answer["citations"][0]["url"] == f"/odata/{entity_set}({key})"
    assert "None" not in answer["reply"] and "{" not in answer["reply"]
