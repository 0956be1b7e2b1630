"""Functions of texts that take collections as well: their members in order (URL 5.1.1.5).

``length(tags)``, ``contains(tags,['a','b'])``, ``startswith``, ``endswith``, ``indexof``.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, literal

from app.odata.binding.collections import count_rows
from app.odata.binding.protocol import Translating
from app.odata.binding.subsets import two_arrays
from app.odata.binding.values import Elements, Rows, Typed
from app.odata.errors import UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Predicate
from app.odata.syntax.nodes import Call, Collection, Count, Member, Node

# Arrays ``h`` and ``w`` of what is there and what is wanted.
_MEMBERS = (
    "ARRAY(SELECT e.v FROM json_array_elements_text({0}) WITH ORDINALITY AS e(v, k) ORDER BY e.k)"
)
_BOTH = f"(SELECT {_MEMBERS.format('o.a')} AS h, {_MEMBERS.format('o.b')} AS w)"  # nosec B608  # fixed text
_ON_POSTGRESQL = (
    "(SELECT CASE WHEN o.a IS NOT NULL AND o.b IS NOT NULL THEN {0} END"
    f" FROM (SELECT {{{{0}}}} AS a, {{{{1}}}} AS b OFFSET 0) AS o, LATERAL {_BOTH} AS l)"  # nosec B608
)
_PLACE = (
    "coalesce((SELECT min(g.i) FROM generate_series(0, cardinality(l.h) - cardinality(l.w))"
    " AS g(i) WHERE l.h[g.i + 1 : g.i + cardinality(l.w)] = l.w), -1)"
)
_CONDITIONS = {
    "contains": f"{_PLACE} >= 0",
    "startswith": "l.h[1 : cardinality(l.w)] = l.w",
    "endswith": (
        "cardinality(l.h) >= cardinality(l.w)"
        " AND l.h[cardinality(l.h) - cardinality(l.w) + 1 : cardinality(l.h)] = l.w"
    ),
}


def is_collection(translator: Translating, argument: Node) -> bool:
    """Whether an argument is a collection, so that a function of texts is one of collections."""
    node = translator.unaliased(argument)
    if isinstance(node, Collection):
        return True
    return isinstance(node, Member) and isinstance(translator.bind(node), Elements | Rows)


def collection_match(translator: Translating, node: Call) -> Predicate:
    """``contains``, ``startswith`` or ``endswith`` of two collections; null where one is."""
    arrays = two_arrays(translator, node, ordered=True)
    name = node.name
    return Predicate(
        f"odata_members_{name}({{0}}, {{1}})", _ON_POSTGRESQL.format(_CONDITIONS[name]), *arrays
    )


def collection_call(translator: Translating, node: Call) -> Typed:
    """``length`` of a collection, or ``indexof`` one in another.

    Raises: UnsupportedError, the function makes a collection.
    """
    if node.name == "length":
        counted = translator.unaliased(node.arguments[0])
        if isinstance(counted, Collection):
            return Typed(literal(len(counted.items), BigInteger), edm.INT32, nullable=False)
        return count_rows(translator, Count(node.arguments[0], offset=node.offset))
    if node.name != "indexof":
        message = f"{node.name} of collections is not offered, only of texts"
        raise UnsupportedError(message, node.offset)
    index = DialectSql(
        BigInteger(),
        "odata_members_indexof({0}, {1})",
        _ON_POSTGRESQL.format(_PLACE),
        *two_arrays(translator, node, ordered=True),
    )
    return Typed(index, edm.INT32)
