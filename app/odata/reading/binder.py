"""QueryOptions resolved against an entity type: what a query means, or why it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import BigInteger

from app.odata.binding.scope import Context, Scope
from app.odata.binding.searching import search_condition
from app.odata.binding.translator import Translator
from app.odata.binding.values import Row, Typed, family
from app.odata.errors import QueryError, UnsupportedError
from app.odata.nodes import ComputeItem, OrderItem
from app.odata.option_nodes import QueryOptions
from app.odata.reading.bound import BoundQuery, OrderKey, Projection
from app.odata.reading.expansion import expand_members
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
        query = BoundQuery(Translator(self.context, scope, it=it), scope, list(scope.conditions))
        if options.apply is not None:
            raise UnsupportedError("$apply is not offered here", option="$apply")
        with option("$compute"):
            self._compute(query, options.compute)
        self.narrow(query, options)
        with option("$orderby"):
            query.order = self.order(query.translator, options.orderby)
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

    def narrow(self, query: BoundQuery, options: QueryOptions) -> None:
        """Add what ``$filter`` and ``$search`` ask for."""
        if options.filter is not None:
            with option("$filter"):
                query.conditions.append(query.translator.condition(options.filter))
        if options.search is not None:
            with option("$search"):
                query.conditions.append(search_condition(query.scope, options.search))

    def order(self, translator: Translator, items: Sequence[OrderItem]) -> list[OrderKey]:
        """The sort keys, the key of the entity last: without it pages would not be stable."""
        keys = []
        for item in items:
            value = translator.typed(item.expression)
            if family(value.type) == "other":
                raise QueryError("rows cannot be sorted by this", item.offset)
            keys.append(OrderKey(value, item.descending))
        return [*keys, *key_order(translator.scope, keys)]

    def _compute(self, query: BoundQuery, items: Sequence[ComputeItem]) -> None:
        scope = query.scope
        for item in items:
            name = item.alias
            if name.lower() in scope.type.folded or name in scope.computed:
                raise QueryError(f"{scope.type.name} has a property {name} already", item.offset)
            place = query.translator.place(item.expression)
            if isinstance(place, Row):
                raise QueryError("an entity cannot be computed", item.offset)
            scope.computed[name] = query.translator.typed(item.expression)


def key_order(scope: Scope, before: Sequence[OrderKey]) -> list[OrderKey]:
    """The key of an entity as the last sort keys, as far as it is not among those ``before``."""
    known = {id(key.value.sql) for key in before}
    properties = [scope.type.properties[name] for name in scope.type.key]
    return [
        OrderKey(Typed(column, property_.type, nullable=False))
        for column, property_ in zip(scope.key_columns(), properties, strict=True)
        if id(column) not in known
    ]
