"""Where the parts of an expression stand, and the whole words of what is wrong with one."""

from __future__ import annotations

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.nodes import Annotation, Apply, GroupBy, Literal, TypeCast, TypeName
from app.odata.syntax.options import parse_filter, parse_options
from tests.odata.trees import walk


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("b eq @p/x", "Binary 2, Member 0, Member 8, Alias 5"),
        ("b eq $it/x", "Binary 2, Member 0, Member 9, It 5"),
        ("b eq $this", "Binary 2, Member 0, This 5"),
        (
            "b eq $root/A(1)/x",
            "Binary 2, Member 0, Member 16, KeyPredicate 11, Member 11, Root 5, Argument 13,"
            " Literal 13",
        ),
        (
            "a/F(x=1,y=2) eq 1",
            "Binary 13, BoundCall 2, Member 0, Argument 4, Literal 6, Argument 8, Literal 10,"
            " Literal 16",
        ),
        ("b or a/any()", "Binary 2, Member 0, Lambda 7, Member 5"),
        (
            "b or a/any(d:d/x eq 1)",
            "Binary 2, Member 0, Lambda 7, Member 5, Binary 17, Member 15, Member 13, Literal 20",
        ),
        (
            "b eq a/$filter(x eq 1)/c",
            "Binary 2, Member 0, Member 23, FilterSegment 7, Member 5, Binary 17, Member 15,"
            " Literal 20",
        ),
        ("b eq a/$count", "Binary 2, Member 0, Count 7, Member 5"),
        (
            "b eq a/$count($filter=x eq 1;$search=y)",
            "Binary 2, Member 0, Count 7, Member 5, Binary 24, Member 22, Literal 27,"
            " SearchTerm 37",
        ),
        ("b eq cast(a,Edm.String)", "Binary 2, Member 0, Call 5, Member 10, TypeName 12"),
        ("b eq isof(Collection(Ns.T))", "Binary 2, Member 0, Call 5, TypeName 10"),
        (
            "b eq case(a:1,true:2)",
            "Binary 2, Member 0, Case 5, Member 10, Literal 12, Literal 14, Literal 19",
        ),
        ("case(a eq 10:30:1)", "Case 0, Binary 7, Member 5, Literal 10, Literal 16"),
        ("case(a eq 10:30)", "Case 0, Binary 7, Member 5, Literal 10, Literal 13"),
        ("b in ()", "In 2, Member 0, Collection 5"),
        ("a/$count($Filter=b)", "Count 2, Member 0, Member 17"),
        ('b eq {"x":1}', "Binary 2, Member 0, JsonObject 5, Literal 10"),
        ("b in (1,2)", "In 2, Member 0, Collection 5, Literal 6, Literal 8"),
        ("b eq a/Ns.T/c", "Binary 2, Member 0, Member 12, TypeCast 7, Member 5"),
        ("b eq tolower(a)", "Binary 2, Member 0, Call 5, Member 13"),
        ("b eq -a", "Binary 2, Member 0, Unary 5, Member 6"),
        ("b eq null", "Binary 2, Member 0, Literal 5"),
        ("b eq INF/x", "Binary 2, Member 0, Member 9, Member 5"),
        ("b eq a/any/c", "Binary 2, Member 0, Member 11, Member 7, Member 5"),
        (
            "b eq a/aggregate(x with sum)",
            "Binary 2, Member 0, AggregateCall 7, Member 5, AggregateItem 17, Member 17",
        ),
        (
            "b eq a/Ns.T(1)/c",
            "Binary 2, Member 0, Member 15, KeyPredicate 7, TypeCast 7, Member 5, Argument 12,"
            " Literal 12",
        ),
        (
            "b eq a/F(x=1)(2)/c",
            "Binary 2, Member 0, Member 17, KeyPredicate 13, BoundCall 7, Member 5, Argument 9,"
            " Literal 11, Argument 14, Literal 14",
        ),
    ],
)
def test_every_part_knows_where_it_stands(text: str, places: str) -> None:
    found = (f"{type(node).__name__} {node.offset}" for node in walk(parse_filter(text)))
    assert ", ".join(found) == places


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("a eq $foo", 5,
         "'$foo' cannot begin an expression; expected $it, $this, $root or a property"),
        ("a/F(x=1,2) eq 1", 8, "expected the name of a parameter after ',', found '2'"),
        ("a/any(1)", 6, "expected a variable name and ':' after '(', found '1'"),
        ("a/any(d)", 7, "expected ':' after 'd', found ')'"),
        ("a/all(d:true,x)", 12, "expected ')' that ends all(...) after 'true', found ','"),
        ("a/$count($filter=b", 18, "expected ')' or ';' after 'b'"),
        ("a/$count($top=1)", 9, "'$top' is not allowed here (allowed: $filter, $search)"),
        ("a/$count($filter=b;$filter=c)", 19, "$filter must not appear more than once"),
        ("a/$it eq 1", 2, "'$it' addresses a representation and cannot be part of an expression"),
        ("a/$filter(b eq 1)/$ref eq 1", 18,
         "'$ref' addresses a representation and cannot be part of an expression"),
        ("a/b( eq 1", 2, "unknown function 'b'"),
        ("cast(a Edm.String)", 7, "expected ',' and a type in cast after 'a', found 'Edm.String'"),
        ("cast(a,1)", 7, "expected a type such as Edm.String"),
        ("case(a:1;b:2)", 8,
         "expected ')' or ',' in the branches of case after '1', found ';'"),
        ("case(a 1)", 7,
         "expected ':' and a value after the condition of case after 'a', found '1'"),
        ("b in (1 2)", 8, "expected ')' or ',' after '1', found '2'"),
        ("b in (a c)", 8, "expected ')' or an operator after 'a', found 'c'"),
        ("b eq tolower(a b)", 15,
         "expected ')' or ',' in the arguments of tolower after 'a', found 'b'"),
        ('a eq "x"', 5, "text is written in single quotes"),
        ('a eq {"x":1 "y":2}', 12, "expected '}' or ',' after '1', found '\"y\"'"),
        ('a eq {"x":1,"x":2}', 5, "a name occurs twice in the object"),
        ("a eq {x:1}", 6, "expected a member name in double quotes after '{', found 'x'"),
        ('a eq {"x" 1}', 10, "expected ':' after '\"x\"', found '1'"),
        ("a eq [1 2]", 8, "expected ']' or ',' after '1', found '2'"),
        ('a eq {"\\u12":1}', 6, "malformed JSON string"),
        ("a eq(1)", 4, "expected a blank after 'eq', found '('"),
        ("a eq)", 4, "expected an operand after 'eq', found ')'"),
        ("a eq [1 add]", 11, "expected an operand after 'add', found ']'"),
        ('a eq {"x":1 add}', 15, "expected an operand after 'add', found '}'"),
        ("b eq concat(a add,b)", 17, "expected an operand after 'add', found ','"),
        ("case(a eq:1)", 9, "expected an operand after 'eq', found ':'"),
        ("a/$count($filter=b eq;$search=c)", 21, "expected an operand after 'eq', found ';'"),
        ("a/$count($filter= b)", 17, "unexpected blank after '='"),
        ("a/ b eq 1", 2, "unexpected blank after '/'"),
        ("a in (b,1)", 6, "a list after 'in' holds only literals"),
        ("cast(a,duration'PT1S')", 7, "expected a type such as Edm.String"),
        ("any(d:d)", 0, "'any' needs a collection before it, as in Items/any(...)"),
        ("all(d:d)", 0, "'all' needs a collection before it, as in Items/all(...)"),
        ("a/F(x=1)(c)/d", 8, "expected the value of a key between the parentheses"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_whole(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_filter(text)
    assert (caught.value.offset, caught.value.message) == (offset, message)


@pytest.mark.parametrize(
    ("text", "name", "many"),
    [("cast(a,'Ns.T')", "Ns.T", False), ("isof('Ns.T')", "Ns.T", False),
     ("isof(Collection(Ns.T))", "Ns.T", True), ("cast(a,Collection(Ns.T))", "Ns.T", True)],
)  # fmt: skip
def test_type_of_a_call_is_found(text: str, name: str, many: bool) -> None:
    (found,) = [node for node in walk(parse_filter(text)) if isinstance(node, TypeName)]
    assert found == TypeName(name, many)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("a eq INF", ["inf double None 5"]),
        ("a eq NaN", ["nan double None 5"]),
        ("a eq -INF", ["-inf double None 5"]),
        ("a eq TRUE", ["True boolean None 5"]),
        ("a eq null", ["None null None 5"]),
        ("a eq Ns.C'Red'", ["Red enum None 5"]),
        ("a gt 7 and b gt duration'PT1S'", ["7 integer 0 5", "0:00:01 duration 1 16"]),
        ("a gt duration'PT1S' and b gt 7", ["0:00:01 duration 0 5", "7 integer 1 29"]),
    ],
)
def test_literals_have_a_value_a_kind_and_a_slot_where_they_are_lifted(
    text: str, literals: list[str]
) -> None:
    found = [node for node in walk(parse_filter(text)) if isinstance(node, Literal)]
    assert [f"{one.value} {one.kind} {one.slot} {one.offset}" for one in found] == literals


def test_term_with_a_qualifier_is_an_annotation_also_without_a_namespace() -> None:
    (found,) = [node for node in walk(parse_filter("b eq @t#q")) if isinstance(node, Annotation)]
    assert (found.term, found.qualifier, found.offset) == ("t", "q", 5)


def test_path_of_a_group_is_a_name_or_an_annotation() -> None:
    (step,) = _apply("groupby((@Ns.t,a))").transformations
    assert isinstance(step, GroupBy)
    assert [type(key).__name__ for key in step.keys] == ["Annotation", "Member"]
    with pytest.raises(QueryError) as caught:
        _apply("groupby((1))")
    assert caught.value.message == "expected a property path after '(', found '1'"


def _apply(text: str) -> Apply:
    found = parse_options([("$apply", text)]).apply
    assert found is not None
    return found


def test_type_with_parentheses_behind_is_no_type_alone() -> None:
    """``Collection(...)`` is a type; another name with parentheses is the expression."""
    tree = parse_filter("isof(tolower(a),Edm.String)")
    assert [type(node).__name__ for node in walk(tree)] == ["Call", "Call", "Member", "TypeName"]
    assert not any(isinstance(node, TypeCast) for node in walk(tree))
