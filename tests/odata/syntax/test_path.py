"""Resource paths: segments, keys, what separates them, and their shapes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.literals import literal_text
from app.odata.syntax.nodes import (
    Alias,
    Argument,
    Binary,
    CrossJoinSegment,
    FilterPathSegment,
    KeySegment,
    Literal,
    Member,
    NameSegment,
    Segment,
    SystemSegment,
)
from app.odata.syntax.path import parse_path, read_path, shape_path
from tests.odata.strategies import literals


def number(value: int) -> Literal:
    return Literal(value, "integer")


def text(value: str) -> Literal:
    return Literal(value, "string")


def keyed(name: str, value: Literal | Alias) -> NameSegment:
    return NameSegment(name, (Argument(None, value),))


CLIENTS, CONTACTS = NameSegment("Clients"), NameSegment("Contacts")
COUNT = SystemSegment("$count")
AGE_GT_3 = Binary("gt", Member(None, "Age"), number(3))


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", []),
        ("/", []),
        ("Clients", [CLIENTS]),
        ("/Clients/$count", [CLIENTS, COUNT]),
        ("Clients(1)", [keyed("Clients", number(1))]),
        ("Clients(id=1)", [NameSegment("Clients", (Argument("id", number(1)),))]),
        ("Clients(@k)", [keyed("Clients", Alias("k"))]),
        ("Clients('O''Neil')", [keyed("Clients", text("O'Neil"))]),
        ("Clients(%27O%27%27Neil%27)", [keyed("Clients", text("O'Neil"))]),
        ("Clients%28%27x%27%29", [keyed("Clients", text("x"))]),
        ("Clients('a%2Fb')/Contacts", [keyed("Clients", text("a/b")), CONTACTS]),
        ("Clients('a/b')/Contacts", [keyed("Clients", text("a/b")), CONTACTS]),
        ("Clients('a)(b')", [keyed("Clients", text("a)(b"))]),
        ("Items(a=1,b='x')", [NameSegment("Items", (
            Argument("a", number(1)), Argument("b", text("x"))
        ))]),
        ("Clients/1/Contacts", [CLIENTS, KeySegment("1"), CONTACTS]),
        ("People/O'Neil/Contacts", [NameSegment("People"), KeySegment("O'Neil"), CONTACTS]),
        ("People/a%2Fb", [NameSegment("People"), KeySegment("a/b")]),
        ("People/A1", [NameSegment("People"), NameSegment("A1")]),
        ("Emails/-1", [NameSegment("Emails"), KeySegment("-1")]),
        ("Products/abcdef01-2345-6789-abcd-ef0123456789", [
            NameSegment("Products"), KeySegment("abcdef01-2345-6789-abcd-ef0123456789")
        ]),
        ("Clients(1)/Contacts/$ref", [
            keyed("Clients", number(1)), CONTACTS, SystemSegment("$ref")
        ]),
        ("Clients/Ns.T(1)", [CLIENTS, keyed("Ns.T", number(1))]),
        ("Clients/Ns.F(a=1,b=@x)(2)", [CLIENTS, NameSegment(
            "Ns.F",
            (Argument("a", number(1)), Argument("b", Alias("x"))),
            (Argument(None, number(2)),),
        )]),
        ("F()/$value", [NameSegment("F", ()), SystemSegment("$value")]),
        ("Clients/$filter(@f)/$filter(Age gt 3)/$count", [
            CLIENTS, FilterPathSegment(Alias("f")), FilterPathSegment(AGE_GT_3), COUNT
        ]),
        ("Clients/$filter(Age%20gt%203)(id='x')", [
            CLIENTS, FilterPathSegment(AGE_GT_3, (Argument("id", text("x")),))
        ]),
        ("Clients/$each/Ns.A", [CLIENTS, SystemSegment("$each"), NameSegment("Ns.A")]),
        ("Clients/$query", [CLIENTS, SystemSegment("$query")]),
        ("$metadata", [SystemSegment("$metadata")]),
        ("$batch", [SystemSegment("$batch")]),
        ("$all/Ns.T", [SystemSegment("$all"), NameSegment("Ns.T")]),
        ("$entity/Ns.T", [SystemSegment("$entity"), NameSegment("Ns.T")]),
        ("$crossjoin(A, B)/$query", [CrossJoinSegment(("A", "B")), SystemSegment("$query")]),
        ("%C3%A9t%C3%A9(1)", [keyed("été", number(1))]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_segments(path: str, segments: list[Segment]) -> None:
    assert parse_path(path).segments == tuple(segments)


def test_offsets_are_those_of_the_decoded_path() -> None:
    first, second = parse_path("/Clients(%27x%27)/Contacts").segments
    assert (first.offset, second.offset) == (1, 14)
    assert isinstance(first, NameSegment)
    assert first.arguments is not None
    assert first.arguments[0].value.offset == 9


@pytest.mark.parametrize(
    ("path", "offset", "message"),
    [
        ("//Clients", 1, "empty"),
        ("Clients//Contacts", 8, "empty"),
        ("Clients/", 8, "empty"),
        ("Clients(1", 7, "not closed"),
        ("Clients('x)", 8, "no closing quote"),
        ("Clients('O%27Neil')", 15, "no closing quote"),
        ("Clients(1)x", 10, "the end of the segment"),
        ("Clients(wrong)", 7, "the value of a key"),
        ("Clients(id=wrong)", 11, "a literal or a parameter alias"),
        ("Clients(a=1;b=2)", 11, "expected ')'"),
        ("Clients(2024-02-30)", 8, "no such date"),
        ("Clients.('x')", 0, "an entity set"),
        ("1", 0, "an entity set"),
        ("$count", 0, "an entity set"),
        ("$each", 0, "an entity set"),
        ("$foo", 0, "unknown path segment '$foo'"),
        ("Clients/$foo", 8, "unknown path segment '$foo'"),
        ("Clients/$metadata", 8, "only be the first"),
        ("Clients/$crossjoin(A)", 8, "only be the first"),
        ("Clients/$count/x", 15, "nothing can follow $count"),
        ("Clients(1)/$ref/$count", 16, "nothing can follow $ref"),
        ("Clients(1)/name/$value/x", 23, "nothing can follow $value"),
        ("$metadata/x", 10, "nothing can follow $metadata"),
        ("$all/$count", 5, "only the name of a type"),
        ("$crossjoin(A)/B", 14, "only $query"),
        ("$crossjoin()", 11, "an entity set"),
        ("Clients/$filter()", 16, "an operand"),
        ("Clients/$filter(a eq)", 20, "an operand after 'eq'"),
        ("Clients/$countx", 8, "unknown path segment"),
        ("Clients/%00", 8, "NUL"),
        ("Clients/%FF", None, "UTF-8"),
    ],
)
def test_wrong_path_is_refused_at_the_character(
    path: str, offset: int | None, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse_path(path)
    assert (caught.value.offset, caught.value.option) == (offset, None)
    assert message in caught.value.message


def test_number_of_segments_is_bounded() -> None:
    parse_path("a" + "/a" * 9, limits=Limits(depth=5))
    with pytest.raises(QueryError, match="too many segments"):
        parse_path("a" + "/a" * 10, limits=Limits(depth=5))


@pytest.mark.parametrize(
    ("path", "lifted", "values"),
    [
        ("Clients", "Clients", []),
        ("Clients(5)/Contacts('x/y')/$count", "Clients(\0i)/Contacts(\0s)/$count", [5, "x/y"]),
        ("Clients(id=5)", "Clients(id=\0i)", [5]),
        ("Clients('a%2Fb')", "Clients(\0s)", ["a/b"]),
        ("Clients/5", "\0\0Clients/5", []),
        ("Clients/5/F(a=6)", "\0\0Clients/5/F(a=6)", []),
        ("Clients/a%2Fb", "\0\0Clients/a\0b", []),
        ("P/$filter(x in (1,2))", "\0\0P/$filter(x in (1,2))", []),
    ],
)
def test_shape(path: str, lifted: str, values: list[object]) -> None:
    read = read_path(path)
    assert shape_path(read) == (lifted, values)
    assert parse_path(read).slots == len(values)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["A", "Ns.F"]), literals() | st.none()), min_size=1, max_size=3
    )
)
def test_slots_of_a_path_are_the_places_in_its_list_of_literals(
    steps: list[tuple[str, Literal | None]],
) -> None:
    raw = "/".join(
        name
        if key is None
        else f"{name}({literal_text(key.value, key.kind, key.type_name)})".replace(
            "%", "%25"
        ).replace("/", "%2F")
        for name, key in steps
    )
    read = read_path(raw)
    _, values = shape_path(read)
    parsed = parse_path(read)
    keys = [
        segment.arguments[0].value
        for segment in parsed.segments
        if isinstance(segment, NameSegment) and segment.arguments
    ]
    assert keys == [key for _, key in steps if key is not None]
    lifted = [key for key in keys if isinstance(key, Literal) and key.slot is not None]
    assert [key.slot for key in lifted] == list(range(len(values)))
    assert [key.value for key in lifted] == values
