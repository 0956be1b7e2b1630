"""Options behind a collection property in ``$select``: which of its members are shown, and how.

Source: URL Conventions 5.1.3 (``$select=tags($filter=startswith($this,'a');$top=2)``).
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import BigInteger

from app.odata.binding.collections import numbered_elements
from app.odata.binding.ordering import sort_keys
from app.odata.binding.translator import Translator
from app.odata.binding.values import Elements, Scope
from app.odata.errors import UnsupportedError
from app.odata.reading.bound import ShownMembers
from app.odata.syntax.nodes import QueryOptions


def shown_members(
    scope: Scope,
    it: Scope,
    collection: Elements,
    options: QueryOptions,
    parts: frozenset[str] | None,
    offset: int,
    *,
    is_it: bool = False,
) -> ShownMembers:
    """The members that ``options`` leave; in expressions a member is ``$this``, and the names of
    a complex one's properties are those of ``$this``.

    Args:
        is_it: a member is ``$it``, too, because the path of the request leads to the collection.
    Raises: QueryError; UnsupportedError, an option or a type of member is not offered.
    """
    offered = replace(
        options, select=(), filter=None, orderby=(), top=None, skip=None, count=None, aliases={}
    )
    if offered != QueryOptions():
        message = "of a collection $select takes $select, $filter, $orderby, $top, $skip, $count"
        raise UnsupportedError(message, offset)
    context = scope.context
    table, member, position = numbered_elements(context, collection, offset)
    translator = Translator(context, scope, it=it, this=member, it_is_member=is_it)
    with context.naming(options.aliases):
        conditions = () if options.filter is None else (translator.condition(options.filter),)
        order = tuple(sort_keys(translator, options.orderby))
    bind = context.parameters.bind
    return ShownMembers(
        table,
        member,
        position,
        context.next_name(),
        conditions,
        order,
        parts,
        None if options.top is None else bind(options.top, BigInteger),
        None if options.skip is None else bind(options.skip, BigInteger),
        bool(options.count),
    )
