"""Printing of query strings: what is printed parses to equal options."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from app.odata.syntax.apply_nodes import Apply
from app.odata.syntax.option_nodes import QueryOptions
from app.odata.syntax.option_printer import query_text, to_text
from app.odata.syntax.options import parse_options
from tests.odata.option_strategies import applies, query_options

_UNHURRIED = settings(
    max_examples=settings().max_examples // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@_UNHURRIED
@given(query_options())
def test_printed_query_string_parses_to_equal_options(options: QueryOptions) -> None:
    assert parse_options(query_text(options)) == options


@_UNHURRIED
@given(applies())
def test_printed_apply_parses_to_an_equal_tree(apply: Apply) -> None:
    assert parse_options([("$apply", to_text(apply))]).apply == apply
