"""Query strings: decoding, names, duplicates, values, aliases and custom options."""

from __future__ import annotations

from typing import Any

import pytest

from app.odata.errors import QueryError
from app.odata.syntax.nodes import (
    Alias,
    Binary,
    Collection,
    ComputeItem,
    JsonObject,
    Literal,
    Member,
    OrderItem,
    QueryOptions,
    SearchPhrase,
)
from app.odata.syntax.options import (
    COLLECTION_OPTIONS,
    COUNT_OPTIONS,
    ENTITY_OPTIONS,
    OptionTexts,
    parse_options,
    read_options,
    refuse_others,
)

A, B = Member(None, "a"), Member(None, "b")


def text(value: str) -> Literal:
    return Literal(value, "string")


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", {}),
        ("&&", {}),
        ("$filter=a eq 'x'", {"filter": Binary("eq", A, text("x"))}),
        ("filter=a", {"filter": A}),
        ("$FILTER=a", {"filter": A}),
        ("%24filter=a+eq+%27x%2By%27", {"filter": Binary("eq", A, text("x+y"))}),
        ("$filter=a%20eq%20%27%C3%A9%E2%82%AC%26=%27", {"filter": Binary("eq", A, text("é€&="))}),
        (b"$filter=a eq '\xc3\xa9'", {"filter": Binary("eq", A, text("é"))}),
        ("$filter=a eq '50%'", {"filter": Binary("eq", A, text("50%"))}),
        ("$orderby=a desc, b asc,b", {"orderby": (
            OrderItem(A, True), OrderItem(B), OrderItem(B)
        )}),
        ("$OrderBy=a add 1 desc", {"orderby": (
            OrderItem(Binary("add", A, Literal(1, "integer")), True),
        )}),
        ("$compute=a mul 2 as c", {"compute": (
            ComputeItem(Binary("mul", A, Literal(2, "integer")), "c"),
        )}),
        ("$top=5&skip=007", {"top": Literal(5, "integer"), "skip": Literal(7, "integer")}),
        ("$count=true", {"count": True}),
        ("count=FALSE", {"count": False}),
        ("$search=%22blue+green%22", {"search": SearchPhrase("blue green")}),
        ("$index=-42", {"index": -42}),
        ("$index=", {}),
        ("$filter=a eq @v&@v='x'", {
            "filter": Binary("eq", A, Alias("v")), "aliases": {"v": text("x")}
        }),
        ("@c={\"x\":[1]}&@d=a gt b", {"aliases": {
            "c": JsonObject((("x", Collection((Literal(1, "integer"),))),)),
            "d": Binary("gt", A, B),
        }}),
        ("find=O%27Neil&!special&find=2", {
            "custom": (("find", "O'Neil"), ("!special", ""), ("find", "2"))
        }),
    ],
    ids=lambda value: value if isinstance(value, str | bytes) else "",
)  # fmt: skip
def test_query_string(query: str | bytes, options: dict[str, Any]) -> None:
    assert parse_options(query) == QueryOptions(**options)


def test_pairs_are_decoded_already() -> None:
    assert parse_options([("$filter", "a eq '+%20'")]).filter == Binary("eq", A, text("+%20"))


@pytest.mark.requirement("SEC-76")
@pytest.mark.parametrize(
    ("query", "option", "offset", "message"),
    [
        ("$filtre=a", "$filtre", 0, "unknown query option '$filtre'; did you mean 'filter'?"),
        ("$filter =a", "$filter ", 0, "unknown query option '$filter '"),
        ("$levels=2", "$levels", 0, "unknown query option '$levels'"),
        ("$top=1&$top=1", "$top", 0, "$top must not appear more than once"),
        ("$top=1&top=2", "$top", 0, "$top must not appear more than once"),
        ("$Top=1&$top=2", "$top", 0, "$top must not appear more than once"),
        ("@a=1&@a=2", "@a", 0, "@a must not appear more than once"),
        ("@1=1", "@1", 0, "'@1' is not the name of a parameter alias"),
        ("$filter=%FF", "$filter", 0, "not UTF-8"),
        (b"$filter=\xff", None, None, "not UTF-8"),
        ("$filter=a eq '%00'", "$filter", 6, "NUL"),
        ("$filter=", "$filter", 0, "expected an expression"),
        ("$filter=a eq", "$filter", 4, "expected an operand after 'eq'"),
        ("$orderby=a,", "$orderby", 2, "expected an operand after ','"),
        ("$orderby=a down", "$orderby", 2, "expected an operator or the end"),
        ("$compute=a", "$compute", 1, "invalid compute expression format"),
        ("$compute=a as", "$compute", 4, "a blank and a name"),
        ("$compute=a as Ns.x", "$compute", 5, "a name without dots"),
        ("$top=-1", "$top", 0, "whole number"),
        ("$top=%2B1", "$top", 0, "whole number"),
        ("$top=", "$top", 0, "whole number"),
        ("$top=x", "$top", 0, "whole number"),
        ("$skip=9223372036854775808", "$skip", 0, "whole number"),
        ("$count", "$count", 0, "true or false"),
        ("$count=1", "$count", 0, "true or false"),
        ("$search=", "$search", 0, "expected a word"),
        ("$index=x", "$index", 0, "whole number"),
        ("@a=b eq", "@a", 4, "expected an operand after 'eq'"),
    ],
)
def test_wrong_query_string(
    query: str | bytes, option: str | None, offset: int | None, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse_options(query)
    assert (caught.value.option, caught.value.offset) == (option, offset)
    assert message in caught.value.message


def test_error_text_names_option_and_position() -> None:
    with pytest.raises(QueryError) as caught:
        parse_options("$filter=a eq")
    assert str(caught.value) == ("invalid $filter at position 4: expected an operand after 'eq'")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "application/json;odata.metadata=full"),
        ("skiptoken", "Start@Next:From?=Here!"),
        ("deltatoken", "A"),
        ("schemaversion", "*"),
        ("id", "Clients(1)"),
    ],
)
def test_what_is_one_word_is_read_as_a_text(name: str, value: str) -> None:
    texts = read_options(f"${name}={value}")
    assert texts.system == {name: value}
    assert parse_options(texts) == QueryOptions()


def test_only_allowed_options_are_taken() -> None:
    refuse_others(read_options("$top=1&$select=a"), COLLECTION_OPTIONS)
    refuse_others(read_options("$top=1&$filter=a"), COUNT_OPTIONS)
    with pytest.raises(QueryError, match=r"\$top is not allowed") as caught:
        refuse_others(read_options("$select=a&$top=1"), ENTITY_OPTIONS)
    assert caught.value.option == "$top"


def test_parameters_of_a_function_are_custom_options_unless_they_have_a_dollar_sign() -> None:
    texts = read_options("count=5&$count=true", parameters={"count"})
    assert texts == OptionTexts({"count": "true"}, {}, (("count", "5"),))


def test_options_with_aliases_can_be_keys_of_a_dictionary() -> None:
    assert len({parse_options("$filter=@a&@a=1"), parse_options("$filter=@a&@a=1")}) == 1
