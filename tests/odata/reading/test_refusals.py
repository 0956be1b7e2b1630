"""What is refused, with which status, at which position, and with which hint."""

from __future__ import annotations

import pytest

from app.odata.binding.context import Context
from app.odata.binding.search_condition import search_condition
from app.odata.binding.values import Scope
from app.odata.errors import UnsupportedError
from app.odata.model.declare import entity_type, prop
from app.odata.reading.reader import too_deep
from app.odata.syntax.lexer import DEFAULT_LIMITS
from app.odata.syntax.nodes import SearchTerm
from app.odata.syntax.options import read_options
from app.odata.syntax.path import read_path
from tests.odata.reading import model
from tests.odata.reading.conftest import CALLER, Client


@pytest.mark.parametrize(
    ("address", "position", "words"),
    [
        ("Items?$filter=nam eq 'x'", 0, "Item has no property 'nam'; did you mean 'name'?"),
        ("Items?$filter=Makr/name eq 'x'", 0, "did you mean 'Maker'?"),
        ("Items?$filter=Maker/nam eq 'x'", 6, "Maker has no property 'nam'"),
        ("Items?$filter=place/cty eq 'x'", 6, "Place has no property 'cty'; did you mean 'city'?"),
        ("Items?$filter=name gt 5", 8, "Edm.String cannot be compared with a whole number"),
        ("Items?$filter=id eq 9223372036854775808", 6, "is out of the range of Edm.Int64"),
        ("Items?$filter=size gt -99999999999999999999", 8, "is out of the range of Edm.Int64"),
        ("Items?$filter=price eq 'x'", 9, "Edm.Decimal cannot be compared with a text"),
        ("Items?$filter=at eq '2024-01-01'", 6, "cannot be compared with a text"),
        ("Items?$filter=made eq name", 5, "Edm.Date and Edm.String cannot be compared"),
        ("Items?$filter=name", 0, "expected a condition, this is Edm.String"),
        ("Items?$filter=5 add 1", 2, "expected a condition"),
        ("Items?$filter=contains(price,'1')", 9, "contains does not take Edm.Decimal"),
        ("Items?$filter=year(name) eq 1", 5, "year does not take Edm.String"),
        ("Items?$filter=name add 1 eq 2", 5, "'add' does not take Edm.String and Edm.Int64"),
        ("Items?$filter=-name eq 2", 0, "'-' does not take Edm.String"),
        *(
            (
                f"Items?$filter=level {op} '{number}'",
                7 + len(op),
                f"'{number}' is not a member of Level",
            )
            for op in ("eq", "gt", "has")
            for number in ("\u00b2", "\u0663", "2147483648", "9" * 20, "9" * 5000, "--5")
        ),
        ("Items?$filter=level in ('Low','\u00b2')", 16, "is not a member of Level"),
        ("Items?$filter=level eq 4294967296", 9, "'4294967296' is not a member of Level"),
        ("Items?$filter=level eq 'Hig'", 9, "(Low, Normal, High, Urgent); did you mean 'High'?"),
        ("Items?$filter=level eq Workshop.Colour'Low'", 9, "Workshop.Colour is not Level"),
        ("Items?$filter=level eq 'Low,High'", 9, "one member at a time"),
        ("Items?$filter=Children/name eq 'x'", 9, "use Children/any(x:x/name ...)"),
        ("Items?$filter=Children eq null", 9, "never null"),
        ("Items?$filter=Maker eq 5", 6, "an entity (Maker) can only be compared with null"),
        ("Items?$filter=place eq 'x'", 6, "the complex value place can only be compared with null"),
        ("Items?$filter=name/any(n:n eq 'x')", 5, "need a collection before them"),
        ("Items?$filter=name/x eq 1", 5, "the value before it has no properties"),
        ("Items?$filter=Children('x')/active", 9, "expected a literal of Edm.Int64 for id"),
        ("Items?$filter=@a eq 1&@a=@a", 0, "@a stands for itself"),
        ("Items?$filter=@a eq 1&@a=@b&@b=@a", 0, "@a stands for itself"),
        ("Items/$ref?$apply=groupby((size))", 0, "the rows that it makes have no references"),
        ("Items/$ref?$apply=aggregate($count as n)", 0, "the rows that it makes have no"),
        ("Items/$ref?$apply=concat(top(1),top(1))", 0, "the rows that it makes have no"),
        ("Items/$ref?$apply=join(Children as c)", 0, "the rows that it makes have no"),
        ("Items?$apply=groupby((size,size))", 14, "rows are grouped by size already"),
        ("Items?$apply=groupby((size,Maker/name,Maker/name))", 31, "by Maker/name already"),
        ("Items?$filter=name has 'x'", 5, "'has' takes an enumeration, not Edm.String"),
        ("Items?$filter=price eq labels", 6, "Collection(Edm.String) can only be compared with"),
        ("Items?$filter=name eq Children", 5, "the collection Children can only be compared"),
        ("Items?$filter=5 eq lines", 2, "Collection(Line) can only be compared with null"),
        ("Items?$filter='x' eq extra", 4, "a complex value (Extra) can only be compared"),
        ("Items?$filter=labels/any(l:l eq place)", 15, "the complex value place can only be"),
        ("Items?$filter=lines/any(l:l eq 5)", 14, "a complex value (Line) can only be compared"),
        ("Items?$filter=lines eq null", 6, "a collection is never null"),
        ("Items?$filter=labels in ('x')", 7, "cannot be an operand of 'in'"),
        ("Items?$filter=place in ('x')", 6, "the complex value place cannot be an operand"),
        ("Items?$filter=Children in ('x')", 9, "the collection Children cannot be an operand"),
        ("Items?$filter=Maker in (1)", 6, "an entity (Maker) cannot be an operand of 'in'"),
        ("Items?$filter=-name eq 'x'", 0, "'-' does not take Edm.String"),
        ("Items?$filter=matchesPattern(name,'(')", 20, "a '(' without its ')'"),
        ("Items?$filter=case(active:1,true:'x') eq 1", 0, "the values of case are"),
        ("Items?$filter=at add duration'P999999999D' gt now()", 7, "at most 3652059 days"),
        ("Items?$filter=isof(Workshop.Nothing)", 5, "there is no entity type"),
        ("Items?$filter=cast(name,Edm.Int)", 10, "there is no cast to Edm.Int; did you mean"),
        ("Items?$orderby=Maker", 0, "this is an entity (Maker)"),
        ("Items?$orderby=labels", 0, "this is a collection"),
        ("Items?$orderby=nam", 0, "did you mean 'name'?"),
        ("Items?$select=nam", 0, "did you mean 'name'?"),
        ("Items?$select=name/x", 5, "name has no properties to select from"),
        ("Items?$select=name,place(city)", 5, "place is no function: write place($select=...)"),
        ("Items?$filter=substring(name,0,-1) eq 'x'", 17, "the length of a substring is 0 or more"),
        ("Items?$filter=substring(name,0,@l) eq 'x'&@l=-1", 17, "the length of a substring is 0"),
        ("Items?$expand=Workshop.Maker/Parent", 0, "no Item is of the type Workshop.Maker"),
        ("Items?$select=place/x", 6, "Place has no property 'x'"),
        ("Items?$select=Maker/name", 0, "use $expand"),
        ("Items?$expand=Makr", 0, "did you mean 'Maker'?"),
        ("Items?$expand=name", 0, "name is not a navigation property"),
        ("Items?$expand=Maker/name", 0, "write Maker($expand=name)"),
        ("Items?$expand=Maker,Maker", 6, "Maker is expanded twice"),
        ("Items?$expand=Children($filter=nam eq 1)", 17, "Item has no property 'nam'"),
        ("Items?$expand=Parent($levels=6)", 0, "at most 5 levels deep"),
        ("Items?$compute=price mul 2 as Name", 0, "has a property Name already"),
        ("Items?$compute=Maker as m", 0, "this is an entity"),
        ("Items?$apply=groupby((nam))", 9, "did you mean 'name'?"),
        ("Items?$apply=aggregate(name with sum as x)", 10, "sum does not take Edm.String"),
        ("Items?$apply=aggregate(price as x)", 10, "say how to aggregate"),
        ("Items?$apply=aggregate($count as n,id with max as n)", 22, "a name occurs twice"),
        ("Items?$apply=groupby((name),aggregate(id with sum as name))", 25, "a name occurs twice"),
        ("Items?$apply=addnested(Children,filter(active) as name)", 19, "Item has name already"),
        ("Items?$select=place($select=city,ctiy)", 19, "did you mean 'city'?"),
        ("Items(1)/place?$select=city,ctiy", 5, "did you mean 'city'?"),
        ("Items?$filter=id in 5", 6, "expected a list in parentheses or a collection after 'in'"),
        ("Items?$filter=active and id eq @x&@x='a'", 17, "cannot be compared with a text"),
        ('Items?$filter=id in @x&@x=[1,"a"]', 6, "cannot be compared with a text"),
        ("Items?$filter=name eq @x&@x=length(nam)", 7, "invalid @x at position 7"),
        ("Items?$filter=name eq @x&@x=tolower(@y)&@y=nam", 0, "invalid @y at position 0"),
        ("Items?$expand=Children($select=id,nam)", 20, "invalid $expand at position 20"),
        ("Items?$expand=Children($orderby=nam)", 18, "invalid $expand at position 18"),
        ("Items?$expand=Children($compute=length(nam) as n)", 25, "invalid $expand at position 25"),
        ("Items?$expand=Maker($select=id;$top=1)", 22, "$top is for collections"),
        ("Items?$expand=Maker($skip=1)", 12, "$skip is for collections"),
        ("Items?$expand=Maker($orderby=name)", 15, "$orderby is for collections"),
        ("Items?$expand=Children,Maker($count=true)", 9, "$count is for collections"),
        ("Items?$expand=Children,Maker/$count", 9, "Maker is one entity"),
        ("Items?$expand=Maker/$ref($top=1)", 16, "$top is for collections"),
        ("Items?$top=-1", 0, "must be a whole number"),
        (f"Items?$top={'9' * 5000}", 0, "a number has at most 200 characters"),
        (f"Items?$skip={'9' * 5000}", 0, "a number has at most 200 characters"),
        ("Items?$skip=x", 0, "must be a whole number"),
        ("Items?$count=yes", 0, "$count must be true or false"),
        ("Items?$filtre=x", 0, "unknown query option '$filtre'; did you mean 'filter'?"),
        ("Items(1)?$filter=active", 0, "$filter is not allowed on this resource"),
        ("Items(1)?$top=1", 0, "$top is not allowed on this resource"),
        ("Items(1)/name?$expand=Maker", 0, "$expand is not allowed on this resource"),
        ("Items('x')", 6, "expected a literal of Edm.Int64"),
        ("Items(nam='x')", 0, "the key of Item is id or code"),
        ("Items(1)(2)", 9, "only one key"),
        ("Items/$value", 6, "$value cannot follow this"),
        ("Items(1)/name/$count", 14, "$count cannot follow this"),
        ("Items(1)/$count", 9, "$count cannot follow this"),
        ("Items?$skiptoken=abc", 0, "was not given by the service"),
    ],
)
def test_a_mistake_is_told_where_it_is(
    client: Client, address: str, position: int, words: str
) -> None:
    error = client.refused(address)
    assert error["status"] == 400
    assert error["code"] == "INVALID_QUERY"
    assert words in error["message"]
    assert error["position"] == position


