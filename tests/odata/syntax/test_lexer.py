"""Tokens: kinds, offsets and blanks."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Lexer, Token


def tokens(text: str) -> list[Token]:
    lexer = Lexer(text)
    found = [lexer.next()]
    while found[-1].kind != "end":
        found.append(lexer.next())
    return found


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("name My.Name é1 _x", "name name name name"),
        ("5 -5 +5 1.5 1e3 3f", "number number number number number number"),
        ("-INF -INFx - -x", "nonfinite mark name mark mark name"),
        ("'a' '' 'it''s'", "string string string"),
        ("2024-01-01 -2024-01-01 2024-01-01T00:00Z 10:30", "date date datetime timeofday"),
        ("abcdef01-2345-6789-abcd-ef0123456789 abcdef01", "guid name"),
        ("Ns.C'Red' duration'P1D'", "prefixed prefixed"),
        ("Ns.* *", "wildcard mark"),
        ("@a @Ns.T#q $it $count", "at at dollar dollar"),
        ('"a\\"b" {}[](),:;=/', "json" + " mark" * 11),
    ],
)
def test_kinds(text: str, kinds: str) -> None:
    assert [token.kind for token in tokens(text)] == [*kinds.split(), "end"]


def test_token_knows_where_it_is_and_whether_a_blank_is_before_it() -> None:
    assert tokens("a  eq(5)") == [
        Token("name", "a", 0, 1, False),
        Token("name", "eq", 3, 5, True),
        Token("mark", "(", 5, 6, False),
        Token("number", "5", 6, 7, False),
        Token("mark", ")", 7, 8, False),
        Token("end", "", 8, 8, False),
    ]


def test_blanks_at_the_end_are_seen() -> None:
    assert tokens("a \t")[-1] == Token("end", "", 3, 3, True)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("a ? b", 2, "unexpected character '?'"),
        ("a\nb", 1, "unexpected character '\\n'"),
        ("'abc", 0, "no closing quote"),
        ('"abc', 0, "no closing quote"),
        ("5abc", 0, "'5abc' is neither a number nor a name"),
        ("1.2.3", 0, "'1.2.3' is neither a number nor a name"),
        (".5", 0, "'.5' is neither a number nor a name"),
    ],
)
def test_what_begins_no_token(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        tokens(text)
    assert caught.value.offset == offset
    assert message in caught.value.message
