"""Expressions, ``$apply``, ``$select`` and ``$expand``: their trees, and where errors point."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.nodes import (
    Aggregate,
    AggregateCall,
    AggregateFrom,
    AggregateItem,
    Alias,
    Annotation,
    Apply,
    Argument,
    Binary,
    BoundCall,
    Call,
    Case,
    Collection,
    ComputeItem,
    Concat,
    Count,
    ExpandItem,
    ExpandTransformation,
    FilterSegment,
    FunctionTransformation,
    GroupBy,
    Identity,
    In,
    It,
    Join,
    JsonObject,
    KeyPredicate,
    Lambda,
    Literal,
    Member,
    Nest,
    NestItem,
    Node,
    OptionTransformation,
    OrderItem,
    QueryOptions,
    Rollup,
    Root,
    SearchTerm,
    SelectItem,
    These,
    This,
    TopBottom,
    Transformation,
    TypeCast,
    TypeName,
    Unary,
    height,
    name_of,
)
from app.odata.syntax.options import parse_filter, parse_options
from tests.odata.trees import parse_expand, parse_select


def number(value: int) -> Literal:
    return Literal(value, "integer")


def text(value: str) -> Literal:
    return Literal(value, "string")


def name(*steps: str) -> Node:
    path: Node | None = None
    for step in steps:
        path = Member(path, step)
    assert path is not None
    return path


A, B, C, D = (name(letter) for letter in "abcd")
TRUE = Literal(True, "boolean")


@pytest.mark.parametrize("op", ["eq", "ne", "gt", "ge", "lt", "le", "has"])
def test_comparison(op: str) -> None:
    assert parse_filter(f"a {op} b") == Binary(op, A, B)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "divby", "mod"])
def test_arithmetic_is_left_associative(op: str) -> None:
    assert parse_filter(f"a {op} b {op} c") == Binary(op, Binary(op, A, B), C)


@pytest.mark.parametrize(
    ("written", "grouped"),
    [
        ("a or b and c", "a or (b and c)"),
        ("a and b or c", "(a and b) or c"),
        ("a eq b and c", "(a eq b) and c"),
        ("a eq b gt c", "a eq (b gt c)"),
        ("a gt b eq c", "(a gt b) eq c"),
        ("a gt b add c", "a gt (b add c)"),
        ("a add b mul c", "a add (b mul c)"),
        ("a mul -b", "a mul (-b)"),
        ("-a mul b", "(-a) mul b"),
        ("not a eq b", "(not a) eq b"),
        ("not a and b", "(not a) and b"),
        ("not a in (1)", "not (a in (1))"),
        ("not a has b", "not (a has b)"),
        ("a add b in (1)", "a add (b in (1))"),
        ("- -a", "-(-a)"),
    ],
)
def test_precedence(written: str, grouped: str) -> None:
    assert parse_filter(written) == parse_filter(grouped)


def test_chain_of_or_is_wide_instead_of_deep() -> None:
    terms = 200
    tree = parse_filter(" or ".join(f"x{n}" for n in range(terms)))
    assert height(tree) == 9


def test_operators_know_their_place() -> None:
    tree = parse_filter("a eq 1 and b eq 2")
    assert isinstance(tree, Binary)
    assert (tree.offset, tree.left.offset, tree.right.offset) == (7, 2, 13)


@pytest.mark.parametrize(
    "written",
    [
        "a EQ 1 And Not (CONTAINS(b,'x')) OR c In (1,2)",
        "a  eq\t1 and not(contains( b , 'x' ))  or c in ( 1 , 2 )",
    ],
    ids=["any case", "blanks and tabs"],
)
def test_case_and_blanks_do_not_matter(written: str) -> None:
    plain = "a eq 1 and not (contains(b,'x')) or c in (1,2)"
    assert parse_filter(written) == parse_filter(plain)


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        ("-(a)", Unary("neg", A)),
        ("-a", Unary("neg", A)),
        ("- 5", Unary("neg", number(5))),
        (f"-{UUID(int=0)}", Unary("neg", Literal(UUID(int=0), "guid"))),
        ("-5", number(-5)),
        ("a sub -5", Binary("sub", A, number(-5))),
        ("not(a)", Unary("not", A)),
        ("(((a)))", A),
        ("eq eq and and or", Binary("and", Binary("eq", name("eq"), name("and")), name("or"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unary_and_parentheses(written: str, tree: Node) -> None:
    assert parse_filter(written) == tree


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        ("a in (1)", In(A, Collection((number(1),)))),
        ("a in ('x', null ,true)", In(A, Collection((text("x"), Literal(None, "null"), TRUE)))),
        ("a in ()", In(A, Collection(()))),
        ("a in b/c", In(A, name("b", "c"))),
        ("a in (b/c)", In(A, name("b", "c"))),
        ("a in @list", In(A, Alias("list"))),
        ('a in ["x", 2]', In(A, Collection((text("x"), number(2))))),
        (
            "[a,b] in [[1,2]]",
            In(Collection((A, B)), Collection((Collection((number(1), number(2))),))),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_membership(written: str, tree: Node) -> None:
    assert parse_filter(written) == tree


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        ("a/b/c", name("a", "b", "c")),
        ("$it/a", Member(It(), "a")),
        ("$this", This()),
        ("@x/a", Member(Alias("x"), "a")),
        ("@Core.Term#q/a", Member(Annotation(None, "Core.Term", "q"), "a")),
        ("a/@Core.Term", Annotation(A, "Core.Term")),
        ("Ns.T/a", Member(TypeCast(None, "Ns.T"), "a")),
        ("a/Ns.T", TypeCast(A, "Ns.T")),
        ("a(5)/b", Member(KeyPredicate(A, (Argument(None, number(5)),)), "b")),
        ("a/b(@k)", KeyPredicate(name("a", "b"), (Argument(None, Alias("k")),))),
        ("a(k=5)/b", Member(BoundCall(None, "a", (Argument("k", number(5)),)), "b")),
        ("a/Ns.F()", BoundCall(A, "Ns.F", ())),
        ("Ns.F(p=a add 1,q=@x)", BoundCall(
            None, "Ns.F", (Argument("p", Binary("add", A, number(1))), Argument("q", Alias("x")))
        )),
        ("$root/S('k')/a", Member(
            KeyPredicate(Member(Root(), "S"), (Argument(None, text("k")),)), "a"
        )),
        ("$root/S", Member(Root(), "S")),
        ("a/$filter(b)/c", Member(FilterSegment(A, B), "c")),
        ("a/$filter(b)(k=1)", KeyPredicate(FilterSegment(A, B), (Argument("k", number(1)),))),
        ("a/$count", Count(A)),
        ("a/$count($filter=b;$search=x)", Count(A, B, SearchTerm("x"))),
        ("a/$count(SEARCH=x)", Count(A, None, SearchTerm("x"))),
        ("a/any()", Lambda("any", A)),
        ("a/any( )", Lambda("any", A)),
        ("a/ALL( d : d/b )", Lambda("all", A, "d", name("d", "b"))),
        ("a/any(d:d/b/all(e:e eq d))", Lambda("any", A, "d", Lambda(
            "all", name("d", "b"), "e", Binary("eq", name("e"), D)
        ))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_paths(written: str, tree: Node) -> None:
    assert parse_filter(written) == tree


@pytest.mark.parametrize(
    ("written", "tree"),
    [
        ("now()", Call("now", ())),
        ("substring(a,1,2)", Call("substring", (A, number(1), number(2)))),
        ("Geo.Distance(a,b)", Call("geo.distance", (A, B))),
        ("cast(Ns.T)", Call("cast", (TypeName("Ns.T"),))),
        ("cast(a,'Edm.String')", Call("cast", (A, TypeName("Edm.String")))),
        ("isof(a,T)", Call("isof", (A, TypeName("T")))),
        ("isof(Collection(Edm.Int32))", Call("isof", (TypeName("Edm.Int32", True),))),
        ("cast(a,Collection(Ns.T)) eq b", Binary(
            "eq", Call("cast", (A, TypeName("Ns.T", True))), B
        )),
        ("case(a:1,b : 2)", Case(((A, number(1)), (B, number(2))))),
        ("case(a gt 10:20,true:0)", Case(
            ((Binary("gt", A, number(10)), number(20)), (TRUE, number(0)))
        )),
        ("case(a eq 5:case(b gt 10:20,c:10))", Case(((Binary("eq", A, number(5)), Case(
            ((Binary("gt", B, number(10)), number(20)), (C, number(10)))
        )),))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_functions(written: str, tree: Node) -> None:
    assert parse_filter(written) == tree


def test_json_values() -> None:
    written = '{ "a" : "x\\u00e9\\"", "@odata.id":[{},[],null,b/c] }'
    assert parse_filter(written) == JsonObject(
        (
            ("a", text('xé"')),
            (
                "@odata.id",
                Collection((JsonObject(()), Collection(()), Literal(None, "null"), name("b", "c"))),
            ),
        )
    )


@pytest.mark.parametrize(
    ("written", "offset"), [("@Ns.T eq 1", 0), ("a/@Ns.T#q eq 1", 2), ("b eq a/@Ns.T", 7)]
)
def test_an_annotation_knows_where_it_stands(written: str, offset: int) -> None:
    tree = parse_filter(written)
    assert isinstance(tree, Binary)
    (found,) = [side for side in (tree.left, tree.right) if isinstance(side, Annotation)]
    assert found.offset == offset


@pytest.mark.parametrize(
    ("written", "offset", "message"),
    [
        ("", 0, "expected an expression"),
        ("name eq", 7, "expected an operand after 'eq'"),
        ("name eq and b", 8, "expected an operand before 'and'"),
        ("(name eq 'x'", 12, "expected ')' or an operator"),
        ("name eq 'x", 8, "no closing quote"),
        ('name eq "x"', 8, "text is written in single quotes"),
        ("a/Ns.F(x=1)(1,2)/c eq 1", 11, "expected the value of a key between the parentheses"),
        (" a", 0, "unexpected blank"),
        ("a ", 1, "unexpected blank"),
        ("a eq1", 2, "expected an operator or the end after 'a', found 'eq1'"),
        ("a eq(1)", 4, "expected a blank after 'eq'"),
        ("a = 1", 2, "expected an operator"),
        ("a eq 2024-02-30", 5, "no such date"),
        ("a eq 2024-1-1", 5, "'2024-1-1' is not a date such as 2024-05-31"),
        ("a gt 2024-01-01T10:00:00", 5, "with an offset such as 2024-05-31T10:00:00Z"),
        ("a eq 5-3", 5, "'5-3' is neither a number nor a name"),
        ("a eq 42.", 5, "neither a number nor a name"),
        ("a eq #", 5, "unexpected character '#'"),
        ("any()", 0, "needs a collection before it"),
        ("a/all()", 6, "a variable name"),
        ("a/$value eq 1", 2, "cannot be part of an expression"),
        ("a/ b", 2, "unexpected blank after '/'"),
        ("a/5", 2, "expected a property"),
        ("$count gt 1", 0, "cannot begin an expression"),
        ("$root", 5, "expected '/'"),
        ("$root/1 eq 1", 6, "expected the name of an entity set, a singleton or a function"),
        ("$root/ A eq 1", 7, "expected the name of an entity set, a singleton or a function"),
        ("Ns.T", 4, "expected '/' and a property"),
        ("contains(a)", 0, "contains takes 2 arguments, 1 given"),
        ("now(1)", 0, "now takes no arguments, 1 given"),
        ("substring(a)", 0, "substring takes 2 or 3 arguments, 1 given"),
        ("containz(a,'x')", 0, "unknown function 'containz'; did you mean 'contains'?"),
        ("geo.invalid(a)", 0, "unknown function 'geo.invalid'"),
        ("a in (b,c)", 6, "holds only literals"),
        ("a in (1,c)", 8, "expected a literal"),
        ("a eq (1,2)", 7, "expected ')'"),
        ("cast(a,5)", 7, "expected a type"),
        (
            "cast(a,Ns.T)/b eq 1",
            12,
            "no path goes on from cast(...): write Namespace.Type/property",
        ),
        ("case(a)", 6, "expected ':'"),
        ("case()", 5, "expected an operand"),
        ("a/$count($count=true)", 9, "'$count' is not allowed here"),
        ('{"a":1,"a":2}', 0, "a name occurs twice"),
        ('["\\ud800"]', 1, "malformed JSON string"),
        ("a eq 'x\0'", 7, "NUL"),
        ("a eq Ns.C'Red Blue'", 9, "expected members"),
        ("a eq binary'!!'", 5, "not base64url"),
        ("a eq duration'P1Y'", 5, "not a duration"),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else "",
)
def test_error_points_at_the_character_and_says_what_was_expected(
    written: str, offset: int, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse_filter(written)
    assert caught.value.offset == offset
    assert message in caught.value.message


@pytest.mark.requirement("SEC-110")
@pytest.mark.parametrize(
    "nested", ["({})", "not ({})", "-({})", "tolower({})", "a/any(d:{})", "[{}]"]
)
def test_nesting_is_bounded(nested: str) -> None:
    deep = "a"
    for _ in range(50 if nested != "not ({})" and nested != "-({})" else 25):
        deep = nested.format(deep)
    parse_filter(deep)
    with pytest.raises(QueryError, match="nested more than 50 levels"):
        parse_filter(nested.format(deep))


@pytest.mark.requirement("SEC-110")
@pytest.mark.parametrize("chain", ["a add " * 101 + "a", "a/" * 101 + "a", "a eq " * 101 + "a"])
def test_chains_are_bounded_like_nesting(chain: str) -> None:
    with pytest.raises(QueryError, match="chain of too many"):
        parse_filter(chain)


@pytest.mark.requirement("SEC-111")
def test_number_of_parts_is_bounded() -> None:
    many = "a in (" + ",".join(["1"] * 498) + ")"
    parse_filter(many)
    with pytest.raises(QueryError, match="more than 500 parts"):
        parse_filter(many.replace("(1", "(1,1"))
    parse_filter(many.replace("(1", "(1,1"), limits=Limits(nodes=600))


def parse_apply(text: str) -> Apply:
    apply = parse_options([("$apply", text)]).apply
    assert apply is not None
    return apply


def sequence(*transformations: Transformation) -> Apply:
    return Apply(transformations)


N, X, Y = (name(letter) for letter in "nxy")
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
            "search", Binary("AND", SearchTerm("blue"), SearchTerm("5"))
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


A_GT_1 = Binary("gt", A, Literal(1, "integer"))


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
