"""Shapes: what may differ between two queries that share a plan, and nothing else."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from app.odata.errors import QueryError
from app.odata.syntax.literals import double_text, duration_text, is_kept_whole, quoted, shape
from app.odata.syntax.nodes import Literal, Node, QueryOptions
from app.odata.syntax.options import parse_filter, parse_options, read_options, shape_options
from app.odata.syntax.printer import query_text, to_text
from tests.odata.option_strategies import query_options
from tests.odata.strategies import expressions, texts
from tests.odata.trees import slotted_literals, walk

_UNHURRIED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize(
    ("text", "lifted", "literals"),
    [
        ("name eq 'O''Neil'", "name eq \0s", ["O'Neil"]),
        ("a gt 5 and b lt -7", "a gt \0i and b lt \0-i", [5, -7]),
        ("a eq 1.50 or a eq 1.5", "a eq \0d2 or a eq \0d1", [Decimal("1.50"), Decimal("1.5")]),
        ("a eq 9223372036854775808", "a eq \0d0", [Decimal(2**63)]),
        ("a lt 1e3", "a lt \0f", [1000.0]),
        ("d gt 2024-02-29", "d gt \0D", [dt.date(2024, 2, 29)]),
        (
            "d gt 2024-02-29T10:00:00Z",
            "d gt \0T",
            [dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)],
        ),
        ("t gt 10:30", "t gt \0O", [dt.time(10, 30)]),
        (
            "id eq abcdef01-2345-6789-abcd-ef0123456789",
            "id eq \0g",
            [uuid.UUID("abcdef01-2345-6789-abcd-ef0123456789")],
        ),
        ("d gt duration'PT1M'", "d gt duration\0P", [dt.timedelta(minutes=1)]),
        ("d gt 'P1D'", "d gt \0s", ["P1D"]),
        ("x1 eq y2/z3", "x1 eq y2/z3", []),
        ("c has Ns.Colour'Red'", "c has Ns.Colour'Red'", []),
        ("b eq binary'AQID'", "b eq binary'AQID'", []),
        ("a eq null or a eq true or a eq INF", "a eq null or a eq true or a eq INF", []),
        ('a in ["x","y"]', 'a in ["x","y"]', []),
        ("a in ('x',2)", "a in (\0s,\0i)", ["x", 2]),
        ("isof(a,'Edm.String') and b eq 5", "isof(a,'Edm.String') and b eq 5", []),
        ("Contacts($search=5;$top=5)", "Contacts($search=5;$top=5)", []),
        ("Contacts($levels=2)", "Contacts($levels=2)", []),
        ("Contacts($top=5)", "Contacts($top=\0i)", [5]),
    ],
)
def test_literals_are_taken_out(text: str, lifted: str, literals: list[Any]) -> None:
    assert shape(text) == (lifted, literals)


def test_a_date_that_does_not_exist_is_refused_before_any_plan_is_looked_up() -> None:
    with pytest.raises(QueryError) as caught:
        shape("createdAt gt 2024-02-30")
    assert caught.value.offset == 13


def test_shape_of_all_options_is_in_the_order_given_and_leaves_out_what_changes_no_plan() -> None:
    texts = read_options(
        "$top=5&x=1&$filter=a%20eq%20@v&$format=json&$skiptoken=abc&$search=42&@v='q'&$skip=07"
    )
    key, literals = shape_options(texts)
    assert key == (
        ("top", "\0i"),
        ("filter", "a eq @v"),
        ("search", "42"),
        ("skip", "\0i"),
        ("@v", "\0s"),
    )
    assert literals == [5, 7, "q"]


def test_an_error_in_a_literal_names_its_option() -> None:
    with pytest.raises(QueryError) as caught:
        shape_options(read_options("$top=5&$filter=d%20eq%202024-13-01"))
    assert (caught.value.option, caught.value.offset) == ("$filter", 5)


def _same(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and (found == wanted or found is wanted)


@_UNHURRIED
@given(expressions())
def test_slots_are_the_places_in_the_list_of_literals(tree: Node) -> None:
    text = to_text(tree)
    _, literals = shape(text)
    lifted = slotted_literals(parse_filter(text))
    assert [literal.slot for literal in lifted] == list(range(len(literals)))
    assert all(_same(literal.value, value) for literal, value in zip(lifted, literals, strict=True))


@settings(_UNHURRIED, max_examples=settings().max_examples // 2)
@given(query_options(), st.integers(0, 3))
def test_slots_count_through_all_options(options: QueryOptions, first_slot: int) -> None:
    read = read_options(query_text(options))
    _, literals = shape_options(read)
    lifted = slotted_literals(parse_options(read, first_slot=first_slot))
    assert [literal.slot for literal in lifted] == [
        first_slot + place for place in range(len(literals))
    ]
    assert all(_same(literal.value, value) for literal, value in zip(lifted, literals, strict=True))


# --- one shape, one verdict: what is cached for a query holds for all with its shape


def _other_literals() -> dict[str, st.SearchStrategy[str]]:
    """By marker, texts of literals that must share it."""
    digits = st.integers(0, 2**63 - 1).map(str)
    return {
        "s": texts.map(quoted),
        "i": digits,
        "D": st.dates().map(str),
        "T": st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)).map(
            lambda moment: moment.isoformat() + "Z"
        ),
        "O": st.times().map(str),
        "g": st.uuids().map(str),
        "P": st.timedeltas().map(lambda length: quoted(duration_text(length))),
        "f": st.floats(0, allow_infinity=False).map(double_text),
    }


_OTHERS = _other_literals()
_MARKER = re.compile(r"\0([+-]?)(?:([siDTOgPf])|d(\d+))")


@st.composite
def _siblings(draw: st.DrawFn, text: str) -> str:
    """Another text with the shape of ``text``."""

    def replace(match: re.Match[str]) -> str:
        sign, code, scale = match.groups()
        if code:
            return sign + draw(_OTHERS[code])
        if scale == "0":
            return sign + str(draw(st.integers(2**63 + 1, 2**80)))
        fraction = draw(st.text("0123456789", min_size=int(scale), max_size=int(scale)))
        return f"{sign}{draw(st.integers(0, 99))}.{fraction}"

    lifted, _ = shape(text)
    return _MARKER.sub(replace, lifted)


def _accepted(text: str) -> Node | None:
    try:
        return parse_filter(text)
    except QueryError:
        return None


def _shape_or_none(text: str) -> str | None:
    try:
        return shape(text)[0]
    except QueryError:
        return None


def _without_values(tree: Node) -> list[Any]:
    """What two trees of one shape have in common: all but offsets and lifted values."""
    return [
        (type(node), node.kind, node.slot, node.value if node.slot is None else None)
        if isinstance(node, Literal)
        else type(node)
        for node in walk(tree)
    ]


# fmt: off
_FRAGMENTS = [
    "name", "eq", "not", "and", "or", "in", "has", "(", ")", ",", ":", "=", "/", "-", "[", "]",
    "-5", "5", "007", "+5", "1.5", "1e3", "3.14f", "1..2", "5a", "0x1F", "9223372036854775808",
    "'x'", "''", "'it''s'", "'", "2024-01-01", "-2024-01-01", "2024-01-01T00:00Z", "10:30", "-INF",
    "00000000-0000-0000-0000-000000000000", "abcdef01-2345-6789-abcd-ef0123456789",
    "duration'PT1S'", "Ns.C'Red'", "null", "true", "abc1", "a5", "@a", "$count", "$top=5", ";",
    "Items/any(d:d/x", "case(", "cast(", "{", "}", '"j"', "#", ".",
]
# fmt: on


@_UNHURRIED
@given(
    st.data(),
    st.one_of(
        expressions(6).map(to_text),
        st.lists(st.sampled_from(_FRAGMENTS), max_size=7).map(" ".join),
        st.lists(st.sampled_from(_FRAGMENTS), max_size=6).map("".join),
    ),
)
def test_texts_of_one_shape_are_all_accepted_or_all_refused(data: st.DataObject, text: str) -> None:
    try:
        lifted = shape(text)
    except QueryError:
        return
    sibling = data.draw(_siblings(text))
    if is_kept_whole(sibling):
        return  # a word in one of its strings makes it its own shape
    tree, other = _accepted(text), _accepted(sibling)
    if tree is None and _shape_or_none(sibling) != lifted[0]:
        return  # in a wrong text two pieces can grow together
    assert _shape_or_none(sibling) == lifted[0]
    assert (tree is None) == (other is None)
    if tree is not None and other is not None:
        assert _without_values(tree) == _without_values(other)
