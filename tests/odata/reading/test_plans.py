"""Plans are made once for a shape of query, and never serve a query that they do not fit."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest
from sqlalchemy import text

from app.http.security import make_caller
from app.odata.reading import plan
from app.odata.reading.plan import PlanCache
from app.odata.reading.reader import Reader
from tests.odata.reading import model
from tests.odata.reading.conftest import Client


def made(client: Client) -> int:
    """How many plans there are for one database."""
    return len(client.reader.plans) // len(client.connections)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Items(1)", "Items(2)"),
        ("Items(1)", "Items/2"),
        ("Items?$filter=name eq 'alpha'", "Items?$filter=name eq 'O''Neil'"),
        ("Items?$filter=price gt 1.5&$top=5", "Items?$filter=price gt 9.9&$top=7"),
        ("Items?$filter=contains(name,'acme')", "Items?$filter=contains(name,'alpha')"),
        ("Items?$filter=at eq 2024-01-01", "Items?$filter=at eq 1970-01-01"),
        ("Items?$filter=level gt 'Low'", "Items?$filter=level gt 'High'"),
        ("Items?$expand=Children($filter=price gt 1;$top=1)",
         "Items?$expand=Children($filter=price gt 2;$top=2)"),
        ("Items?$filter=size eq @s&@s=1", "Items?$filter=size eq @s&@s=7"),
        ("Items?$skip=1&$top=2", "Items?$skip=3&$top=4"),
        ("Items?$apply=topcount(2,price)", "Items?$apply=topcount(3,price)"),
        ("Items?$filter=matchesPattern(name,'^a')", "Items?$filter=matchesPattern(name,'b$')"),
    ],
)  # fmt: skip
def test_queries_that_differ_in_literals_share_a_plan(
    client: Client, first: str, second: str
) -> None:
    fresh = Client(client.connections, Reader(model.CONTAINER, "another key of the same length.."))
    expected = fresh.get(second)
    client.get(first)
    before = made(client)
    assert client.get(second) == expected
    assert made(client) == before == 1
    assert client.reader.plans.hits == len(client.connections)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Items?$filter=name eq 'alpha'", "Items?$filter=name ne 'alpha'"),
        ("Items?$filter=size in (1,7)", "Items?$filter=size in (1,7,5)"),
        ("Items?$filter=price gt 1.5", "Items?$filter=price gt 15"),
        ("Items?$filter=at gt 2024-01-01", "Items?$filter=at gt 2024-01-01T00:00:00Z"),
        ("Items?$filter=active eq true", "Items?$filter=active eq false"),
        ("Items?$filter=level gt Workshop.Level'Low'",
         "Items?$filter=level gt Workshop.Level'High'"),
        ("Items?$search=acme", "Items?$search=alpha"),
        ("Items?$filter=cast('1',Edm.Int32) eq 1", "Items?$filter=cast('2',Edm.Int32) eq 1"),
        ("Items?$count=true", "Items?$count=false"),
        ("Items?$orderby=name", "Items?$orderby=name desc"),
        ("Items?$select=id", "Items?$select=name"),
    ],
)  # fmt: skip
def test_what_decides_the_form_makes_another_plan(client: Client, first: str, second: str) -> None:
    fresh = Client(client.connections, Reader(model.CONTAINER, "another key of the same length.."))
    expected = fresh.get(second)
    client.get(first)
    assert client.get(second) == expected
    assert made(client) == 2


def test_a_short_text_has_a_plan_beside_that_of_a_long_one(client: Client) -> None:
    for text_, expected in (("acme", 3), ("a", 36), ("acm", 3), ("ph", 6)):
        found = client.values(f"Items?$filter=contains(name,'{text_}')")
        assert len(found) == len([row for row in model.item_rows() if text_ in row["name"]])
        assert found or not expected
    assert {len(client.reader.plans.plans(key)) for key in client.reader.plans.shapes()} == {2}


@pytest.mark.parametrize(
    "query", ["$filter=contains(name,'acme')", "$filter=endswith(name,'acme')", "$search=Acme"]
)
@pytest.mark.parametrize(
    ("entities", "index"), [("Items", "items_text_trigrams"), ("Makers", "makers_text_trigrams")]
)
def test_contains_and_search_read_the_trigram_index(
    client: Client, query: str, entities: str, index: str
) -> None:
    client.values(f"{entities}?{query}")
    plan = client.last_plan("sqlite")
    steps = " ".join(
        str(row[3])
        for row in client.connections["sqlite"].execute(
            text("EXPLAIN QUERY PLAN " + plan.main.sql.replace("?", "1"))
        )
    )
    assert f"SCAN {index} VIRTUAL TABLE INDEX" in steps
    assert "SEARCH t0 USING INTEGER PRIMARY KEY" in steps
    if "postgresql" in client.connections:
        assert "LIKE" in client.last_plan("postgresql").main.sql


def test_contains_finds_exactly_what_has_the_text(client: Client) -> None:
    """Whatever the plain form leaves out, and where nothing is certain of it."""
    sought = ("Acme", "ACME", "cme ", "traße", "TRASSE", "İsta", "istanbul", "ΥΦΟΣ", "υφος",
              "日本語", "%%%", "50%", "50_", " pa", "eé", "e\u0301\u05b0", "b\u0119\u0591", "   ",
              "y \"h", "say hi", "ΐ", "ﬁn", "\u1e9e", "\u0378", "k\nb", "ine\nb")  # fmt: skip
    for text_ in sought:
        literal = text_.replace("'", "''")
        for function, has in (("contains", str.__contains__), ("endswith", str.endswith)):
            found = client.values(f"Items?$filter={function}(name,'{quote(literal)}')")
            expected = [row["id"] for row in model.item_rows() if has(row["name"], text_)]
            assert sorted(found) == expected, (function, text_)


def test_a_mistake_in_a_literal_is_told_of_the_query_that_has_it(client: Client) -> None:
    client.get("Items?$filter=level gt 'Low'")
    error = client.refused("Items?$filter=level   gt 'Lo'")
    assert (error["status"], error["position"]) == (400, 11)
    error = client.refused("Items?$filter=level gt 'Lo'")
    assert (error["status"], error["position"]) == (400, 9)


def test_callers_with_other_rights_have_plans_of_their_own(client: Client) -> None:
    client.get("Items(1)")
    other = replace(client, caller=make_caller(8, "other", "jwt", {"x:read": "all"}))
    other.get("Items(1)")
    assert made(client) == 2
    same = replace(client, caller=make_caller(9, "third", "jwt", {}))
    same.get("Items(1)")
    assert made(client) == 2


def test_what_plans_keep_in_memory_is_bounded(client: Client) -> None:
    plans = client.reader.plans = PlanCache(most_bytes=300_000)
    for number in range(12):
        parts = [f"size gt {part}" for part in range(100 + number)]
        client.get(f"Items?$select=id&$top=1&$filter={' or '.join(parts)}")
        assert 0 < plans.estimated_bytes <= 300_000
    assert 1 <= len(plans) <= 2
    kept = [plan for key in plans.shapes() for plan in plans.plans(key)]
    assert plans.estimated_bytes == sum(plan.estimated_bytes for plan in kept)
    assert min(plan.estimated_bytes for plan in kept) > 100_000
    client.get("Items?$select=id&$top=2")
    assert plans.estimated_bytes == sum(
        plan.estimated_bytes for key in plans.shapes() for plan in plans.plans(key)
    )  # fmt: skip


def test_the_cache_is_bounded_and_forgets_what_was_not_used(client: Client) -> None:
    client.reader.plans = PlanCache(most=4)
    for name in ("name", "note", "size", "count"):
        client.get(f"Items?$select={name}&$top=1")
    assert len(client.reader.plans) <= 4
    hits = client.reader.plans.hits
    client.get("Items?$select=count&$top=1")
    assert client.reader.plans.hits == hits + len(client.connections)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("Items", plan.PagePlan),
        ("Items?$apply=groupby((name))", plan.PagePlan),
        ("Items/$ref?$top=2", plan.WholePlan),
        ("Items/$count", plan.NumberPlan),
        ("Items(1)", plan.EntityPlan),
        ("Items(1)/Maker", plan.EntityPlan),
        ("Items(1)/name", plan.ValuePlan),
        ("Items(1)/name/$value", plan.RawPlan),
    ],
)
def test_what_a_path_leads_to_is_a_kind_of_plan(
    client: Client, address: str, kind: type[plan.Plan]
) -> None:
    client.answer(*address.partition("?")[::2])
    assert type(client.last_plan("sqlite")) is kind
