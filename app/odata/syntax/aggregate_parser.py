"""The items of ``aggregate()``, ``$orderby`` and ``$compute``: an expression and words after it."""

from __future__ import annotations

import typing as t

from app.odata.errors import QueryError
from app.odata.syntax.apply_nodes import AggregateCall, AggregateFrom, AggregateItem
from app.odata.syntax.lexer import Token
from app.odata.syntax.literals import INT64_MAX
from app.odata.syntax.nodes import ComputeItem, Count, Literal, Member, Node, OrderItem
from app.odata.syntax.parser import ExpressionParser

_METHODS: t.Final = ("sum", "min", "max", "average", "countdistinct")
# Each is a select in a select.
_MOST_STEPS: t.Final = 8


class AggregateParser(ExpressionParser):
    """Expressions that are followed by ``as``, ``with``, ``from``, ``asc`` or ``desc``."""

    # --- $orderby, $compute, $top, $skip: also as transformations

    def parse_order_items(self) -> tuple[OrderItem, ...]:
        return self.separated(self._parse_order_item)

    def _parse_order_item(self) -> OrderItem:
        offset = self.token.offset
        expression = self.parse_expression()
        descending = self.at_word("desc")
        if descending or self.at_word("asc"):
            self.advance()
        return OrderItem(expression, descending, offset=offset)

    def parse_compute_items(self) -> tuple[ComputeItem, ...]:
        return self.separated(self._parse_compute_item)

    def _parse_compute_item(self) -> ComputeItem:
        offset = self.token.offset
        expression = self.parse_expression()
        if not self.at_word("as"):
            raise QueryError(
                "invalid compute expression format:"
                f" expected 'as' and a name after '{self.previous.text}'",
                self.token.offset,
            )
        return ComputeItem(expression, self.parse_alias(), offset=offset)

    def parse_alias(self) -> str:
        """``as name``."""
        if not self.at_word("as"):
            raise self.expected("'as' and a name")
        self.advance()
        if not self.token.spaced:
            raise self.expected("a blank and a name")
        return self.expect_name("a name without dots").text

    def parse_row_count(self, what: str) -> Literal:
        """A whole number, written with digits alone so that its shape tells that it is right.

        Args:
            what: for the error.
        """
        token = self.token
        if token.kind == "number" and token.text.isdigit():
            literal = self.parse_literal()
            if literal.kind == "integer":
                return literal
        raise QueryError(f"{what} must be a whole number from 0 to {INT64_MAX}", token.offset)

    # --- aggregate()

    def parse_aggregate_call(self, source: Node, token: Token) -> AggregateCall:
        """``source/aggregate(...)`` inside an expression, its name just taken."""
        self.expect("(")
        self.deeper()
        item = self._parse_aggregated()
        self.shallower()
        self.expect(")", " that ends aggregate(...)")
        return AggregateCall(source, item, offset=token.offset)

    def parse_aggregate_item(self) -> AggregateItem:
        item = self._parse_aggregated()
        is_custom = item.method is None and isinstance(item.expression, Member)
        if is_custom and not item.origins and not self.at_word("as"):
            return item
        return AggregateItem(
            item.expression, item.method, self.parse_alias(), item.origins, offset=item.offset
        )

    def _parse_aggregated(self) -> AggregateItem:
        """An AggregateItem up to its ``as``."""
        offset = self.token.offset
        expression = self._parse_aggregatable()
        method = self._parse_method()
        origins: list[AggregateFrom] = []
        while self.at_word("from"):
            start = self.advance()
            if len(origins) == _MOST_STEPS:
                raise QueryError(f"'from' makes more than {_MOST_STEPS} steps", start.offset)
            properties = self.separated(self.parse_path)
            origins.append(AggregateFrom(properties, self._parse_method(), offset=start.offset))
        if method is None and not isinstance(expression, Member | Count):
            raise self.expected("'with' and a method such as sum")
        if isinstance(expression, Count) and method is not None:
            raise QueryError("$count takes no method", expression.offset)
        return AggregateItem(expression, method, None, tuple(origins), offset=offset)

    def _parse_aggregatable(self) -> Node:
        token = self.token
        if token.kind == "dollar" and token.text == "$count":
            self.advance()
            return Count(None, offset=token.offset)
        return self.parse_expression()

    def _parse_method(self) -> str | None:
        """``with method``, if it is next; a custom method has a qualified name."""
        if not self.at_word("with"):
            return None
        self.advance()
        token = self.expect_kind("name", "an aggregation method")
        if "." in token.text:
            return token.text
        if token.text.lower() not in _METHODS:
            raise QueryError(
                f"'{token.text}' is not an aggregation method: {', '.join(_METHODS)}"
                " or a qualified name",
                token.offset,
            )
        return token.text.lower()
