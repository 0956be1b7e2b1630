"""``$search``: words, phrases and the three operators that may also be words."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.nodes import Binary, Node, SearchPhrase, SearchTerm, Unary
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
        ("blue green", Binary("AND", BLUE, GREEN)),
        ("blue AND green", Binary("AND", BLUE, GREEN)),
        (" blue \t green ", Binary("AND", BLUE, GREEN)),
        ("blue OR green", Binary("OR", BLUE, GREEN)),
        ("NOT blue", Unary("NOT", BLUE)),
        ("NOT NOT blue", Unary("NOT", Unary("NOT", BLUE))),
        ("blue NOT green", Binary("AND", BLUE, Unary("NOT", GREEN))),
        ("blue OR green red", Binary("OR", BLUE, Binary("AND", GREEN, RED))),
        ("NOT blue green", Binary("AND", Unary("NOT", BLUE), GREEN)),
        ("NOT (blue green)", Unary("NOT", Binary("AND", BLUE, GREEN))),
        ("( blue OR green ) AND red", Binary("AND", Binary("OR", BLUE, GREEN), RED)),
        ('"blue green" red', Binary("AND", SearchPhrase("blue green"), RED)),
        ('"say \\"hi\\" \\\\ x\\y"', SearchPhrase('say "hi" \\ x\\y')),
        ("'gr(een'", SearchPhrase("gr(een")),
        ("'\"blue'", SearchPhrase('"blue')),
        ("AND OR", Binary("AND", word("AND"), word("OR"))),
        ("OR AND", Binary("AND", word("OR"), word("AND"))),
        ("AND OR NOT", Binary("OR", word("AND"), word("NOT"))),
        ("NOT NOT", Unary("NOT", word("NOT"))),
        ("blue and green", Binary("AND", Binary("AND", BLUE, word("and")), GREEN)),
    ],
)
def test_search_expression(text: str, tree: Node) -> None:
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
    assert parse_nested_search(text, 10, limits=Limits()) == (Binary("AND", BLUE, GREEN), 22)


def test_long_and_deep_searches_are_bounded() -> None:
    parse_search(" ".join(["x"] * 500))
    with pytest.raises(QueryError, match="more than 500 parts"):
        parse_search(" ".join(["x"] * 501))
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_search("(" * 51 + "x" + ")" * 51)
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_search("NOT " * 51 + "x")
