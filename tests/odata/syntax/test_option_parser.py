"""``$select`` and ``$expand`` with the options in their parentheses."""

from __future__ import annotations

from typing import Any

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.nodes import (
    Apply,
    Binary,
    Call,
    ComputeItem,
    ExpandItem,
    Identity,
    Literal,
    Member,
    OrderItem,
    QueryOptions,
    SearchTerm,
    SelectItem,
    This,
)
from tests.odata.trees import parse_expand, parse_select

A = Member(None, "a")
A_GT_1 = Binary("gt", A, Literal(1, "integer"))


def number(value: int) -> Literal:
    return Literal(value, "integer")


def select(*path: str, **options: Any) -> SelectItem:
    return SelectItem(path, QueryOptions(**options) if options else None)


def expand(*path: str, **options: Any) -> ExpandItem:
    return ExpandItem(path, QueryOptions(**options) if options else None)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("*", [select("*")]),
        ("a,b , c", [select("a"), select("b"), select("c")]),
        ("Ns.*", [select("Ns.*")]),
        ("Address/city", [select("Address", "city")]),
        ("Ns.T/a", [select("Ns.T", "a")]),
        ("Address/Ns.T/a", [select("Address", "Ns.T", "a")]),
        ("@Ns.Term,a/@Term", [select("@Ns.Term"), select("a", "@Term")]),
        ("Ns.F(p,q),G(p)", [
            SelectItem(("Ns.F",), None, ("p", "q")), SelectItem(("G",), None, ("p",))
        ]),
        ("Address($select=city,zip)", [select("Address", select=(select("city"), select("zip")))]),
        ("Address(select=city)", [select("Address", select=(select("city"),))]),
        ("Emails($filter=endswith($this,'x');$top=5;$skip=0;$count=true;"
         "$orderby=$this;$search=y;@c=1)", [
            select(
                "Emails",
                filter=Call("endswith", (This(), Literal("x", "string"))),
                top=number(5),
                skip=number(0),
                count=True,
                orderby=(OrderItem(This()),),
                search=SearchTerm("y"),
                aliases={"c": number(1)},
            )
        ]),
        ("a($compute=a as b)", [select("a", compute=(ComputeItem(A, "b"),))]),
    ],
)  # fmt: skip
def test_select(text: str, items: list[SelectItem]) -> None:
    assert parse_select(text) == tuple(items)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("A,B", [expand("A"), expand("B")]),
        ("*", [ExpandItem(("*",), star=True)]),
        ("*/$ref", [ExpandItem(("*",), star=True, ref=True)]),
        ("*($levels=2)", [ExpandItem(("*",), QueryOptions(levels=2), star=True)]),
        ("A/*", [ExpandItem(("A", "*"), star=True)]),
        ("A/*/$ref", [ExpandItem(("A", "*"), star=True, ref=True)]),
        ("A/$ref", [ExpandItem(("A",), ref=True)]),
        ("A/$ref($top=1;$count=true)", [ExpandItem(
            ("A",), QueryOptions(top=number(1), count=True), ref=True
        )]),
        ("A/$count", [ExpandItem(("A",), count_only=True)]),
        ("A/$count($filter=a gt 1;search=x)", [ExpandItem(
            ("A",), QueryOptions(filter=A_GT_1, search=SearchTerm("x")), count_only=True
        )]),
        ("$value,Photo", [expand("$value"), expand("Photo")]),
        ("A/Ns.T($select=a)", [expand("A", "Ns.T", select=(select("a"),))]),
        ("Ns.T/A", [expand("Ns.T", "A")]),
        ("@Ns.Term($top=2)", [expand("@Ns.Term", top=number(2))]),
        ("A($levels=max),B(levels=12)", [expand("A", levels="max"), expand("B", levels=12)]),
        ("A($expand=B($expand=C);$select=a)", [expand(
            "A", expand=(expand("B", expand=(expand("C"),)),), select=(select("a"),)
        )]),
        ("A($filter=a gt 1;$orderby=a desc,b;$compute=a as c; $apply=identity)", [expand(
            "A",
            filter=A_GT_1,
            orderby=(OrderItem(A, True), OrderItem(Member(None, "b"))),
            compute=(ComputeItem(A, "c"),),
            apply=Apply((Identity(),)),
        )]),
        ("A($search=x (y);$top=1)", None),
        ("A(@m=$this;$filter=@m/a gt 1)", None),
        ("A(FILTER=a gt 1;$Top=1)", [expand("A", filter=A_GT_1, top=number(1))]),
    ],
)  # fmt: skip
def test_expand(text: str, items: list[ExpandItem] | None) -> None:
    found = parse_expand(text)
    assert items is None or found == tuple(items)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "a property, '*' or a qualified name"),
        ("a,", 2, "a property"),
        ("a/", 2, "a property"),
        ("a/*", 2, "a property"),
        ("a/ b", 2, "unexpected blank after '/'"),
        ("a b", 2, "expected an operator or the end"),
        ("a()", 2, "an option such as"),
        ("a($expand=b)", 2, "'$expand' is not allowed here"),
        ("a($top=-1)", 7, "whole number"),
        ("a($top=1;top=2)", 9, "$top must not appear more than once"),
        ("a(@c=1;@c=2)", 7, "@c must not appear more than once"),
        ("a($count=1)", 9, "true or false"),
        ("a($select=b", 11, "expected ')' or ';'"),
    ],
)
def test_wrong_select_is_refused_at_the_character(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_select(text)
    assert caught.value.offset == offset
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "a navigation property"),
        ("A/$value", 2, "a navigation property or '*'"),
        ("*/A", 2, "'$ref'"),
        ("*/$count", 2, "'$ref'"),
        ("*($top=1)", 2, "'$top' is not allowed here"),
        ("A/$ref($levels=4)", 7, "'$levels' is not allowed here"),
        ("A/$ref($select=a)", 7, "'$select' is not allowed here"),
        ("A/$count($count=true)", 9, "'$count' is not allowed here"),
        ("A($levels=04)", 10, "$levels must be"),
        ("A($levels=0)", 10, "$levels must be"),
        ("A($levels=-1)", 10, "$levels must be"),
        ("A($fitler=a)", 2, "did you mean 'filter'"),
        ("A($filter= a)", 10, "unexpected blank after '='"),
        ("A($filter=a gt)", 14, "an operand after 'gt'"),
        ("A($search=gr(een)", 12, "expected ')' or ';'"),
        ("A()", 2, "an option such as"),
        ("A(" * 60, 2, "an option such as"),
        ("A($expand=" * 60, 0, ""),
    ],
)
def test_wrong_expand_is_refused_at_the_character(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_expand(text)
    assert message in caught.value.message
    assert not message or caught.value.offset == offset
