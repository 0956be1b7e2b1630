"""What reading a question costs: nothing in it is read, or looked up, again for each reading."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from app.bi.periods.reader import PeriodReader
from app.bi.query import Query, QueryRows, run
from app.bi.questions import names
from tests.bi.conftest import Ask

QUESTIONS = (
    "total of unpaid invoices in Germany between March and May by month",
    "which clients in Germany opened tickets last month",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_period_is_read_once_whatever_records_it_is_tried_for(
    question: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[Any] = []
    read = PeriodReader.read

    def counted(self: PeriodReader, tokens: Any, at: int, now: Any) -> Any:
        places.append((tuple(tokens), at))
        return read(self, tokens, at, now)

    monkeypatch.setattr(PeriodReader, "read", counted)
    ask(question)
    assert places
    assert max(Counter(places).values()) == 1


@pytest.mark.parametrize("question", QUESTIONS)
def test_values_of_clients_are_looked_up_once_for_all_that_clients_have(
    question: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []

    def counted(query: Query, limit: int) -> QueryRows:
        if "apply" in query.options:
            queries.append(f"{query.set_name}: {query.options['apply']}")
        return run(query, limit)

    monkeypatch.setattr(names, "run", counted)
    ask(question)
    assert "Clients: compute(industry as v)/groupby((v))" in queries
    assert [one for one in queries if "compute(Client/" in one] == []
    assert len(queries) == len(set(queries))


def test_a_value_that_clients_have_is_that_of_their_records(ask: Ask, admin: Any) -> None:
    client = admin.get("/odata/Clients?$filter=name eq 'ACME GmbH'").json["value"][0]
    changed = admin.patch(
        f"/odata/Clients({client['id']})",
        {"industry": "Food & drink"},
        headers={"If-Match": "*"},
    )
    assert changed.status_code < 300, changed.text
    answer = ask("How many tickets of food and drink clients?")
    assert answer["status"] == "answered", answer["answer"]
    assert answer["rows"] == [{"count": 3}]
