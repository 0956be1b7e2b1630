"""QueryOptions resolved against an entity type: what a query means, or why it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import BigInteger

from app.odata.aggregation.pipeline import transformed
from app.odata.aggregation.rowset import RowSet
from app.odata.binding.scope import Context, Scope
from app.odata.binding.searching import search_condition
from app.odata.binding.translator import Translator
from app.odata.errors import QueryError, UnsupportedError
from app.odata.option_nodes import QueryOptions
from app.odata.reading.bound import BoundQuery, Projection
from app.odata.reading.computing import compute
from app.odata.reading.expansion import expand_members
from app.odata.reading.ordering import order_keys
from app.odata.reading.selection import selected_members, selection_text
from app.odata.sql.spelled import Part


@contextmanager
def option(name: str) -> Iterator[None]:
    """Tell errors which option they are about."""
    try:
        yield
    except QueryError as error:
        raise error.in_option(name) from None


class QueryBinder:
    """Binds the options of a query and of everything expanded in it."""

    def __init__(self, context: Context, *, max_depth: int = 5) -> None:
        self.context = context
        self.max_depth = max_depth

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
        with option("$orderby"):
            query.order = order_keys(query.translator, options.orderby or query.given_order)
        with option("$select"):
            members = list(selected_members(scope, options.select))
        with option("$expand"):
            expanded = list(expand_members(self, query, options, address, depth))
        query.projection = Projection(
            scope,
            [*members, *expanded],
            address,
            selection_text(options, members, expanded),
        )
        parameters = self.context.parameters
        if options.top is not None:
            query.top = parameters.bind(options.top, BigInteger)
        if options.skip is not None:
            query.skip = parameters.bind(options.skip, BigInteger)
        query.count = bool(options.count)
        return query

    def rows(self, scope: Scope, options: QueryOptions, *, it: Scope | None = None) -> BoundQuery:
        """Which rows: ``$apply``, ``$compute``, ``$filter`` and ``$search``, in this order."""
        rows = RowSet(scope, list(scope.conditions))
        if options.apply is not None:
            if it is not None:
                raise UnsupportedError("$apply is not offered inside $expand", option="$apply")
            with option("$apply"):
                rows = transformed(rows, options.apply)
        translator = Translator(self.context, rows.scope, it=it)
        query = BoundQuery(translator, rows.scope, rows.conditions, given_order=rows.order)
        with option("$compute"):
            compute(translator, options.compute)
        if options.filter is not None:
            with option("$filter"):
                query.conditions.append(translator.condition(options.filter))
        if options.search is not None:
            with option("$search"):
                query.conditions.append(search_condition(query.scope, options.search))
        return query
