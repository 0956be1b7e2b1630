"""Random ``$apply``, ``$select``, ``$expand`` and whole sets of query options."""

from __future__ import annotations

import typing as t

from hypothesis import strategies as st

from app.odata.syntax.literals import INT64_MAX
from app.odata.syntax.nodes import (
    Aggregate,
    AggregateFrom,
    AggregateItem,
    Apply,
    Argument,
    Concat,
    Count,
    ExpandItem,
    ExpandTransformation,
    FunctionTransformation,
    GroupBy,
    Identity,
    Join,
    Literal,
    Member,
    Nest,
    NestItem,
    Node,
    OptionTransformation,
    QueryOptions,
    Rollup,
    SelectItem,
    TopBottom,
    Transformation,
)
from tests.odata.strategies import (
    compute_items,
    expressions,
    names,
    order_items,
    qualified_names,
    searches,
)
from tests.odata.trees import walk

row_counts = st.builds(Literal, st.integers(0, 99) | st.integers(0, INT64_MAX), st.just("integer"))
_paths: st.SearchStrategy[Node] = st.lists(names, min_size=1, max_size=3).map(
    lambda steps: _member(steps)
)


def _member(steps: list[str]) -> Node:
    path: Node | None = None
    for step in steps:
        path = Member(path, step)
    assert path is not None
    return path


def tuples(
    items: st.SearchStrategy[t.Any], least: int = 1, most: int = 2
) -> st.SearchStrategy[tuple[t.Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


# --- $apply

_methods = st.sampled_from(["sum", "min", "max", "average", "countdistinct", "My.Method"])
_origins = tuples(st.builds(AggregateFrom, tuples(_paths), st.none() | _methods), 0, 2)
_aggregate_items = st.one_of(
    st.builds(
        AggregateItem,
        expressions(3).filter(lambda node: not isinstance(node, Count)),
        _methods,
        names,
        _origins,
    ),
    st.builds(AggregateItem, st.builds(Count, st.none() | _paths), st.none(), names, _origins),
    st.builds(AggregateItem, _paths, st.none(), names, _origins),
    st.builds(AggregateItem, _paths),
)
_top_bottom = st.sampled_from(
    ["topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent"]
)
_simple = st.one_of(
    st.just(Identity()),
    st.builds(Aggregate, tuples(_aggregate_items)),
    st.builds(OptionTransformation, st.just("filter"), expressions(3)),
    st.builds(OptionTransformation, st.just("search"), searches()),
    st.builds(OptionTransformation, st.just("compute"), tuples(compute_items)),
    st.builds(OptionTransformation, st.just("orderby"), tuples(order_items)),
    st.builds(OptionTransformation, st.just("top"), row_counts),
    st.builds(OptionTransformation, st.just("skip"), row_counts),
    st.builds(TopBottom, _top_bottom, expressions(2), expressions(2)),
    st.builds(GroupBy, tuples(_paths | st.builds(Rollup, tuples(_paths), st.booleans()))),
    st.builds(
        FunctionTransformation,
        qualified_names,
        tuples(st.builds(Argument, names, expressions(2)), 0),
    ),
)


def _composed(inner: st.SearchStrategy[Transformation]) -> st.SearchStrategy[Transformation]:
    sequences = st.builds(Apply, tuples(inner))
    items = tuples(st.builds(NestItem, sequences, names))
    expands = st.builds(ExpandTransformation, _paths)
    return st.one_of(
        st.builds(GroupBy, tuples(_paths), sequences),
        st.builds(Concat, tuples(sequences, 2, 3)),
        st.builds(Nest, items, st.none() | _paths),
        st.builds(Join, _paths, names, st.none() | sequences, outer=st.booleans()),
        st.builds(ExpandTransformation, _paths, st.none() | sequences, tuples(expands, 0)),
    )


def applies() -> st.SearchStrategy[Apply]:
    """Any ``$apply``."""
    return st.builds(Apply, tuples(st.recursive(_simple, _composed, max_leaves=4), 1, 3)).filter(
        _expands_only_last
    )


def _expands_only_last(apply: Apply) -> bool:
    """An expand(...) alone as the transformations of another expand reads as a nested expand."""
    return not any(
        isinstance(node, ExpandTransformation)
        and node.apply is not None
        and len(node.apply.transformations) == 1
        and isinstance(node.apply.transformations[0], ExpandTransformation)
        for node in walk(apply)
    )


# --- $select, $expand and all together

_terms = qualified_names.map("@{}".format)
_select_paths = st.one_of(
    st.just(("*",)),
    qualified_names.map(lambda name: (name.rsplit(".", 1)[0] + ".*",)),
    tuples(names | qualified_names | _terms, 1, 3),
)
_expand_paths = tuples(names | qualified_names | _terms, 1, 3)


def _is_plain(path: tuple[str, ...]) -> bool:
    return not path[0].endswith("*")


_aliases = st.dictionaries(names, expressions(2), max_size=1)
_lists: dict[str, st.SearchStrategy[t.Any]] = {
    "filter": st.none() | expressions(4),
    "orderby": tuples(order_items, 0),
    "compute": tuples(compute_items, 0),
    "search": st.none() | searches(),
    "top": st.none() | row_counts,
    "skip": st.none() | row_counts,
    "count": st.none() | st.booleans(),
    "aliases": _aliases,
}
_nested_select = st.builds(QueryOptions, **_lists, select=tuples(_select_paths.map(SelectItem), 0))
select_items = st.one_of(
    st.builds(SelectItem, _select_paths),
    st.builds(SelectItem, _select_paths.filter(_is_plain), parameters=tuples(names)),
    st.builds(
        SelectItem,
        _select_paths.filter(_is_plain),
        _nested_select.filter(lambda o: o != QueryOptions()),
    ),
)
_levels = st.builds(QueryOptions, levels=st.integers(1, 99) | st.just("max"))
_count_options = st.builds(QueryOptions, filter=expressions(3), search=st.none() | searches())


def _expand_items(
    options: st.SearchStrategy[QueryOptions | None],
) -> st.SearchStrategy[ExpandItem]:
    star = _expand_paths.map(lambda path: (*path[:-1], "*"))
    return st.one_of(
        st.just(ExpandItem(("$value",))),
        st.builds(ExpandItem, star, st.none() | _levels, star=st.just(True)),
        st.builds(ExpandItem, star, star=st.just(True), ref=st.just(True)),
        st.builds(ExpandItem, _expand_paths, st.none() | _count_options, count_only=st.just(True)),
        st.builds(ExpandItem, _expand_paths, st.none() | _count_options, ref=st.just(True)),
        st.builds(ExpandItem, _expand_paths, options.filter(lambda o: o != QueryOptions())),
    )


def _nested_options(
    inner: st.SearchStrategy[QueryOptions | None],
) -> st.SearchStrategy[QueryOptions | None]:
    return st.builds(
        QueryOptions,
        **_lists,
        select=tuples(select_items, 0),
        expand=tuples(_expand_items(inner), 0),
        levels=st.none() | st.integers(1, 99),
        apply=st.none() | applies(),
    )


_expand_options = st.recursive(st.none(), _nested_options, max_leaves=2)
expand_items = _expand_items(_expand_options)


def query_options() -> st.SearchStrategy[QueryOptions]:
    """The options of a whole query string."""
    return st.builds(
        QueryOptions,
        **_lists,
        select=tuples(select_items, 0),
        expand=tuples(expand_items, 0),
        apply=st.none() | applies(),
        index=st.none() | st.integers(-9, 9),
        custom=tuples(st.tuples(names.map("x-{}".format), names), 0),
    )
