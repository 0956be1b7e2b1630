"""Expressions: operators, precedence, paths, lambdas, functions, JSON, and where errors point."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.nodes import (
    Alias,
    Annotation,
    Argument,
    Binary,
    BoundCall,
    Call,
    Case,
    Collection,
    Count,
    FilterSegment,
    In,
    It,
    JsonObject,
    KeyPredicate,
    Lambda,
    Literal,
    Member,
    Node,
    Root,
    SearchTerm,
    This,
    TypeCast,
    TypeName,
    Unary,
    height,
)
from app.odata.syntax.options import parse_filter


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
        ("a/$count($count=true)", 9, "expected $filter or $search"),
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
