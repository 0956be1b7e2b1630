"""Random queries: trees that the parser can make, for round trips and differential tests.

Any tree from here prints (``to_text``) to a text that parses to an equal tree. ``names`` can be
narrowed to the properties of a model by passing another strategy.
"""

from __future__ import annotations

import datetime as dt
import string
import typing as t
from decimal import Decimal

from hypothesis import strategies as st

from app.odata.functions import FUNCTIONS, OWN_SYNTAX
from app.odata.syntax.literals import INT64_MAX, INT64_MIN, NON_FINITE
from app.odata.syntax.nodes import (
    Alias,
    Annotation,
    Argument,
    Binary,
    BoundCall,
    Call,
    Case,
    Collection,
    ComputeItem,
    Count,
    FilterSegment,
    In,
    It,
    JsonObject,
    KeyPredicate,
    Lambda,
    Literal,
    LiteralKind,
    Member,
    Node,
    OrderItem,
    Root,
    SearchPhrase,
    SearchTerm,
    This,
    TypeCast,
    TypeName,
    Unary,
)

# Words with a meaning of their own where a path may begin, or right before a parenthesis.
_TAKEN = {"true", "false", "null", "inf", "nan", "not", "any", "all", "aggregate", "collection"}
_ARITHMETIC = ["add", "sub", "mul", "div", "divby", "mod"]
_BINARY = ["or", "and", "eq", "ne", "gt", "ge", "lt", "le", "has", *_ARITHMETIC]


def _is_free(name: str) -> bool:
    return name.lower() not in _TAKEN | {*FUNCTIONS, *OWN_SYNTAX}


Drawn = t.TypeVar("Drawn")


