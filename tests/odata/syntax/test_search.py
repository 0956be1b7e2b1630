"""``$search``: words, phrases and the three operators that may also be words."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.nodes import (
    SearchAnd,
    SearchNode,
    SearchNot,
    SearchOr,
    SearchPhrase,
    SearchTerm,
)
from app.odata.syntax.search import parse_nested_search, parse_search


def word(text: str) -> SearchTerm:
    return SearchTerm(text)


BLUE, GREEN, RED = word("blue"), word("green"), word("red")


@pytest.mark.parametrize("text", ["blue", "2x4", "3.14", "9,81", "brand-new", "Daniel's", "$x",
                                  "08/15", "#1", "more&more", "a;b", "Δ", "AND", "OR", "NOT",
                                  "NOTHING", "a*", "and"])  # fmt: skip
def test_one_word(text: str) -> None:
    assert parse_search(text) == word(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("blue green", SearchAnd(BLUE, GREEN)),
        ("blue AND green", SearchAnd(BLUE, GREEN)),
        (" blue \t green ", SearchAnd(BLUE, GREEN)),
        ("blue OR green", SearchOr(BLUE, GREEN)),
        ("NOT blue", SearchNot(BLUE)),
        ("NOT NOT blue", SearchNot(SearchNot(BLUE))),
        ("blue NOT green", SearchAnd(BLUE, SearchNot(GREEN))),
        ("blue OR green red", SearchOr(BLUE, SearchAnd(GREEN, RED))),
        ("NOT blue green", SearchAnd(SearchNot(BLUE), GREEN)),
        ("NOT (blue green)", SearchNot(SearchAnd(BLUE, GREEN))),
        ("( blue OR green ) AND red", SearchAnd(SearchOr(BLUE, GREEN), RED)),
        ('"blue green" red', SearchAnd(SearchPhrase("blue green"), RED)),
        ('"say \\"hi\\" \\\\ x\\y"', SearchPhrase('say "hi" \\ x\\y')),
        ("'gr(een'", SearchPhrase("gr(een")),
        ("'\"blue'", SearchPhrase('"blue')),
        ("AND OR", SearchAnd(word("AND"), word("OR"))),
        ("OR AND", SearchAnd(word("OR"), word("AND"))),
        ("AND OR NOT", SearchOr(word("AND"), word("NOT"))),
        ("NOT NOT", SearchNot(word("NOT"))),
        ("blue and green", SearchAnd(SearchAnd(BLUE, word("and")), GREEN)),
    ],
)
def test_search_expression(text: str, tree: SearchNode) -> None:
    assert parse_search(text) == tree


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0),
        ("()", 1),
        ("(blue", 5),
        ("blue)", 4),
        ('"blue', 0),
        ('blue "', 5),
        ('""', 0),
        ("'blue", 0),
        ('"blue"green', 6),
        ("(blue)(green)", 6),
    ],
)
def test_malformed_search_is_refused_at_the_character(text: str, offset: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_search(text)
    assert caught.value.offset == offset


def test_nested_search_ends_before_a_semicolon_or_a_foreign_parenthesis() -> None:
    text = "A($search=blue (green);$top=1)"
    assert parse_nested_search(text, 10, limits=Limits()) == (SearchAnd(BLUE, GREEN), 22)


def test_long_and_deep_searches_are_bounded() -> None:
    parse_search(" ".join(["x"] * 500))
    with pytest.raises(QueryError, match="more than 500 parts"):
        parse_search(" ".join(["x"] * 501))
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_search("(" * 51 + "x" + ")" * 51)
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_search("NOT " * 51 + "x")
