"""What goes on from a question is an operation on its meaning."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Dated,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Meaning,
    Not,
    Of,
)
from app.bi.questions.answering import propose, understand
from app.bi.questions.periods import ago
from app.bi.questions.understanding import language_of
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


def asked(app: Flask, before: str, question: str) -> Meaning:
    with app.app_context(), acting_as(system_caller("test")):
        standing = understand(before, NOW, None, language_of(before)).standing
        code = language_of(question, standing)
        meaning = understand(question, NOW, standing, code).analyses[0].meaning
    assert meaning is not None
    return meaning


@pytest.mark.parametrize(
    ("before", "question", "kept"),
    [
        ("revenue by month", "by client", {"groups": (Group("client"),)}),
        ("open tickets by category", "as a pie chart", {"chart": "pie"}),
        ("open tickets by category", "list them", {"figures": (), "groups": ()}),
        ("open deals", "how many", {"figures": (Figure(COUNT),)}),
        ("clients in Germany", "phone numbers", {"columns": ("phone",)}),
        (
            "revenue by month this year",
            "and last year?",
            {"groups": (Group(grain="month"),), "against": None},
        ),
        ("revenue by month", "how much is that in total", {"groups": ()}),
        ("open deals by owner", "what about leads?", {"kind": "Leads"}),
        ("articles overdue for review", "who wrote them?", {"columns": ("Author/displayName",)}),
        ("open invoices", "phone numbers", {"columns": ("Client/phone",)}),
        ("how much is overdue", "which customers", {"groups": (Group("client"),)}),
        ("active projects", "of which clients", {"groups": (Group("client"),)}),
        ("aktive projekte", "von welchen kunden", {"groups": (Group("client"),)}),
        ("unpaid invoices", "reminders sent", {"figures": (), "columns": ("remindersSent",)}),
        ("revenue", "tax too", {"figures": (Figure("revenue"), Figure("tax"))}),
        ("overdue tasks", "who do they belong to?", {"groups": (Group("assignee"),)}),
    ],
)
def test_a_part_is_replaced(
    app: Flask, before: str, question: str, kept: dict[str, object]
) -> None:
    meaning = asked(app, before, question)
    assert {name: getattr(meaning, name) for name in kept} == kept


@pytest.mark.parametrize(
    ("before", "question", "descending"),
    [
        ("newest client", "and the oldest?", False),
        ("revenue by client", "only the first 3", True),
    ],
)
def test_the_first_of_groups_are_the_largest_and_of_records_the_oldest(
    app: Flask, before: str, question: str, descending: bool
) -> None:
    ranking = asked(app, before, question).ranking
    assert ranking is not None and ranking.descending is descending


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("biggest of them?", 1),
        ("highest", 1),
        ("and the smallest", 1),
        ("and the newest?", 1),
        ("the oldest 5", 5),
        ("which are the largest", 10),
        ("the largest ones", 10),
        ("the one worth most", 1),
        ("and the 3 largest", 3),
    ],
)
def test_a_superlative_by_itself_is_one_unless_several_are_meant(
    app: Flask, question: str, limit: int
) -> None:
    ranking = asked(app, "unpaid invoices", question).ranking
    assert ranking is not None and ranking.limit == limit


@pytest.mark.parametrize(
    ("before", "question", "added"),
    [
        ("open deals", "only those above 20000", Compares("amount", "gt", "20000")),
        ("open invoices over 5000", "and below 500", Compares("amountDue", "lt", "500")),
        (
            "invoices overdue by more than 30 days",
            "and more than 90?",
            Dated(ago("90", "day", "older"), "dueDate"),
        ),
        ("clients in Germany", "without any invoice", Not(Has("Invoices"))),
        (
            "clients in Germany",
            "how many open tickets do they have",
            Of("Clients", (Equals("billingAddress/country", ("'DE'",), "Germany"),)),
        ),
        ("open invoices", "in euros", Equals("currency", ("'EUR'",), "EUR")),
    ],
)
def test_a_restriction_is_added(app: Flask, before: str, question: str, added: object) -> None:
    meaning = asked(app, before, question)
    assert added in meaning.where
    assert len([one for one in meaning.where if isinstance(one, Compares)]) <= 1


OVERDUE = Is("overdue")
LOST_DEALS = Has("Opportunities", (Is("status.Lost"),))
OPEN_DEALS = Has("Opportunities", (Is("status.Open"),))


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("what share of projects is overdue", "show me the overdue ones"),
        ("what share of projects is overdue", "only the overdue ones"),
        ("wie viel prozent der projekte sind überfällig", "zeig mir die überfälligen"),
        ("wie viel prozent der projekte sind überfällig", "nur die überfälligen auflisten"),
        ("what share of projects is overdue by manager", "list the overdue ones"),
        ("what share of projects is overdue", "which ones"),
        ("wie viel prozent der projekte sind überfällig", "welche sind das"),
    ],
)
def test_the_part_of_a_share_is_listed(app: Flask, before: str, question: str) -> None:
    assert asked(app, before, question) == Meaning("Projects", where=(OVERDUE,))


@pytest.mark.parametrize(
    ("before", "question", "state"),
    [
        ("win rate this year", "list the won ones", "status.Won"),
        ("win rate this year", "show the lost ones", "status.Lost"),
        ("gewinnquote dieses jahr", "zeig die verlorenen", "status.Lost"),
        ("win rate this year", "which ones", "status.Won"),
    ],
)
def test_the_part_of_a_rate_is_listed(app: Flask, before: str, question: str, state: str) -> None:
    meaning = asked(app, before, question)
    assert not meaning.figures and meaning.where == (Is(state),)


@pytest.mark.parametrize(
    ("before", "question"),
    [("what share of projects is overdue", "how many is that"),
     ("wie viel prozent der projekte sind überfällig", "und wie viele sind das")],
)  # fmt: skip
def test_the_part_of_a_share_is_counted(app: Flask, before: str, question: str) -> None:
    counted = Meaning("Projects", (Figure(COUNT),), where=(OVERDUE,))
    assert asked(app, before, question) == counted


@pytest.mark.parametrize(
    ("before", "question", "method"),
    [
        ("average resolution time by category", "and the median?", "median"),
        ("durchschnittliche lösungszeit nach kategorie", "und der median?", "median"),
        ("median invoice amount by month", "and on average?", "average"),
        ("average invoice amount this year", "and the total?", ""),
        ("average invoice amount by country", "and overall?", "average"),
        ("durchschnittlicher dealwert nach verkäufer", "und insgesamt?", "average"),
    ],
)
def test_values_become_one_in_another_manner(
    app: Flask, before: str, question: str, method: str
) -> None:
    figures = asked(app, before, question).figures
    assert [figure.method for figure in figures] == [method]


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("average invoice amount q1 2026 vs q4 2025", "only the unpaid ones"),
        ("durchschnittlicher rechnungsbetrag q1 2026 vs q4 2025", "nur die offenen rechnungen"),
        ("durchschnittlicher rechnungsbetrag q1 2026 vs q4 2025", "und bei den unbezahlten?"),
    ],
)
def test_records_that_are_set_against_each_other_are_restricted(
    app: Flask, before: str, question: str
) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        standing = understand(before, NOW, None, language_of(before)).standing
        proposal = propose(question, NOW, standing)
    assert proposal.is_answered
    assert proposal.understood.analyses[0].meaning == replace(standing.meaning, where=(Is("open"),))


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("client created this quarter", 1),
        ("kunde erstellt in diesem quartal", 1),
        ("clients created this quarter", 0),
        ("kunden die in diesem quartal erstellt wurden", 0),
    ],
)
def test_one_record_of_a_kind_restricts_a_list_of_it(app: Flask, question: str, where: int) -> None:
    meaning = asked(app, "clients with overdue invoices", question)
    assert len(meaning.where) == where and meaning.dated is not None


@pytest.mark.parametrize(
    ("before", "question"),
    [("biggest open deal", "who owns it"), ("größter offener deal", "wem gehört der")],
)
def test_who_has_the_first_record_is_asked_of_that_record(
    app: Flask, before: str, question: str
) -> None:
    meaning = asked(app, before, question)
    assert meaning.ranking is not None and meaning.columns == ("Owner/displayName",)


@pytest.mark.parametrize(
    ("before", "question"),
    [("share of invoices from Switzerland", "and from Germany?"),
     ("anteil der rechnungen aus der schweiz", "und aus deutschland?")],
)  # fmt: skip
def test_another_value_takes_the_place_of_the_part_of_a_share(
    app: Flask, before: str, question: str
) -> None:
    part = asked(app, before, question).part
    assert part is not None and "'DE'" in str(part) and "'CH'" not in str(part)


@pytest.mark.parametrize(
    ("before", "question", "where"),
    [
        ("clients without open deals", "and lost ones?", (Not(OPEN_DEALS), LOST_DEALS)),
        ("kunden ohne offene deals", "nur solche mit verlorenem deal",
         (Not(OPEN_DEALS), LOST_DEALS)),
        ("kunden ohne offene deals", "die schon mal einen verlorenen hatten",
         (Not(OPEN_DEALS), LOST_DEALS)),
        ("clients with open deals", "and lost ones?", (LOST_DEALS,)),
        ("kunden mit offenen deals", "und verlorene?", (LOST_DEALS,)),
    ],
)  # fmt: skip
def test_a_state_is_of_the_others_that_were_spoken_of(
    app: Flask, before: str, question: str, where: tuple[object, ...]
) -> None:
    assert asked(app, before, question) == Meaning("Clients", where=where)


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("which clients have overdue invoices", "only new clients of this quarter"),
        ("how much is overdue by client", "only new clients of this quarter"),
        ("bei welchen kunden ist eine rechnung überfällig", "nur neukunden dieses quartal"),
        ("rechnungsbetrag pro kunde", "nur neukunden dieses quartal"),
        ("invoiced amount by client", "just the ones that became clients this year"),
    ],
)
def test_what_groups_are_of_is_restricted(app: Flask, before: str, question: str) -> None:
    meaning = asked(app, before, question)
    new = [
        meaning.dated,
        *(part for of in meaning.where if isinstance(of, Of) for part in of.where),
    ]
    assert [part.date for part in new if isinstance(part, Dated)] == ["createdAt"]


@pytest.mark.parametrize(
    ("before", "question"),
    [("invoices of Swiss clients in May", "by country"),
     ("share of Swiss clients in the invoices of May", "in which country are most"),
     ("share of Swiss clients in the invoices of May", "by country"),
     ("anteil schweizer kunden an den rechnungen im mai", "in welches land gingen die meisten")],
)  # fmt: skip
def test_groups_are_not_those_of_the_part_of_a_share(
    app: Flask, before: str, question: str
) -> None:
    meaning = asked(app, before, question)
    assert meaning.groups == (Group("country"),) and meaning.part is None


@pytest.mark.parametrize(
    ("before", "question"),
    [("clients in Germany", "the one with the highest outstanding balance"),
     ("kunden in deutschland", "und der mit dem höchsten offenen saldo")],
)  # fmt: skip
def test_the_one_with_the_highest_number_is_a_record(
    app: Flask, before: str, question: str
) -> None:
    meaning = asked(app, before, question)
    assert meaning.ranking is not None and meaning.ranking.limit == 1


@pytest.mark.parametrize(
    ("before", "question", "groups"),
    [
        ("open deals of Tom Becker", "broken down by the industry of the client", "industry"),
        ("offene deals von Tom Becker", "aufgeteilt nach der branche des kunden", "industry"),
        ("überfällige rechnungen", "nach land des kunden", "country"),
    ],
)
def test_what_begins_as_a_grouping_is_one_of_the_records_before(
    app: Flask, before: str, question: str, groups: str
) -> None:
    meaning = asked(app, before, question)
    assert meaning.groups == (Group(groups),) and meaning.where


@pytest.mark.parametrize("question", ["mit offenen tickets", "ohne rechnungen"])
def test_what_begins_with_with_restricts_the_records_before(app: Flask, question: str) -> None:
    meaning = asked(app, "kunden in deutschland", question)
    assert meaning.kind == "Clients" and len(meaning.where) == 2
