"""``$expand``: related entities inside an entity (Protocol 11.2.5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from app.odata.binding.context import Context
from app.odata.binding.paths import navigation_of
from app.odata.binding.values import Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.reading.addresses import related_address
from app.odata.reading.bound import BoundQuery, ExpandMember
from app.odata.reading.expansion_links import Remainder
from app.odata.sql.dialect_sql import Part
from app.odata.syntax.nodes import ExpandItem, QueryOptions

# From here on SQLite's parser takes little more than the expanded entities.
_DEEP = 3


class Binding(Protocol):
    """What an expansion asks of the binder: the same for the level below."""

    context: Context
    max_depth: int

    def bind(
        self, scope: Scope, options: QueryOptions, address: Sequence[Part], *,
        it: Scope | None = None, depth: int = 0,
    ) -> BoundQuery:  # fmt: skip
        ...


def expand_members(
    binder: Binding,
    query: BoundQuery,
    items: Sequence[ExpandItem],
    address: Sequence[Part],
    depth: int,
) -> Iterator[ExpandMember]:
    """The navigation properties that ``$expand`` shows, each once.

    Raises: QueryError, a name is no navigation property, or the nesting is too deep;
        ForbiddenError, related entities may not be read.
    """
    already = {name for name in query.scope.nested if name in query.scope.type.navigation}
    container = binder.context.container
    named = {
        navigation_of(_seen_as(container, query.scope.type, item), item).name
        for item in items
        if not item.star and item.path != ("$value",)
    }
    for item in items:
        type_ = query.scope.type
        if item.star:
            expanded = _starred(binder, query.scope.type, item, depth)
        elif item.path == ("$value",):
            raise UnsupportedError("$expand=$value is not offered", item.offset)
        else:
            type_ = _seen_as(container, query.scope.type, item)
            expanded = [(navigation_of(type_, item), item)]
        for navigation, expand_item in expanded:
            if item.star and navigation.name in named:
                continue
            if navigation.name in already:
                raise QueryError(f"{navigation.name} is expanded twice", item.offset)
            already.add(navigation.name)
            member = expand_member(binder, query, navigation, expand_item, address, depth)
            special = not item.star and type_ is not query.scope.type
            yield replace(member, of=type_) if special else member


def _seen_as(
    container: edm.EntityContainer, type_: edm.EntityType, item: ExpandItem
) -> edm.EntityType:
    """The type whose navigation property an item names: ``Namespace.Special/Parts``."""
    if len(item.path) == 1 or "." not in item.path[0]:
        return type_
    seen = container.type_called(item.path[0])
    return seen if seen is not None and seen in container.derived(type_) else type_


def expand_member(
    binder: Binding,
    query: BoundQuery,
    navigation: edm.NavigationProperty,
    item: ExpandItem,
    address: Sequence[Part],
    depth: int,
    *,
    name: str = "",
) -> ExpandMember:
    """The entities that one navigation property leads to, shown under its name or another."""
    if depth >= binder.max_depth:
        raise QueryError(f"$expand goes at most {binder.max_depth} levels deep", item.offset)
    binder.context.budget.expand(item.offset)
    if not navigation.collection:
        _refuse_options_of_collections(navigation, item)
    container = binder.context.container
    scope = Scope(binder.context, container.target(navigation))
    related = related_address(container, scope, navigation, address)
    if (wanted := _type_cast(container, navigation, item)) not in (None, scope.type):
        scope.narrow_to(wanted)
        scope.is_announced = True
    options = _with_levels(item, navigation, item.options or QueryOptions(), depth, binder)
    with binder.context.naming(options.aliases):
        inner = binder.bind(
            scope,
            options,
            related,
            it=query.translator.it,
            depth=depth + 1,
        )
    inner.conditions.insert(0, navigation.join(query.scope.columns, scope.columns))
    return ExpandMember(
        name or navigation.name,
        navigation.collection,
        inner,
        item.ref,
        item.count_only,
        recursive=bool(item.options and item.options.levels)
        and navigation.name in container.target(navigation).navigation,
        remainder=_next_link(binder.context, navigation, item, options, address, depth),
    )


def _next_link(
    context: Context,
    navigation: edm.NavigationProperty,
    item: ExpandItem,
    options: QueryOptions,
    address: Sequence[Part],
    depth: int,
) -> Remainder | None:
    if not navigation.collection or item.count_only or not address:
        return None
    context.expanded.append(options)
    ending = "/$ref" if item.ref else ""
    link = [*address, "/", "/".join(item.path), ending]
    return Remainder(len(context.expanded) - 1, link, is_deep=depth >= _DEEP)


def _refuse_options_of_collections(navigation: edm.NavigationProperty, item: ExpandItem) -> None:
    """Raise QueryError for what only a collection has: order, places and a number of members.

    ``$filter`` and ``$search`` leave one entity out or not, as OData 4.0 has it (docs/adr/0020).
    """
    name, options = navigation.name, item.options or QueryOptions()
    if item.count_only:
        raise QueryError(f"{name} is one entity, which is not counted", item.offset)
    named_options = {
        "$orderby": options.orderby and options.orderby[0],
        "$skip": options.skip,
        "$top": options.top,
        "$count": None if options.count is None else item,
    }
    for option, node in named_options.items():
        if node:
            raise QueryError(f"{option} is for collections, {name} is one entity", node.offset)


def _type_cast(
    container: edm.EntityContainer, navigation: edm.NavigationProperty, item: ExpandItem
) -> edm.EntityType | None:
    """The type that an item names behind its property: ``Products/Namespace.Special``.

    Raises: QueryError, no entity that the property leads to can be of it.
    """
    name = item.path[-1]
    if "." not in name:
        return None
    target = container.target(navigation)
    type_ = container.type_called(name)
    if type_ is not None and target in type_.lineage:
        return type_
    raise QueryError(f"no {target.name} is of the type {name}", item.offset)


def _with_levels(
    item: ExpandItem,
    navigation: edm.NavigationProperty,
    options: QueryOptions,
    depth: int,
    binder: Binding,
) -> QueryOptions:
    """``$levels=n`` as n nested expansions of the same property."""
    levels = options.levels
    if levels is None:
        return options
    left = _levels_below(item, levels, depth, binder)
    if left <= 0:
        return replace(options, levels=None)
    following = _following(binder.context.container, navigation)
    if following is None:
        return replace(options, levels=None)
    more: int | Literal["max"] = "max" if levels == "max" else left
    behind = item.path[-1:] if "." in item.path[-1] else ()
    nested = replace(item, path=(following, *behind), options=replace(options, levels=more))
    if following != navigation.name:  # options about one type mean nothing to the other
        nested = replace(nested, path=(following,), options=QueryOptions(levels=more))
    others = tuple(other for other in options.expand if other.path != nested.path)
    return replace(options, levels=None, expand=(*others, nested))


def _levels_below(
    item: ExpandItem, levels: int | Literal["max"], depth: int, binder: Binding
) -> int:
    if levels == "max":
        return binder.max_depth - depth - 1
    if levels > binder.max_depth - depth:
        raise QueryError(f"$expand goes at most {binder.max_depth} levels deep", item.offset)
    return levels - 1


def _following(container: edm.EntityContainer, navigation: edm.NavigationProperty) -> str | None:
    """The next level of a navigation property: itself, or the way back where it cannot go on."""
    target = container.target(navigation)
    return next(
        (name for name in (navigation.name, navigation.partner) if name in target.navigation), None
    )


def _starred(
    binder: Binding, type_: edm.EntityType, item: ExpandItem, depth: int
) -> list[tuple[edm.NavigationProperty, ExpandItem]]:
    """Every navigation property whose target the caller may read.

    With ``$levels`` each has all of its own in it, and so on (URL Conventions 5.1.3).
    """
    below: QueryOptions | None = None
    levels = None if item.options is None else item.options.levels
    if levels is not None:
        most = 1 + _levels_below(item, levels, depth, binder)
        possible = _possible_levels(binder.context, type_, most)
        if possible < most and levels != "max":
            raise binder.context.budget.too_wide(item.offset)
        if possible > 1:
            below = QueryOptions(expand=(replace(item, options=QueryOptions(levels=possible - 1)),))
    return [
        (navigation, replace(item, path=(navigation.name,), options=below, star=False))
        for navigation in _readable(binder.context, type_)
    ]


def _possible_levels(context: Context, type_: edm.EntityType, most: int) -> int:
    """How many levels of everything, up to ``most``, a query has room for."""
    types, total = [type_], 0
    for level in range(most):
        types = [
            context.container.target(navigation)
            for target_type in types
            for navigation in _readable(context, target_type)
        ]
        total += len(types)
        if total > context.budget.expansions:
            return level
    return most


def _readable(context: Context, type_: edm.EntityType) -> list[edm.NavigationProperty]:
    return [
        navigation
        for navigation in type_.navigation.values()
        if context.may_read(context.container.target(navigation))
    ]
