"""What the grammar takes and refuses, rule by rule; the cases stand in ``grammar.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.options import parse_options, read_options
from app.odata.syntax.path import parse_path

CASES = Path(__file__).with_name("grammar.txt")
# What a text is, as a whole query.
QUERIES = {"filter": "$filter={}", "compute": "$compute={} as result", "query": "{}"}


def cases(sign: str) -> Iterator[Any]:
    """Place and text of the cases that begin with ``sign``."""
    rule = where = ""
    for line in CASES.read_text().splitlines():
        if line.startswith(("+", "-")):
            if line[0] == sign:
                yield pytest.param(where, line[2:], id=f"{rule}: {line[2:]}")
        elif line and not line.startswith("#"):
            rule, _, where = line.rpartition(" : ")


def read(where: str, text: str) -> None:
    """Parse ``text`` as what it is.

    Raises: QueryError.
    """
    if where == "path":
        path, _, query = text.partition("?")
        parse_path(path)
    else:
        query = QUERIES[where].replace("{}", text)
    parse_options(read_options(query))


@pytest.mark.parametrize(("where", "text"), list(cases("+")))
def test_what_the_rule_says_is_taken(where: str, text: str) -> None:
    read(where, text)


@pytest.mark.parametrize(("where", "text"), list(cases("-")))
def test_what_it_does_not_say_is_refused_with_a_reason(where: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(where, text)
    assert caught.value.message
    assert caught.value.offset is None or 0 <= caught.value.offset <= len(text) + len(" as result")
