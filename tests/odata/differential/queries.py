"""Random queries as values: which option is put to the proof, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.odata.reading.filters import conditions, decimals, integers, texts


@dataclass(frozen=True)
class FilterQuery:
    """Which rows."""

    filter: str


@dataclass(frozen=True)
class OrderQuery:
    """In which order: expressions, each perhaps descending."""

    keys: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class ComputeQuery:
    """Which values, of a text, a whole number, a decimal and a condition."""

    text: str
    integer: str
    decimal: str
    condition: str


@dataclass(frozen=True)
class ApplyQuery:
    """Rows that fulfil ``filter`` grouped by ``keys``, each ``(property, method)`` aggregated."""

    filter: str | None
    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, str], ...]


Query = FilterQuery | OrderQuery | ComputeQuery | ApplyQuery

KEYS = ("level", "active", "checked", "count", "note", "made", "makerId")
AGGREGATES = (
    ("size", "sum"), ("size", "min"), ("size", "max"), ("count", "average"), ("price", "sum"),
    ("price", "average"), ("cost", "sum"), ("cost", "min"), ("cost", "max"), ("cost", "average"),
    ("note", "min"), ("note", "max"), ("note", "countdistinct"), ("level", "countdistinct"),
    ("made", "min"), ("seen", "max"), ("makerId", "countdistinct"),
)  # fmt: skip

_ordered = st.one_of(texts(1), integers(1), decimals(1), st.sampled_from(
    ["size", "cost", "made", "seen", "level", "Maker/rank", "Parent/price", "checked"]
))  # fmt: skip
QUERIES: st.SearchStrategy[Query] = st.one_of(
    conditions(2).map(FilterQuery),
    conditions(1).map(FilterQuery),
    st.lists(st.tuples(_ordered, st.booleans()), min_size=1, max_size=3).map(
        lambda keys: OrderQuery(tuple(keys))
    ),
    st.builds(ComputeQuery, texts(2), integers(2), decimals(2), conditions(1)),
    st.builds(
        ApplyQuery,
        st.none() | conditions(1),
        st.lists(st.sampled_from(KEYS), unique=True, max_size=2).map(tuple),
        st.lists(st.sampled_from(AGGREGATES), unique=True, min_size=1, max_size=4).map(tuple),
    ),
)


def address_options(query: Query) -> dict[str, str]:
    """The options of the request that asks ``query``."""
    match query:
        case FilterQuery(filter=text):
            return {"$filter": text, "$select": "id", "$orderby": "id"}
        case OrderQuery(keys=keys):
            written = ",".join(f"{key} desc" if down else key for key, down in keys)
            return {"$orderby": written, "$select": "id"}
        case ComputeQuery():
            values = (query.text, query.integer, query.decimal, query.condition)
            pairs = zip(values, "tidc", strict=True)
            compute = ",".join(f"{value} as {name}" for value, name in pairs)
            return {"$compute": compute, "$select": "id,t,i,d,c", "$orderby": "id"}
        case ApplyQuery(filter=text, keys=keys):
            values = [
                f"{name} with {method} as a{place}"
                for place, (name, method) in enumerate(query.aggregates)
            ]
            aggregate = f"aggregate({','.join([*values, '$count as n'])})"
            if keys:
                aggregate = f"groupby(({','.join(keys)}),{aggregate})"
            return {"$apply": aggregate if text is None else f"filter({text})/{aggregate}"}
