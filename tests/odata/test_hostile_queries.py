"""Any text at all is either understood or refused, quickly and with a position inside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from app.odata.errors import QueryError
from app.odata.syntax.literals import shape
from app.odata.syntax.options import parse_filter, parse_options
from app.odata.syntax.path import parse_path, read_path, shape_path
from app.odata.syntax.printer import query_text, to_text
from app.odata.syntax.search import parse_search
from tests.odata.option_strategies import applies, query_options
from tests.odata.strategies import expressions, searches
from tests.odata.trees import parse_expand, parse_select

_UNHURRIED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def parse_apply(text: str) -> Any:
    return parse_options([("$apply", text)])


_PARSERS: list[Callable[[str], Any]] = [
    parse_filter,
    parse_select,
    parse_expand,
    parse_apply,
    parse_search,
    parse_path,
    shape,
]


def understood_or_refused(parse: Callable[[str], Any], text: str) -> None:
    try:
        parse(text)
    except QueryError as error:
        assert error.offset is None or 0 <= error.offset <= len(text)
        assert error.message


@pytest.mark.requirement("FUZZ-01")
@pytest.mark.parametrize("parse", _PARSERS)
@settings(_UNHURRIED)
@given(text=st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_text(parse: Callable[[str], Any], text: str) -> None:
    understood_or_refused(parse, text)


@pytest.mark.parametrize("parse", _PARSERS)
@settings(_UNHURRIED)
@given(text=st.text("ab$@/()[]{}',:;=-.*\"#5 \\", max_size=40))
def test_text_of_the_characters_that_mean_something(parse: Callable[[str], Any], text: str) -> None:
    understood_or_refused(parse, text)


@st.composite
def _damaged(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A right text with a piece left out, doubled or replaced."""
    text = draw(texts)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 5)))
    instead = draw(st.sampled_from(["", text[start:end] * 2, "(", ")", "'", " ", ",", "/", "not"]))
    return text[:start] + instead + text[end:]


@pytest.mark.requirement("FUZZ-02")
@_UNHURRIED
@given(_damaged(expressions(5).map(to_text)))
def test_damaged_expression(text: str) -> None:
    understood_or_refused(parse_filter, text)


@_UNHURRIED
@given(_damaged(searches().map(to_text)))
def test_damaged_search(text: str) -> None:
    understood_or_refused(parse_search, text)


@settings(_UNHURRIED, max_examples=settings().max_examples // 2)
@given(_damaged(applies().map(to_text)))
def test_damaged_apply(text: str) -> None:
    understood_or_refused(parse_apply, text)


@pytest.mark.requirement("FUZZ-03")
@settings(_UNHURRIED, max_examples=settings().max_examples // 2)
@given(_damaged(query_options().map(query_text)))
def test_damaged_query_string(text: str) -> None:
    understood_or_refused(parse_options, text)


@pytest.mark.requirement("FUZZ-04")
@given(st.binary(max_size=40))
def test_any_bytes(raw: bytes) -> None:
    try:
        parse_options(raw)
    except QueryError as error:
        assert error.message


_LONG = 40_000
_HOSTILE = [
    "(",
    "not ",
    "-",
    "[",
    "{",
    "'",
    '"',
    "''",
    "a/",
    "a(",
    "a/any(a:",
    "tolower(",
    "case(",
    "case(a gt 10:20,",
    "cast(",
    "1",
    "1.",
    "1-",
    "a.",
    "a eq ",
    "a add ",
    "a or ",
    "a in (1,",
    "$it/",
    "@a",
    " ",
    "geography'SRID=0;",
    "2024-01-01",
    "A($expand=",
    "A($select=",
    "A($search=(",
    "A/",
    "concat(identity,",
    "identity/",
    "NOT ",
    "a AND ",
    "a b ",
    "\u0660",
    "é",
]


@pytest.mark.requirement("FUZZ-05", "SEC-111", "SEC-193")
@pytest.mark.parametrize("piece", _HOSTILE)
def test_long_repetition_is_answered_quickly(piece: str) -> None:
    text = (piece * (_LONG // len(piece) + 1))[:_LONG]
    started = time.process_time()
    for parse in (*_PARSERS, lambda path: shape_path(read_path(path))):
        understood_or_refused(parse, text)
        understood_or_refused(parse, "a eq " + text)
        understood_or_refused(parse, "a eq '" + text)
    assert time.process_time() - started < 2
