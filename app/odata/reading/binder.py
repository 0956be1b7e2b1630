"""QueryOptions resolved against an entity type: what a query means, or why it is refused.

What ``$expand`` shows inside an entity is bound as a query of its own, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from sqlalchemy import BigInteger

from app.odata.aggregation.pipeline import transformed
from app.odata.aggregation.rowset import RowSet
from app.odata.binding.context import Context
from app.odata.binding.derived import is_entity, is_unique
from app.odata.binding.ordering import order_keys
from app.odata.binding.paths import navigation_of, seen_as
from app.odata.binding.search_condition import search_condition
from app.odata.binding.translator import Translator
from app.odata.binding.values import Scope
from app.odata.errors import QueryError, UnsupportedError, option
from app.odata.model import edm
from app.odata.protocol.negotiation import Version
from app.odata.reading.bound import BoundQuery, ExpandMember, Projection
from app.odata.reading.entity_json import entity_address, related_address
from app.odata.reading.expansion_links import Remainder
from app.odata.reading.selection import selected_members, selected_operations, selection_text
from app.odata.sql.dialect_sql import Part
from app.odata.syntax.nodes import ExpandItem, QueryOptions

# On the last level SQLite's parser takes little more than the expanded entities.
_DEEP = 4


class QueryBinder:
    """Binds the options of a query and of everything expanded in it."""

    def __init__(self, context: Context, *, max_depth: int = 5, version: Version = "4.0") -> None:
        self.context = context
        self.max_depth = max_depth
        self._version = version  # of the answer: it decides what the context URL tells

    def bind(
        self,
        scope: Scope,
        options: QueryOptions,
        address: Sequence[Part],
        *,
        it: Scope | None = None,
        depth: int = 0,
    ) -> BoundQuery:
        """One level of a query.

        Args:
            address: the URL of an entity of ``scope``, see ``Projection``.
            depth: how many expansions lead here.
        Raises: QueryError; ForbiddenError, something in it may not be read.
        """
        query = self.rows(scope, options, it=it)
        query.address, query.depth = address, depth
        scope = query.scope
        with option("$orderby", is_nested=depth > 0):
            query.order = order_keys(query.translator, options.orderby or query.given_order)
            query.total_order = is_entity(scope) or is_unique(scope)
        with option("$select", is_nested=depth > 0):
            members = list(selected_members(scope, options.select, query.translator.it))
            operations = selected_operations(scope, options.select)
        with option("$apply", is_nested=depth > 0):
            expanded = list(self._nested(query, options))
        with option("$expand", is_nested=depth > 0):
            expanded += self._expanded(query, options.expand)
        query.projection = Projection(
            scope,
            [*members, *expanded],
            address,
            selection_text(scope, options, members, expanded, self._version),
            operations,
        )
        parameters = self.context.parameters
        if options.top is not None:
            query.top = parameters.bind(options.top, BigInteger)
        if options.skip is not None:
            query.skip = parameters.bind(options.skip, BigInteger)
        query.count = bool(options.count)
        return query

    def _nested(self, query: BoundQuery, options: QueryOptions) -> Iterator[ExpandMember]:
        """What ``$apply`` put into the rows."""
        for name, nested in query.scope.nested.items():
            members = nested.reading
            if isinstance(members, ExpandItem):
                navigation = navigation_of(query.scope.type, members)
                yield self._related(query, navigation, members, name)
            else:
                assert isinstance(members, RowSet)
                yield ExpandMember(name, True, self._row_set(members, options))

    def _row_set(self, rows: RowSet, options: QueryOptions) -> BoundQuery:
        """The rows that ``nest`` made, with all that there is of them."""
        scope = rows.scope
        query = BoundQuery(rows.translator(), scope, rows.conditions)
        query.order = order_keys(query.translator, rows.order)
        if scope.type.key:
            home = self.context.container.set_of_type.get(scope.type.name)
            if home is None:
                raise UnsupportedError(
                    f"nest() does not show each {scope.type.name}: it has no set"
                )
            query.address = entity_address(scope, home.name)
        members = list(selected_members(scope, ()))
        nested = list(self._nested(query, options))
        applied = QueryOptions(apply=options.apply)
        selected = selection_text(scope, applied, members, nested, self._version)
        query.projection = Projection(scope, [*members, *nested], query.address, selected)
        return query

    def rows(self, scope: Scope, options: QueryOptions, *, it: Scope | None = None) -> BoundQuery:
        """Which rows: ``$apply``, ``$compute``, ``$filter`` and ``$search``, in this order."""
        rows = RowSet(scope, list(scope.conditions))
        if options.apply is not None:
            if it is not None:
                raise UnsupportedError("$apply is not offered inside $expand", options.apply.offset)
            with option("$apply"):
                rows = transformed(rows, options.apply)
        translator = Translator(self.context, rows.scope, it=it)
        query = BoundQuery(translator, rows.scope, rows.conditions, given_order=rows.order)
        with option("$compute", is_nested=it is not None):
            translator.compute(options.compute)
        if options.filter is not None:
            with option("$filter", is_nested=it is not None):
                query.conditions.append(translator.condition(options.filter))
        if options.search is not None:
            with option("$search", is_nested=it is not None):
                query.conditions.append(search_condition(query.scope, options.search))
        return query

    # --- $expand (Protocol 11.2.5.2)

    def _expanded(self, query: BoundQuery, items: Sequence[ExpandItem]) -> Iterator[ExpandMember]:
        """The navigation properties that ``$expand`` shows, each once.

        Raises: QueryError, a name is no navigation property, or the nesting is too deep;
            ForbiddenError, related entities may not be read.
        """
        own, container = query.scope.type, self.context.container
        already = {name for name in query.scope.nested if name in own.navigation}
        named = {
            navigation_of(*_uncast(container, own, item)).name
            for item in items
            if not item.star and item.path != ("$value",)
        }
        for item in items:
            if item.path == ("$value",):
                raise UnsupportedError("$expand=$value is not offered", item.offset)
            type_, following = _uncast(container, own, item)
            expanded = [(navigation_of(type_, following), item)] if not item.star else [
                (navigation, starred)
                for navigation, starred in self._starred(type_, item, query.depth)
                if navigation.name not in named
            ]  # fmt: skip
            for navigation, expand_item in expanded:
                if navigation.name in already:
                    raise QueryError(f"{navigation.name} is expanded twice", item.offset)
                already.add(navigation.name)
                member = self._related(query, navigation, expand_item)
                yield member if type_ is own else replace(member, of=type_)

    def _related(
        self, query: BoundQuery, nav: edm.NavigationProperty, item: ExpandItem, name: str = ""
    ) -> ExpandMember:
        """The entities that one navigation property leads to, shown under its name or another."""
        depth, container = query.depth, self.context.container
        if depth >= self.max_depth:
            raise QueryError(f"$expand goes at most {self.max_depth} levels deep", item.offset)
        self.context.budget.expand(item.offset)
        if not nav.collection:
            _refuse_options_of_collections(nav, item)
        scope = Scope(self.context, container.target(nav))
        address = related_address(container, scope, nav, query.address)
        if "." in item.path[-1]:
            wanted = seen_as(container, scope.type, item.path[-1], item.offset)
            if wanted is not scope.type:
                scope.narrow_to(wanted)
                scope.is_announced = True
        options = self._with_levels(item, nav, depth)
        with self.context.naming(options.aliases):
            inner = self.bind(scope, options, address, it=query.translator.it, depth=depth + 1)
        inner.conditions.insert(0, nav.join(query.scope.columns, scope.columns))
        return ExpandMember(
            name or nav.name,
            nav.collection,
            inner,
            item.ref,
            item.count_only,
            recursive=bool(item.options and item.options.levels)
            and nav.name in container.target(nav).navigation,
            remainder=self._next_link(query, nav, item, options),
        )

    def _next_link(
        self, query: BoundQuery, nav: edm.NavigationProperty, item: ExpandItem,
        options: QueryOptions,
    ) -> Remainder | None:  # fmt: skip
        if not nav.collection or item.count_only or not query.address:
            return None
        expanded = self.context.expanded
        expanded.append(options)
        link = [*query.address, "/", "/".join(item.path), "/$ref" if item.ref else ""]
        return Remainder(len(expanded) - 1, link, is_deep=query.depth >= _DEEP)

    def _with_levels(
        self, item: ExpandItem, navigation: edm.NavigationProperty, depth: int
    ) -> QueryOptions:
        """``$levels=n`` as n nested expansions of the same property."""
        options = item.options or QueryOptions()
        levels = options.levels
        if levels is None:
            return options
        left = self._levels_below(item, levels, depth)
        following = _following(self.context.container, navigation)
        if left <= 0 or following is None:
            return replace(options, levels=None)
        more: int | Literal["max"] = "max" if levels == "max" else left
        derived = item.path[-1:] if "." in item.path[-1] else ()
        nested = replace(item, path=(following, *derived), options=replace(options, levels=more))
        if following != navigation.name:  # options about one type mean nothing to the other
            nested = replace(nested, path=(following,), options=QueryOptions(levels=more))
        others = tuple(other for other in options.expand if other.path != nested.path)
        return replace(options, levels=None, expand=(*others, nested))

    def _levels_below(self, item: ExpandItem, levels: int | Literal["max"], depth: int) -> int:
        if levels == "max":
            return self.max_depth - depth - 1
        if levels > self.max_depth - depth:
            raise QueryError(f"$expand goes at most {self.max_depth} levels deep", item.offset)
        return levels - 1

    def _starred(
        self, type_: edm.EntityType, item: ExpandItem, depth: int
    ) -> list[tuple[edm.NavigationProperty, ExpandItem]]:
        """Every navigation property whose target the caller may read.

        With ``$levels`` each has all of its own in it, and so on (URL Conventions 5.1.3).
        """
        casts, context = item.path[:-1], self.context
        below: QueryOptions | None = None
        levels = None if item.options is None else item.options.levels
        if levels is not None:
            most = 1 + self._levels_below(item, levels, depth)
            possible = _possible_levels(context, type_, most)
            if possible < most and levels != "max":
                raise context.budget.too_wide(item.offset)
            if possible > 1:
                every = replace(item, path=("*",), options=QueryOptions(levels=possible - 1))
                below = QueryOptions(expand=(every,))
        return [
            (navigation, replace(item, path=(*casts, navigation.name), options=below, star=False))
            for navigation in _readable(context, type_)
        ]


def _uncast(
    container: edm.EntityContainer, type_: edm.EntityType, item: ExpandItem
) -> tuple[edm.EntityType, ExpandItem]:
    """Whose navigation property an item names, ``Namespace.Special/Parts``, and which."""
    first, *following = item.path
    if not following or "." not in first:
        return type_, item
    target = seen_as(container, type_, first, item.offset)
    return target, replace(item, path=tuple(following))


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
    for option_name, node in named_options.items():
        if node:
            raise QueryError(f"{option_name} is for collections, {name} is one entity", node.offset)


def _following(container: edm.EntityContainer, navigation: edm.NavigationProperty) -> str | None:
    """The next level of a navigation property: itself, or the way back where it cannot go on."""
    target = container.target(navigation)
    return next(
        (name for name in (navigation.name, navigation.partner) if name in target.navigation), None
    )


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
