"""Links go on with the query as it came, whichever way an earlier token was written."""

from __future__ import annotations

import pytest

from app.odata.reading.next_links import next_link, without_tokens


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
