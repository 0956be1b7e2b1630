"""``$apply``: every transformation, and what is said about a wrong one."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.nodes import (
    Aggregate,
    AggregateCall,
    AggregateFrom,
    AggregateItem,
    Apply,
    Argument,
    Binary,
    ComputeItem,
    Concat,
    Count,
    ExpandTransformation,
    FunctionTransformation,
    GroupBy,
    Identity,
    Join,
    Literal,
    Member,
    Nest,
    NestItem,
    OptionTransformation,
    OrderItem,
    Rollup,
    SearchAnd,
    SearchTerm,
    These,
    TopBottom,
    Transformation,
    name_of,
)
from app.odata.syntax.options import parse_filter, parse_options


def parse_apply(text: str) -> Apply:
    apply = parse_options([("$apply", text)]).apply
    assert apply is not None
    return apply


def sequence(*transformations: Transformation) -> Apply:
    return Apply(transformations)


def number(value: int) -> Literal:
    return Literal(value, "integer")


A, B, C = Member(None, "a"), Member(None, "b"), Member(None, "c")
N, X, Y = Member(None, "n"), Member(None, "x"), Member(None, "y")
SUM = AggregateItem(A, "sum", "s")
FILTER = OptionTransformation("filter", Binary("gt", A, number(1)))


@pytest.mark.parametrize(
    ("text", "transformation"),
    [
        ("identity", Identity()),
        ("aggregate(a with sum as s)", Aggregate((SUM,))),
        ("aggregate( a mul b with average as x , $count as n )", Aggregate((
            AggregateItem(Binary("mul", A, B), "average", "x"),
            AggregateItem(Count(None), None, "n"),
        ))),
        ("aggregate(a/$count as n)", Aggregate((AggregateItem(Count(A), None, "n"),))),
        ("aggregate(a with My.Method as x)", Aggregate((AggregateItem(A, "My.Method", "x"),))),
        ("aggregate(Forecast,a/Budget as b)", Aggregate((
            AggregateItem(Member(None, "Forecast")), AggregateItem(Member(A, "Budget"), None, "b")
        ))),
        ("aggregate(a with sum from b,c with average from x with max as y)", Aggregate((
            AggregateItem(A, "sum", "y", (
                AggregateFrom((B, C), "average"), AggregateFrom((X,), "max")
            )),
        ))),
        ("groupby((a,b/c))", GroupBy((A, Member(B, "c")))),
        ("groupby((a),aggregate(a with sum as s)/filter(a gt 1))", GroupBy(
            (A,), sequence(Aggregate((SUM,)), FILTER)
        )),
        ("groupby((rollup($all,a,b),c))", GroupBy((Rollup((A, B), True), C))),
        ("groupby((rollup(a,b)))", GroupBy((Rollup((A, B)),))),
        ("filter(a gt 1)", FILTER),
        ("search(blue 5)", OptionTransformation(
            "search", SearchAnd(SearchTerm("blue"), SearchTerm("5"))
        )),
        ("compute(a add b as c)", OptionTransformation("compute", (
            ComputeItem(Binary("add", A, B), "c"),
        ))),
        ("orderby(a desc,b)", OptionTransformation("orderby", (OrderItem(A, True), OrderItem(B)))),
        ("top(5)", OptionTransformation("top", number(5))),
        ("skip(5)", OptionTransformation("skip", number(5))),
        ("concat(identity,filter(a gt 1))", Concat((sequence(Identity()), sequence(FILTER)))),
        ("toppercent(50,a)", TopBottom("toppercent", number(50), A)),
        ("bottomcount(2,a)", TopBottom("bottomcount", number(2), A)),
        ("nest(identity as x,top(5) as y)", Nest((
            NestItem(sequence(Identity()), "x"),
            NestItem(sequence(OptionTransformation("top", number(5))), "y"),
        ))),
        ("addnested(a/b,identity as x)", Nest(
            (NestItem(sequence(Identity()), "x"),), Member(A, "b")
        )),
        ("join(a as x)", Join(A, "x")),
        ("outerjoin(a as x,filter(a gt 1))", Join(A, "x", sequence(FILTER), outer=True)),
        ("expand(a,filter(a gt 1),expand(b))", ExpandTransformation(
            A, sequence(FILTER), (ExpandTransformation(B),)
        )),
        ("My.Function(p=1)", FunctionTransformation("My.Function", (Argument("p", number(1)),))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_transformation(text: str, transformation: Transformation) -> None:
    assert parse_apply(text) == sequence(transformation)


def test_sequence_keeps_its_order_and_offsets() -> None:
    apply = parse_apply("filter(a gt 1)/groupby((b))/top(5)")
    assert [name_of(step) for step in apply.transformations] == ["filter", "groupby", "top"]
    assert [step.offset for step in apply.transformations] == [0, 15, 28]


def test_aggregate_is_also_an_expression() -> None:
    assert parse_filter("$these/aggregate(a with sum) gt 5") == Binary(
        "gt", AggregateCall(These(), AggregateItem(A, "sum")), number(5)
    )


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "a transformation"),
        ("filter", 0, "expected '(' right after 'filter'"),
        ("filtr(a)", 0, "did you mean 'filter'?"),
        ("filter()", 7, "an operand"),
        ("filter(a gt 1)/", 15, "a transformation"),
        ("aggregate(a as x)/aggregate()", 28, "an operand"),
        ("aggregate(a with total as x)", 17, "not an aggregation method"),
        ("aggregate(a with sum)", 20, "'as' and a name"),
        ("aggregate(a add 1 as x)", 18, "'with' and a method"),
        ("aggregate($count with sum as x)", 10, "$count takes no method"),
        ("groupby((year(a)))", 9, "a path stands here, not a call of year(): give its value"),
        ("groupby(a)", 8, "list of properties in parentheses of its own"),
        ("groupby((a)", 11, "expected ')'"),
        ("concat(identity)", 15, "another sequence"),
        ("top(-1)", 4, "whole number"),
        ("top(1.5)", 4, "whole number"),
        ("topcount(5)", 10, "expected ','"),
        ("nest(identity)", 13, "'as' and a name"),
        ("compute(a)", 9, "expected 'as' and a name"),
        ("expand(a,expand(b),identity)", 19, "expected expand"),
        ("ancestors(S,Q,n,identity)", 10, "begins with $root/"),
        ("filter(a)/Ancestors($root/S,Q,n,identity)", 10, "ancestors() is not offered"),
        ("groupby((a,rolluprecursive($root/S,Q,n)))", 11, "rolluprecursive() is not offered"),
        ("identity(" * 60, 8, ""),
    ],
)
def test_wrong_apply_is_refused_at_the_character(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_apply(text)
    assert (caught.value.option, caught.value.offset) == ("$apply", offset)
    assert message in caught.value.message


def test_nested_transformations_are_bounded() -> None:
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_apply("concat(" * 51 + "identity" + ",identity)" * 51)