def test_a_type_without_searchable_texts_cannot_be_searched() -> None:
    bare = entity_type("Bare", model.items, [prop(model.items.c.id, computed=True)])
    scope = Scope(Context(model.CONTAINER, CALLER), bare)
    with pytest.raises(UnsupportedError, match="nothing to search in"):
        search_condition(scope, SearchTerm("x"))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("Items?$filter=geo.length(name) gt 1", "geo.length"),
        ("Items?$filter=matchesPattern(name,note)", "the pattern must be a literal"),
        ("Items?$filter=matchesPattern(name,'(?=x)')", "look ahead"),
        ("Items?$expand=Children($apply=aggregate($count as n))", "inside $expand"),
        ("$all", "not offered"),
        ("Items?$deltatoken=x", "not tracked"),
    ],
)
def test_what_is_not_offered_says_so(client: Client, address: str, words: str) -> None:
    error = client.refused(address)
    assert error["status"] == 501
    assert words in error["message"]


@pytest.mark.parametrize(
    "address",
    ["Itms", "Items(1000)", "Items(1)/nam", "Items(1)/place/x", "Items(1000)/Children",
     "Items(1000)/Children/$count", "Items(1000)/name", "Items(1000)/Maker", "Items(1)/Children(1)",
     "Items/x", "Items(1)/Workshop.Maker", "Items(code='none')", "Items(1)/name/$value/x"],
)  # fmt: skip
def test_what_is_not_there_is_404(client: Client, address: str) -> None:
    assert client.refused(address)["status"] in ((404,) if "$value" not in address else (400,))


