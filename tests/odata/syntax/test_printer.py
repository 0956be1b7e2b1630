"""Printing: what is printed parses to an equal tree, and reads well."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from app.odata.syntax.nodes import Node, SearchNode
from app.odata.syntax.options import parse_filter
from app.odata.syntax.printer import to_text
from app.odata.syntax.search import parse_search
from tests.odata.strategies import expressions, searches


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
def test_printed_search_parses_to_an_equal_tree(tree: SearchNode) -> None:
    assert parse_search(to_text(tree)) == tree
