"""Random filters: SQLite, PostgreSQL and plain Python find the same rows."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, note, settings
from sqlalchemy import Connection

from app.odata.reading.reader import Reader
from app.odata.syntax.options import parse_filter
from tests.odata.reading import model
from tests.odata.reading.conftest import Client
from tests.odata.reading.evaluator import Evaluator
from tests.odata.reading.filters import conditions, decimals, integers, texts

EVALUATOR = Evaluator(model.item_rows(), model.MAKER_ROWS)


@pytest.fixture(scope="module")
def shared(connections: dict[str, Connection]) -> Client:
    return Client(connections, Reader(model.CONTAINER, "a key for the tokens of these tests only"))


quiet = settings(
    max_examples=3 * settings().max_examples,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@quiet
@given(conditions(2))
def test_a_filter_finds_what_the_standard_says(shared: Client, text: str) -> None:
    note(text)
    address = f"Items?$filter={quote(text)}&$select=id&$orderby=id"
    assert shared.values(address) == EVALUATOR.passing(parse_filter(text))


@quiet
@given(conditions(1))
def test_a_filter_and_its_negation_share_no_row(shared: Client, text: str) -> None:
    note(text)
    some = shared.values(f"Items?$filter={quote(text)}&$select=id")
    others = shared.values(f"Items?$filter={quote(f'not ({text})')}&$select=id")
    assert not set(some) & set(others)


@quiet
@given(texts(2), integers(2), decimals(2))
def test_computed_values_are_the_same_to_the_byte(
    shared: Client, text: str, integer: str, decimal: str
) -> None:
    note(f"{text} | {integer} | {decimal}")
    compute = quote(f"{text} as t,{integer} as i,{decimal} as d")
    address = f"$compute={compute}&$select=id,t,i,d&$orderby=d,i desc,t"
    found = shared.answer("Items", address)
    assert found.status == 200, found.body
    assert len(json.loads(found.body)["value"]) == len(model.item_rows())
