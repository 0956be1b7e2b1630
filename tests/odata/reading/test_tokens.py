"""Tokens of pages: made with the key in use, read with those of before, made by nobody else."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.reading.query import PageStart, TokenMaker, next_link, without_tokens

START = PageStart(["Acme", 7], 20)
OLD, NEW = b"old" * 11, b"new" * 11


def test_a_token_is_read_as_it_was_made() -> None:
    tokens = TokenMaker([NEW])
    assert tokens.read(tokens.make(START, "query"), "query") == START


def test_a_token_outlives_a_change_of_keys() -> None:
    token = TokenMaker([OLD]).make(START, "query")
    assert TokenMaker([OLD, NEW]).read(token, "query") == START


def test_tokens_are_made_with_the_last_key() -> None:
    token = TokenMaker([OLD, NEW]).make(START, "query")
    assert TokenMaker([NEW]).read(token, "query") == START


@pytest.mark.parametrize(
    ("token", "made_for"),
    [
        (TokenMaker([OLD]).make(START, "query"), "query"),
        (TokenMaker([NEW]).make(START, "query"), "another query"),
        ("", "query"),
        ("e30.nonsense", "query"),
    ],
    ids=["a key that is gone", "another query", "empty", "nonsense"],
)
def test_what_this_service_did_not_make_for_this_query_is_refused(
    token: str, made_for: str
) -> None:
    with pytest.raises(QueryError):
        TokenMaker([NEW]).read(token, made_for)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("", ""),
        ("$top=1&$skiptoken=x", "$top=1"),
        ("%24skipToken=x&skiptoken=y&$filter=a", "$filter=a"),
        ("other=$skiptoken=x&&$deltatoken=d", "other=$skiptoken=x&$deltatoken=d"),
    ],
)
def test_only_options_of_the_name_are_left_out(query: str, left: str) -> None:
    assert without_tokens(query, "skiptoken") == left


def test_a_link_has_the_query_before_its_token() -> None:
    assert next_link("http://a/", "/Items", "", "t") == "http://a/Items?$skiptoken=t"
    link = next_link("http://a/", "Items(1)/Parts", "$top=1", "t", "deltatoken")
    assert link == "http://a/Items(1)/Parts?$top=1&$deltatoken=t"
