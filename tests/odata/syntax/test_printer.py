"""Printing: what is printed parses to an equal tree, and reads well."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from app.odata.syntax.nodes import Apply, Node, QueryOptions
from app.odata.syntax.options import parse_filter, parse_options
from app.odata.syntax.printer import query_text, to_text
from app.odata.syntax.search import parse_search
from tests.odata.option_strategies import applies, query_options
from tests.odata.strategies import expressions, searches

_UNHURRIED = settings(
    max_examples=settings().max_examples // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# Twice as many as the profile says, which is few where the code is mutated (tests/unshrunk.py).
@settings(
    max_examples=2 * settings().max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(expressions())
def test_printed_expression_parses_to_an_equal_tree(tree: Node) -> None:
    assert parse_filter(to_text(tree)) == tree


@settings(deadline=None)
@given(searches())
def test_printed_search_parses_to_an_equal_tree(tree: Node) -> None:
    assert parse_search(to_text(tree)) == tree


@_UNHURRIED
@given(query_options())
def test_printed_query_string_parses_to_equal_options(options: QueryOptions) -> None:
    assert parse_options(query_text(options)) == options


@_UNHURRIED
@given(applies())
def test_printed_apply_parses_to_an_equal_tree(apply: Apply) -> None:
    assert parse_options([("$apply", to_text(apply))]).apply == apply