def named(name: str, strategy: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    """``strategy`` with a short name: written out in full, those of a grammar fill pages."""

    def draw_one(draw: st.DrawFn) -> Drawn:
        return draw(strategy)

    draw_one.__name__ = name
    return st.composite(draw_one)()


names = named(
    "names",
    st.one_of(
        st.sampled_from(
            ["name", "revenue", "createdAt", "Contacts", "eq", "desc", "x1", "_id", "Größe"]
        ),
        st.text(string.ascii_letters + "_", min_size=1, max_size=8),
    ).filter(_is_free),
)
qualified_names = named(
    "qualified_names",
    st.builds("{}.{}".format, st.sampled_from(["Ns", "My.Model", "Sales"]), names),
)
# A query string can hold any text but NUL, which no database stores.
texts = named(
    "texts",
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)

_offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(
    lambda minutes: dt.timezone(dt.timedelta(minutes=minutes))
)
_datetimes = st.builds(
    lambda moment, zone: moment.replace(tzinfo=zone),
    st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)),
    st.one_of(st.just(dt.UTC), _offsets),
)
_decimals = st.builds(
    lambda digits, scale: Decimal(digits).scaleb(-scale),
    st.integers(-(10**20), 10**20),
    st.integers(1, 6),
)
_beyond_int64 = st.integers(2**63, 2**70).map(Decimal) | st.integers(-(2**70), -(2**63) - 1).map(
    Decimal
)
_doubles = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(list(NON_FINITE.values()))
)
_VALUES: dict[LiteralKind, st.SearchStrategy[t.Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "integer": st.integers(INT64_MIN, INT64_MAX) | st.integers(-9, 99),
    "decimal": _decimals | _beyond_int64,
    "double": _doubles,
    "string": texts,
    "date": st.dates(),
    "datetime": _datetimes,
    "timeofday": st.times(),
    "duration": st.timedeltas(),
    "guid": st.uuids(),
    "binary": st.binary(max_size=9),
}
_enum_texts = st.lists(names | st.integers(-9, 99).map(str), min_size=1, max_size=3).map(",".join)


def literals(*kinds: LiteralKind) -> st.SearchStrategy[Literal]:
    """Literals of these kinds, by default of all."""
    chosen = kinds or tuple(_VALUES)
    plain = [st.builds(Literal, _VALUES[kind], st.just(kind)) for kind in chosen]
    if kinds:
        return named("literals", st.one_of(plain))
    enums = st.builds(Literal, _enum_texts, st.just("enum"), type_name=qualified_names | names)
    geos = st.builds(
        Literal,
        st.sampled_from(["SRID=0;Point(142.1 64.1)", "SRID=4326;LineString(1 2,3 4)"]),
        st.just("geo"),
        type_name=st.sampled_from(["geography", "geometry"]),
    )
    return named("literals", st.one_of(*plain, enums.filter(_is_no_known_prefix), geos))


def _is_no_known_prefix(literal: Literal) -> bool:
    prefix = (literal.type_name or "").lower()
    return prefix not in ("duration", "binary", "geography", "geometry")


aliases = st.builds(Alias, names)


def paths(inner: st.SearchStrategy[Node] | None = None) -> st.SearchStrategy[Node]:
    """A property path; with expressions as ``inner`` also keys, functions and filter segments."""
    return named("paths", _paths(inner))


@st.composite
def _paths(draw: st.DrawFn, inner: st.SearchStrategy[Node] | None) -> Node:
    first = draw(st.sampled_from(["member", "member", "$it", "$this", "cast", "root", "alias"]))
    path: Node
    if first == "member":
        path = Member(None, draw(names))
    elif first == "alias":
        path = draw(aliases)
    elif first == "cast":
        path = Member(TypeCast(None, draw(qualified_names)), draw(names))
    elif first == "root":
        path = Member(Root(), draw(names))
    else:
        path = It() if first == "$it" else This()
    for _ in range(draw(st.integers(0, 2))):
        path = draw(_steps(path, inner))
    return path


def _steps(base: Node, inner: st.SearchStrategy[Node] | None) -> st.SearchStrategy[Node]:
    steps: list[st.SearchStrategy[Node]] = [
        st.builds(Member, st.just(base), names),
        st.builds(TypeCast, st.just(base), qualified_names),
        st.builds(Annotation, st.just(base), qualified_names, st.none() | names),
    ]
    if inner is not None:
        key = st.tuples(st.builds(Argument, st.none(), literals() | aliases))
        arguments = st.lists(st.builds(Argument, names, inner), max_size=2).map(tuple)
        steps += [
            st.builds(KeyPredicate, st.builds(Member, st.just(base), names), key),
            st.builds(BoundCall, st.just(base), names | qualified_names, arguments),
            st.builds(FilterSegment, st.just(base), inner),
        ]
    return st.one_of(steps)


def calls(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Call]:
    """A canonical function with the right number of arguments."""
    return named("calls", _calls(inner))


@st.composite
def _calls(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Call:
    name = draw(st.sampled_from([*FUNCTIONS, "cast", "isof"]))
    if name in ("cast", "isof"):
        type_name = draw(st.builds(TypeName, qualified_names, st.booleans()))
        return Call(name, (*draw(st.lists(inner, max_size=1)), type_name))
    count = draw(st.sampled_from(FUNCTIONS[name].counts))
    return Call(name, tuple(draw(st.lists(inner, min_size=count, max_size=count))))


def _collections(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Collection]:
    items = st.lists(literals(), max_size=3) | st.lists(inner, max_size=3)
    return named("collections", st.builds(Collection, items.map(tuple)))


def _composed(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    sources = paths(inner)
    # Names that come twice are dropped: to draw anew, Hypothesis writes the whole strategy out.
    members = st.lists(st.tuples(texts, inner), max_size=3).map(
        lambda pairs: [*dict(pairs).items()]
    )
    return st.one_of(
        st.builds(Binary, st.sampled_from(_BINARY), inner, inner),
        st.builds(Binary, st.sampled_from(["and", "or"]), inner, inner),
        st.builds(Unary, st.sampled_from(["not", "neg"]), inner),
        st.builds(In, inner, _collections(inner) | inner),
        st.builds(Case, st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)),
        st.builds(Lambda, st.sampled_from(["any", "all"]), sources, names, inner),
        st.builds(Lambda, st.just("any"), sources),
        st.builds(Count, sources, st.none() | inner, st.none() | searches()),
        st.builds(JsonObject, members.map(tuple)),
        _collections(inner),
        calls(inner),
        paths(inner),
    )


def expressions(max_leaves: int = 12) -> st.SearchStrategy[Node]:
    """Any expression of the grammar, whether or not its types fit."""
    return named(
        "expressions", st.recursive(literals() | paths(), _composed, max_leaves=max_leaves)
    )


# --- $search


_words = st.text(string.ascii_letters + "-_.,:/'0123456789", min_size=1, max_size=6).filter(
    lambda word: not word.startswith("'")
)
_phrases = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)


def searches() -> st.SearchStrategy[Node]:
    """Any search expression; also those of words that could be operators."""
    leaves = st.one_of(
        st.builds(SearchTerm, _words | st.sampled_from(["AND", "OR", "NOT"])),
        st.builds(SearchPhrase, _phrases),
    )

    def composed(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.one_of(
            st.builds(Unary, st.just("NOT"), inner),
            st.builds(Binary, st.just("AND"), inner, inner),
            st.builds(Binary, st.just("OR"), inner, inner),
        )

    return named("searches", st.recursive(leaves, composed, max_leaves=6))


# --- $orderby, $compute


order_items = named("order_items", st.builds(OrderItem, expressions(4), st.booleans()))
compute_items = named("compute_items", st.builds(ComputeItem, expressions(4), names))
