"""QueryOptions resolved against an entity type: what a query means, or why it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import BigInteger

from app.odata.aggregation.pipeline import transformed
from app.odata.aggregation.rowset import RowSet
from app.odata.binding.context import Context
from app.odata.binding.derived import is_entity, is_unique
from app.odata.binding.ordering import order_keys
from app.odata.binding.paths import navigation_of
from app.odata.binding.search_condition import search_condition
from app.odata.binding.translator import Translator
from app.odata.binding.values import Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.reading.addresses import entity_address
from app.odata.reading.bound import BoundQuery, ExpandMember, Projection
from app.odata.reading.expansion import expand_member, expand_members
from app.odata.reading.negotiation import Version
from app.odata.reading.selection import selected_members, selected_operations, selection_text
from app.odata.sql.dialect_sql import Part
from app.odata.syntax.nodes import ExpandItem, QueryOptions


@contextmanager
def option(name: str, *, is_nested: bool = False) -> Iterator[None]:
    """Tell errors which option they are about.

    Args:
        is_nested: the option stands in the text of another one, in which its positions are.
    """
    try:
        yield
    except QueryError as error:
        raise error if is_nested else error.in_option(name) from None


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
        scope = query.scope
        with option("$orderby", is_nested=depth > 0):
            query.order = order_keys(query.translator, options.orderby or query.given_order)
            query.total_order = is_entity(scope) or is_unique(scope)
        with option("$select", is_nested=depth > 0):
            members = list(selected_members(scope, options.select, query.translator.it))
            operations = selected_operations(scope, options.select)
        with option("$apply", is_nested=depth > 0):
            expanded = list(self._nested(query, options, address, depth))
        with option("$expand", is_nested=depth > 0):
            expanded += expand_members(self, query, options.expand, address, depth)
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

    def _nested(
        self, query: BoundQuery, options: QueryOptions, address: Sequence[Part], depth: int
    ) -> Iterator[ExpandMember]:
        """What ``$apply`` put into the rows."""
        for name, nested in query.scope.nested.items():
            members = nested.reading
            if isinstance(members, ExpandItem):
                navigation = navigation_of(query.scope.type, members)
                yield expand_member(self, query, navigation, members, address, depth, name=name)
            else:
                assert isinstance(members, RowSet)
                yield ExpandMember(name, True, self._row_set(members, options))

    def _row_set(self, rows: RowSet, options: QueryOptions) -> BoundQuery:
        """The rows that ``nest`` made, with all that there is of them."""
        scope = rows.scope
        query = BoundQuery(rows.translator(), scope, rows.conditions)
        query.order = order_keys(query.translator, rows.order)
        address: Sequence[Part] = ()
        if scope.type.key:
            home = self.context.container.set_of_type.get(scope.type.name)
            if home is None:
                raise UnsupportedError(
                    f"nest() does not show each {scope.type.name}: it has no set"
                )
            address = entity_address(scope, home.name)
        members = list(selected_members(scope, ()))
        nested = list(self._nested(query, options, address, 0))
        applied = QueryOptions(apply=options.apply)
        selected = selection_text(scope, applied, members, nested, self._version)
        query.projection = Projection(scope, [*members, *nested], address, selected)
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
