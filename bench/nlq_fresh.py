"""Meanings drawn at random, to be said in words by somebody who looks at no rule and no lexicon.

    python -m bench.nlq_fresh --seed 27 --meanings 40

Each line is one meaning of the algebra over the entity data model, weighted towards what sales,
accounting and support ask, or something that no record tells. Whoever writes questions says each in
five ways as a hurried person types, writes the query that answers it beside them, and only then
asks. The files ``bench/questions/fresh_*.txt`` were made so; they say which seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from app.bi.questions.algebra import (
    Against,
    Compares,
    Dated,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Meaning,
    Not,
    Ranking,
    Restriction,
    Threshold,
    When,
)

PERIODS = (
    "this month", "last month", "this quarter", "last quarter", "this year", "last 30 days", "May",
    "Q1", "yesterday", "last week", "this week", "since March", "April to June",
)  # fmt: skip
PAIRS = (
    ("this month", "last month"), ("this quarter", "last quarter"), ("Q1 2026", "Q4 2025"),
    ("May", "April"), ("this week", "last week"), ("May 2026", "February 2026"),
)  # fmt: skip
GRAINS = ("month", "quarter", "week")
# What no record of the platform tells, or what is no question at all.
BEYOND = (
    "profit margin", "cost of an employee", "visits of the web site", "stock of a product",
    "weather", "holidays of a colleague", "send a mail", "delete or change a record",
    "forecast of next year", "what the data looked like a month ago", "reasons why",
    "salaries", "phone calls", "our share of the market", "median",
)  # fmt: skip
_AVERAGES = {"resolution time", "first reply", "satisfactionRating"}
# Measures of what is now: they have no period.
AS_IT_IS = {"Receivables", "Overdue", "Pipeline", "WeightedPipeline", "outstandingBalance"}


@dataclass(frozen=True)
class Topic:
    """What people ask of one kind of record; paths and measures of the entity data model."""

    kind: str
    weight: int
    figures: tuple[Figure, ...]
    restrictions: tuple[Restriction, ...]
    dimensions: tuple[str, ...]
    date: str
    numbers: tuple[str, ...]  # what records are ranked by
    related: tuple[Has, ...] = ()


def _equals(path: str, *values: str) -> Equals:
    return Equals(path, values, "")


_COUNT = Figure("count")
TOPICS = (
    Topic(
        "Invoices", 14,
        (
            *(Figure(name) for name in ("Revenue", "Revenue", "Invoiced", "Receivables")),
            *(Figure(name) for name in ("Receivables", "Overdue", "Overdue", "Credited", "Tax")),
            Figure("total", "average"),
        ),
        (
            Is("overdue"), Is("unpaid"), _equals("status", "Draft"), _equals("currency", "CHF"),
            _equals("status", "PartiallyPaid"), Compares("total", "gt", "5000"),
            _equals("Client/billingAddress/country", "CH"), _equals("Client/industry", "Retail"),
            Compares("daysOverdue", "gt", "60"), Compares("remindersSent", "ge", "3"),
            _equals("type", "CreditNote"),
        ),
        ("Client/name", "Client/billingAddress/country", "Client/industry", "currency"),
        "issueDate", ("total", "amountDue", "dueDate"),
    ),
    Topic(
        "Payments", 5, (Figure("Collected"), Figure("Collected"), _COUNT),
        (
            _equals("method", "card"), _equals("method", "transfer"),
            Compares("amount", "gt", "5000"), _equals("currency", "GBP"),
        ),
        ("method", "Client/name", "currency"), "date", ("amount",),
    ),
    Topic(
        "Opportunities", 8,
        (
            *(Figure(name) for name in ("Pipeline", "Pipeline", "WeightedPipeline", "Won", "Won")),
            Figure("Lost"), Figure("amount", "average"), Figure("winRate", is_rate=True), _COUNT,
        ),
        (
            Is("won"), Is("lost"), Is("open"), _equals("stage", "Negotiation"),
            _equals("lostReason", "Price"), _equals("Owner/displayName", "Tom Becker"),
            _equals("type", "Renewal"), _equals("competitor", "Zeitwerk"),
            Compares("amount", "ge", "20000"), Compares("daysInStage", "gt", "45"),
        ),
        ("Owner/displayName", "stage", "lostReason", "type", "Client/industry"),
        "closedAt", ("amount", "closeDate", "daysInStage"),
    ),
    Topic(
        "Tickets", 8,
        (_COUNT, _COUNT, Figure("resolution time", "average"), Figure("first reply", "average"),
         Figure("satisfactionRating", "average"), Figure("slaRate", is_rate=True)),
        (
            Is("open"), Is("solved"), Is("unassigned"), _equals("slaStatus", "Breached"),
            _equals("priority", "Urgent", "High"), _equals("channel", "Phone"),
            _equals("category", "Billing"), _equals("Assignee/displayName", "Ole Jensen"),
            Compares("reopenCount", "gt", "0"), Compares("satisfactionRating", "le", "2"),
        ),
        ("Assignee/displayName", "category", "channel", "priority", "Client/name"),
        "createdAt", ("createdAt", "reopenCount"),
    ),
    Topic(
        "Clients", 6, (_COUNT, Figure("NewClients"), Figure("outstandingBalance", "sum")),
        (
            _equals("status", "Active"), _equals("status", "Blocked"),
            _equals("billingAddress/country", "AT"), _equals("industry", "Logistics"),
            Compares("employeeCount", "ge", "200"), Compares("outstandingBalance", "gt", "5000"),
        ),
        ("industry", "billingAddress/country", "Owner/displayName", "source"),
        "createdAt", ("outstandingBalance", "invoicedTotal", "employeeCount"),
        (
            Has("Invoices", (Is("overdue"),)), Has("Tickets", (Is("open"),)), Has("Projects"),
            Has("Opportunities", (Is("open"),)), Has("Invoices"), Has("Tickets"), Has("Contacts"),
        ),
    ),
    Topic(
        "Leads", 3, (_COUNT, Figure("NewLeads"), Figure("conversionRate", is_rate=True)),
        (
            _equals("rating", "Hot"), Is("open"), _equals("source", "Referral"),
            _equals("status", "Disqualified"), Compares("score", "gt", "70"),
        ),
        ("source", "Owner/displayName", "status"), "createdAt", ("score", "estimatedValue"),
    ),
    Topic(
        "Tasks", 2, (_COUNT, Figure("actualHours", "sum")),
        (Is("open"), Is("overdue"), _equals("status", "Blocked"), _equals("priority", "High")),
        ("Assignee/displayName", "Project/name"), "completedAt", ("dueAt", "actualHours"),
    ),
    Topic(
        "Projects", 2, (_COUNT, Figure("budgetAmount", "sum")),
        (_equals("status", "Active"), Is("overdue"), _equals("billingType", "Fixed")),
        ("Manager/displayName", "status"), "endDate", ("endDate", "budgetAmount", "hoursSpent"),
        (Has("Tasks", (Is("open"),)),),
    ),
    Topic(
        "KbArticles", 1, (_COUNT, Figure("viewCount", "sum")),
        (_equals("language", "de"), _equals("visibility", "Internal")),
        ("category", "Author/displayName"), "publishedAt", ("viewCount", "notHelpfulCount"),
    ),
)  # fmt: skip

Shape = Callable[[Topic, Random], Meaning]


def _dated(topic: Topic, random: Random, share: float = 0.7) -> Dated | None:
    """A period, in a part of the cases."""
    when = When(random.choice(PERIODS))
    return Dated(when, topic.date) if random.random() < share else None


def _where(topic: Topic, random: Random, *counts: int) -> tuple[Restriction, ...]:
    return tuple(random.sample(topic.restrictions, random.choice(counts)))


def _figure(topic: Topic, random: Random) -> Meaning:
    figure = random.choice(topic.figures)
    where = _where(topic, random, 0, 0, 1)
    return Meaning(topic.kind, (figure,), where=where, dated=_dated(topic, random))


def _grouped(topic: Topic, random: Random) -> Meaning:
    return _figure(topic, random).changed(groups=(Group(random.choice(topic.dimensions)),))


def _series(topic: Topic, random: Random) -> Meaning:
    figure = _figure(topic, random)
    return figure.changed(
        groups=(Group(grain=random.choice(GRAINS)),), dated=Dated(When("this year"), topic.date)
    )


def _count(topic: Topic, random: Random) -> Meaning:
    where = _where(topic, random, 1, 1, 2)
    return Meaning(topic.kind, (_COUNT,), where=where, dated=_dated(topic, random, 0.4))


def _listing(topic: Topic, random: Random) -> Meaning:
    where = _where(topic, random, 1, 2)
    return Meaning(topic.kind, where=where, dated=_dated(topic, random, 0.3))


def _ranked_groups(topic: Topic, random: Random) -> Meaning:
    ranking = Ranking(random.random() < 0.8, random.choice((1, 1, 3, 5)))
    return _grouped(topic, random).changed(ranking=ranking)


def _ranked_records(topic: Topic, random: Random) -> Meaning:
    path = random.choice(topic.numbers)
    ranking = Ranking(random.random() < 0.7, random.choice((1, 3, 5, 10)), path)
    return Meaning(topic.kind, where=_where(topic, random, 0, 1), ranking=ranking)


def _share(topic: Topic, random: Random) -> Meaning:
    part = random.choice(topic.restrictions)
    return Meaning(topic.kind, (_COUNT,), part=part, dated=_dated(topic, random, 0.5))


def _compared(topic: Topic, random: Random) -> Meaning:
    first, second = random.choice(PAIRS)
    asked = random.choice(("", "", "yes"))
    return _figure(topic, random).changed(
        dated=Dated(When(first), topic.date), against=Against(When(second)), asked=asked
    )


def _existence(topic: Topic, random: Random) -> Meaning:
    related: Restriction = random.choice(topic.related or TOPICS[4].related)
    kind = topic.kind if topic.related else TOPICS[4].kind
    where = (Not(related) if random.random() < 0.6 else related,)
    return Meaning(kind, where=where)


def _threshold(topic: Topic, random: Random) -> Meaning:
    grouped = _grouped(topic, random)
    counted = grouped.figures == (_COUNT,) or random.random() < 0.3
    number = random.choice(("3", "5", "10")) if counted else random.choice(("5000", "20000"))
    return grouped.changed(threshold=Threshold("gt", number, counted))


SHAPES: Sequence[tuple[Shape, int]] = (
    (_figure, 7), (_grouped, 6), (_count, 6), (_listing, 7), (_ranked_groups, 5),
    (_ranked_records, 5), (_share, 4), (_compared, 6), (_existence, 5), (_series, 3),
    (_threshold, 2),
)  # fmt: skip


def is_sensible(meaning: Meaning) -> bool:
    """Nobody groups by what is restricted to one value, or asks of what is now how it was."""
    paths = {one.path for one in meaning.where if isinstance(one, Equals)}
    if any(group.dimension in paths for group in meaning.groups):
        return False
    names = {figure.measure for figure in meaning.figures}
    if names & AS_IT_IS and (meaning.dated or meaning.against):
        return False
    states = any(isinstance(one, Is) for one in meaning.where) or paths & {"status", "lostReason"}
    is_rate = any(figure.is_rate or figure.measure in _AVERAGES for figure in meaning.figures)
    if is_rate and meaning.threshold and not meaning.threshold.counted:
        return False
    return not (states and names - {"count"})


def drawn(seed: int, count: int) -> list[str]:
    """So many meanings, one a line; what follows on the one before begins with ``+``."""
    random = Random(seed)
    topics = [one.weight for one in TOPICS]
    shapes = [weight for _, weight in SHAPES]
    lines: list[str] = []
    while len(lines) < count:
        if random.random() < 0.1:
            lines.append(f"beyond: {random.choice(BEYOND)}")
            continue
        topic = random.choices(TOPICS, topics)[0]
        while True:
            shape = random.choices([one for one, _ in SHAPES], shapes)[0]
            meaning = shape(topic, random)
            if is_sensible(meaning) and repr(meaning) not in lines:
                break
        lines.append(repr(meaning))
        change = _change(topic, random)
        is_new = change not in meaning.where and change not in meaning.groups
        if random.random() < 0.2 and is_new and len(lines) < count:
            lines.append(f"+ {change}")
    return lines


def _change(topic: Topic, random: Random) -> object:
    """What a follow-up replaces or adds."""
    return random.choice(
        (
            Dated(When(random.choice(PERIODS)), topic.date),
            Group(random.choice(topic.dimensions)),
            random.choice(topic.restrictions),
            Ranking(True, 1),
        )
    )


def main() -> None:
    """Print the meanings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--meanings", type=int, default=40)
    options = parser.parse_args()
    for number, line in enumerate(drawn(options.seed, options.meanings), 1):
        print(f"{number:3} {line}")


if __name__ == "__main__":
    main()
