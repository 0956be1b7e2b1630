"""How answers are told: what a sentence says of records and groups, and what is asked next."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from urllib.parse import unquote

import pytest

from app.bi.answering import answer_question, reply_to, state_after
from app.bi.answers import EXAMPLES, Answer
from app.bi.query import Query, run

pytestmark = pytest.mark.usefixtures("demo")
LISTS = ["open invoices", "paid invoices of last month", "overdue invoices", "payments last month",
         "credit notes this year", "open deals", "deals closing this month", "hot leads",
         "offene Rechnungen", "Zahlungen im Mai", "offene Verkaufschancen"]  # fmt: skip

_AMOUNTS = {"paid invoices of last month": "total", "credit notes this year": "total"}


def _filter(answer: Answer) -> str:
    """The condition of a query."""
    address = unquote(answer["query"]["odata"])
    found = re.search(r"\$filter=(.*?)(?:&|$)", address) or re.search(
        r"filter\((.*?)\)/(?:groupby|aggregate)", address
    )
    return "" if found is None else found[1]


@pytest.mark.parametrize("question", [
    "deals lost last month", "open tasks", "open tickets", "contacts", "offers", "active projects",
    "verlorene Verkaufschancen", "offene Aufgaben", "offene Tickets",
])  # fmt: skip
def test_each_record_that_is_named_is_told_apart(question: str) -> None:
    answer = answer_question(question)
    named = answer["answer"].partition(": ")[2]
    assert "(" in named
    first = answer["rows"][0]
    ours = [first.get(name) for name in ("Client/name", "Project/name")]
    assert any(value and str(value) in named for value in ours), named


@pytest.mark.parametrize("question", LISTS)
def test_a_list_says_what_it_adds_up_to_by_the_filter_of_its_count(question: str) -> None:
    answer = answer_question(question)
    join = "join(Payments as payment)/" if "payment/" in answer["query"]["odata"] else ""
    path = "payment/amount" if join else _AMOUNTS.get(question) or {
        "Invoices": "amountDue", "Opportunities": "amount", "Leads": "estimatedValue",
    }[answer["query"]["entity"]]  # fmt: skip
    money = "payment/currency" if join else "currency"
    rate = ",exchangeRate" if answer["query"]["entity"] != "Leads" else ""
    groups = f"groupby(({money}{rate}),aggregate({path} with sum as n))"
    steps = f"{join}filter({_filter(answer)})/{groups}"
    rows = run(Query(answer["query"]["entity"], {"apply": steps}), 1000).rows
    rows = [row for row in rows if row["n"] is not None]
    if rate:
        whole = sum((Decimal(row["n"]) * Decimal(row["exchangeRate"]) for row in rows), Decimal(0))
        told = re.search(r"([\d.,]+) EUR(?: in all|, umgerechnet)", answer["answer"])
        assert told is not None, answer["answer"]
        digits = Decimal(re.sub(r"[.,]", "", told[1])) / 100
        assert abs(digits - whole) <= Decimal("0.05")
    else:
        assert " in all" in answer["answer"]


def test_a_list_of_what_has_no_amount_and_a_ranking_have_no_sum() -> None:
    for question in ("open tickets", "5 biggest open deals", "clients in Hamburg"):
        assert "in all" not in answer_question(question)["answer"]


@pytest.mark.parametrize(
    ("question", "begins", "parts"),
    [
        ("has INV-2026-00007 been paid?", "Yes. INV-2026-00007",
         ("status paid", "paid 2026-02-06")),
        ("is INV-2026-01669 paid?", "No. INV-2026-01669",
         ("status partially paid", "amount due 17.99 EUR", "due date 2026-06-17")),
        ("ist INV-2026-01669 bezahlt?", "Nein. INV-2026-01669",
         ("teilweise bezahlt", "17,99 EUR", "17.06.2026")),
        ("is ticket T-000013 solved", "No. Connect Excel to our data", ("status open",)),
        ("is T-000013 still open", "Yes. Connect Excel to our data", ("T-000013",)),
        ("ist das Ticket T-000013 gelöst", "Nein. Connect Excel", ("Status offen",)),
        ("is project P-000034 overdue", "No. Electronic invoices", ("status active", "end date")),
        ("is the client Granit Software GmbH & Co. KG blocked", "No. Granit", ("status active",)),
        ("when is INV-2026-01669 due", "INV-2026-01669", ("due date 2026-06-17",)),
        ("wann ist INV-2026-01669 fällig", "INV-2026-01669", ("17.06.2026",)),
        ("when was INV-2026-00007 paid", "INV-2026-00007", ("paid 2026-02-06",)),
        ("when was INV-2026-01669 paid", "INV-2026-01669", ("paid (none), status partially paid",)),
    ],
)  # fmt: skip
def test_of_one_record_it_is_said_how_it_is(
    question: str, begins: str, parts: tuple[str, ...]
) -> None:
    text = answer_question(question)["answer"]
    assert text.startswith(begins)
    assert [part for part in parts if part not in text] == [], text


def test_a_record_that_is_not_there_is_not_told_of() -> None:
    assert answer_question("is INV-2026-99999 paid?")["answer"].startswith("There are no invoices")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("10 most viewed articles", "The 10 of 60 articles with the most views: "),
        ("biggest invoice this year and who it was for", "(Jura Logistik plc, 11,199.18 GBP)"),
        ("5 biggest open deals with client and owner", "owner: Leyla Özdemir"),
        ("oldest open tickets", "Bałtyk Brauerei SARL, 2025-10-09)"),
        ("letzte Zahlung", "Zahlungen, an erster Stelle von 2.508, neueste zuerst: PAY-002507 ("),
        ("Anzahl und Wert der gewonnenen Verkaufschancen nach Verantwortlichem",
         "Leyla Özdemir Anzahl Verkaufschancen 44, Wert der Verkaufschancen"),
        ("average satisfaction this year", "Average satisfaction from 1 to 5 (this year): "),
        ("lost deals by competitor", " and 2 more; without competitor 75."),
        ("payments by method", "direct debit "),
        ("open deals with a close date in the past", "(open, close date before today)"),
        ("overdue tasks of project P-000034", "(overdue, of project P-000034)"),
    ],
)  # fmt: skip
def test_a_sentence_has_what_was_asked_for_in_plain_words(question: str, text: str) -> None:
    assert text in answer_question(question)["answer"]


@pytest.mark.parametrize("question", [
    "revenue by industry", "payments by method", "pipeline by owner", "Umsatz nach Branche",
])  # fmt: skip
def test_groups_in_several_currencies_are_told_by_their_worth(question: str) -> None:
    answer = answer_question(question)
    assert len({row["currency"] for row in answer["rows"] if "currency" in row} or {1, 2}) > 1
    told = re.findall(r"([\d.,]+) (EUR|CHF|GBP)(?=[;. ])", answer["answer"])
    assert {currency for _, currency in told} == {"EUR"}
    amounts = [int(re.sub(r"[.,]", "", amount)) for amount, _ in told]
    assert len(amounts) > 1 and all(first >= after for first, after in pairwise(amounts))


@pytest.mark.parametrize(("question", "text"), [
    ("which client has the most tickets", "Fjord Industries AG 5. On a par: Oranje Handel GmbH."),
    ("welcher Kunde hat am meisten Tickets", "Gleichauf: Oranje Handel GmbH."),
    ("busiest month for tickets", " Next: "),
    ("best industry by revenue", " Next: Manufacturing "),
])  # fmt: skip
def test_the_first_of_a_ranking_is_told_beside_those_that_follow(question: str, text: str) -> None:
    answer = answer_question(question)
    assert answer["rowCount"] == 1 and text in answer["answer"]


def test_what_has_no_figure_is_on_a_par_with_others_that_have_none() -> None:
    answer = answer_question("top 1 kunde nach mittlerer lösungszeit")
    assert "Gleichauf" in answer["answer"], answer


@pytest.mark.parametrize("question", [
    "open invoices", "invoices of Lumière Handel", "payments last month", "open deals",
    "tickets this week", "overdue tasks", "documents", "active projects", "hot leads",
    "clients with overdue invoices", "how many open tickets", "paid invoices of last month",
    "tickets of high priority", "deals lost in Q1", "overdue invoices without reminders",
])  # fmt: skip
def test_what_is_asked_next_is_of_the_same_records(question: str) -> None:
    answer = answer_question(question, limit=1000)
    assert answer["alternatives"], answer["answer"]
    known = {row.get("id") or row.get("payment/number") for row in answer["rows"]}
    for offered in answer["alternatives"]:
        again = answer_question(offered, limit=1000)
        assert again["status"] == "answered", offered
        rows = again["rows"]
        if "how many" in question:
            assert sum(row.get("count", 1) for row in rows) == answer["rows"][0]["count"], offered
        elif "count" in rows[0]:
            assert sum(row["count"] for row in rows) == len(known), offered
        elif "id" in rows[0]:
            assert {row["id"] for row in rows} < known, offered
        else:
            assert "amount" in rows[0], offered


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("call granit software at 3pm remind me", "Open invoices of Granit Software GmbH & Co. KG"),
        ("Rechnungen von Lumière Handel verschieben", "Offene Rechnungen von Lumière Handel SA"),
        ("tickets by bananas", "Open tickets"),
        ("Dokumente zorbex blorp", "Dokumente nach Kunde"),
    ],
)
def test_what_is_offered_is_about_what_was_recognised(question: str, offered: str) -> None:
    answer = answer_question(question)
    assert answer["status"] != "answered"
    assert offered in answer["alternatives"]
    for each in answer["alternatives"]:
        assert answer_question(each)["status"] == "answered", each


def test_what_can_be_asked_is_told_once_in_a_session() -> None:
    first = reply_to("profit margin by month")
    assert "You can ask about" in first.answer["answer"]
    assert first.answer["alternatives"] == list(EXAMPLES)
    second = reply_to("what about the weather forecast tomorrow", first.state)
    assert second.answer["status"] == "unsupported"
    assert "You can ask about" not in second.answer["answer"]


def test_words_left_aside_are_told_once() -> None:
    first = "überfällige Rechnungen halt nach Kunde"
    assert "„halt“" in answer_question(first)["interpretation"]
    assert (
        "„halt“"
        not in answer_question("nur in der Schweiz", state_after([first]))["interpretation"]
    )