def test_one_related_entity_can_be_left_out_by_a_filter(client: Client) -> None:
    rows = client.get("Items?$select=id&$expand=Maker($filter=id eq 1;$select=id)")["value"]
    assert {row["Maker"]["id"] for row in rows if row["Maker"]} == {1}
    none = client.get("Items?$select=id&$expand=Maker($search=nothing)")["value"]
    assert {row["Maker"] for row in none} == {None}


def test_what_is_not_offered_in_an_expansion_is_told_where(client: Client) -> None:
    error = client.refused("Items?$expand=Maker,Children($apply=aggregate($count as n))")
    assert (error["status"], error["position"]) == (501, 22)


def test_operators_are_not_nested_without_end(client: Client) -> None:
    deep = "tolower(" * 21 + "name" + ")" * 21
    assert "20 levels" in client.refused(f"Items?$filter={deep} eq 'x'")["message"]


MOST = 2**63 - 1


@pytest.mark.requirement("SEC-114")
@pytest.mark.parametrize(
    ("address", "message", "position"),
    [
        (f"Items?$filter=id mul {MOST} gt 5", "invalid $filter at position 3: the result", 3),
        (f"Items?$orderby=name,id add {MOST}", "invalid $orderby at position 8: the result", 8),
        (f"Items?$compute=-id sub {MOST} as x&$filter=x gt 1", "invalid $compute at position 0", 0),
        (f"Items/$filter(id add {MOST} gt 1)", "the result is out of range at position 17", 17),
        (f"Items?$filter=id gt @x&@x=id add {MOST}", "invalid @x at position 3: the result", 3),
        (f"Items?$filter=Workshop.Doubled() add {MOST} gt 1", "here or of a later calculation", 0),
        (f"Makers?$expand=Items($filter=id add {MOST} gt 1)", "at position 17: the result", 17),
        (f"Items/$count?$filter=name ne '' and {MOST} add id gt 1", "at position 35", 35),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_a_mistake_of_the_query(
    client: Client, address: str, message: str, position: int
) -> None:
    error = client.refused(address)
    assert (error["status"], error["position"]) == (400, position)
    assert message in error["message"] and "is out of range" in error["message"]


@pytest.mark.parametrize(
    ("path", "query", "message"),
    [
        ("Items", "$filter=id eq 1 or tolower(trim(name)) eq 'x'&$orderby=name",
         "invalid $filter at position 24: the query is nested too deep"),
        ("Items", "$expand=Maker,Children($expand=Children($filter=Children/any(c:c/id eq 1)))",
         "invalid $expand at position 55: the query is nested too deep"),
        ("Items/$filter(tolower(trim(name)) eq 'x')", "$top=1",
         "the query is nested too deep at position 27"),
    ],
)  # fmt: skip
def test_what_is_too_deep_is_told_where(path: str, query: str, message: str) -> None:
    """Which is what the parser of some versions of SQLite says, and no other database."""
    found = too_deep(read_path(path), read_options(query), DEFAULT_LIMITS)
    assert str(found) == message


@pytest.mark.parametrize(
    "address",
    ["Itms", "Items(1)/nam", "Items(1)/place/cty", "$crossjoin(Itms,Makers)", "Bst", "Rankd"],
)
def test_a_sentence_ends_once(client: Client, address: str) -> None:
    error = client.refused(address)
    assert error["status"] == 404
    assert error["message"].endswith("'?")
