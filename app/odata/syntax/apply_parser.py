"""``$apply``: set transformations, one method each (Data Aggregation 4.0, section 3).

What they have in common with ``$orderby``, ``$compute``, ``$top`` and ``$skip`` stands behind them:
an expression and the words after it.
"""

from __future__ import annotations

import typing as t

from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.syntax import nodes
from app.odata.syntax.lexer import Token
from app.odata.syntax.literals import INT64_MAX
from app.odata.syntax.parser import ExpressionParser
from app.odata.syntax.search import parse_nested_search

_TOP_BOTTOM: t.Final = t.get_args(nodes.TopBottomKind)

_METHODS: t.Final = ("sum", "min", "max", "average", "countdistinct")
# Each is a select in a select.
_MOST_STEPS: t.Final = 8


class ApplyParser(ExpressionParser):
    """``applyTrafo *( "/" applyTrafo )``; names of transformations in any case."""

    def parse_apply(self) -> nodes.Apply:
        offset = self.token.offset
        transformations = [self._parse_transformation()]
        while self.accept_joined("/"):
            transformations.append(self._parse_transformation())
        return nodes.Apply(tuple(transformations), offset=offset)

    def _parse_transformation(self) -> nodes.Transformation:
        token = self.token
        if token.kind != "name":
            raise self.expected("a transformation such as filter(...) or groupby((...))")
        name = token.text.lower()
        if name == "identity":
            self.advance()
            return nodes.Identity(offset=token.offset)
        if not self.follows("("):
            raise QueryError(
                f"expected '(' right after '{token.text}'{suggestion(name, OFFERED)}", token.offset
            )
        self.deeper()
        if name == "search":  # its words are not tokens of expressions
            transformation: nodes.Transformation = self._parse_search(token)
        else:
            self.advance()
            transformation = self._parse_arguments_of(name, token)
        self.shallower()
        return transformation

    def _parse_arguments_of(self, name: str, token: Token) -> nodes.Transformation:
        if "." in name:
            return nodes.FunctionTransformation(
                token.text, self.parse_arguments(token.text, token.offset), offset=token.offset
            )
        self.expect("(")
        if name in _TOP_BOTTOM:
            transformation: nodes.Transformation = self._parse_top_bottom(
                t.cast(nodes.TopBottomKind, name), token
            )
        elif name in _OPTIONS:
            value = _OPTIONS[name](self)
            transformation = nodes.OptionTransformation(
                t.cast(t.Any, name), value, offset=token.offset
            )
        elif name in _PARSERS:
            transformation = _PARSERS[name](self, token)
        elif name in _OF_HIERARCHIES:
            raise self._no_hierarchies(token)
        else:
            raise QueryError(
                f"unknown transformation '{token.text}'{suggestion(name, OFFERED)}", token.offset
            )
        self.expect(")", f" that ends {token.text}(...)")
        return transformation

    # --- one method per transformation; each is called between the parentheses

    def _parse_aggregate(self, token: Token) -> nodes.Aggregate:
        return nodes.Aggregate(self.separated(self.parse_aggregate_item), offset=token.offset)

    def _parse_search(self, token: Token) -> nodes.OptionTransformation:
        search, end = parse_nested_search(self.text, token.end + 1, limits=self.limits)
        self.read_on_from(end)
        self.expect(")", " that ends search(...)")
        return nodes.OptionTransformation("search", search, offset=token.offset)

    def _parse_top_bottom(self, kind: nodes.TopBottomKind, token: Token) -> nodes.TopBottom:
        amount = self.parse_expression()
        self.expect(",", f" and an expression in {kind}")
        return nodes.TopBottom(kind, amount, self.parse_expression(), offset=token.offset)

    def _parse_concat(self, token: Token) -> nodes.Concat:
        sequences = self.separated(self.parse_apply)
        if len(sequences) < 2:
            raise self.expected("',' and another sequence of transformations in concat")
        return nodes.Concat(sequences, offset=token.offset)

    def _parse_groupby(self, token: Token) -> nodes.GroupBy:
        self.expect("(", ": groupby takes a list of properties in parentheses of its own")
        keys = self.separated(self._parse_group_key)
        self.expect(")", " that ends the properties of groupby")
        return nodes.GroupBy(keys, self._parse_optional_apply(), offset=token.offset)

    def _parse_group_key(self) -> nodes.Node:
        token = self.token
        name = token.text.lower()
        if name not in ("rollup", *_OF_HIERARCHIES) or not self.follows("("):
            return self.parse_path()
        self.advance()
        self.advance()
        if name != "rollup":
            raise self._no_hierarchies(token)
        with_total = self.token.kind == "dollar" and self.token.text == "$all"
        if with_total:
            self.advance()
            self.expect(",", " and a property")
        properties = self.separated(self.parse_path)
        self.expect(")", " that ends rollup(...)")
        return nodes.Rollup(properties, with_total, offset=token.offset)

    def _parse_nest(self, token: Token) -> nodes.Nest:
        return nodes.Nest(self.separated(self._parse_nest_item), offset=token.offset)

    def _parse_addnested(self, token: Token) -> nodes.Nest:
        path = self.parse_path()
        self.expect(",", " and transformations in addnested")
        return nodes.Nest(self.separated(self._parse_nest_item), path, offset=token.offset)

    def _parse_nest_item(self) -> nodes.NestItem:
        apply = self.parse_apply()
        return nodes.NestItem(apply, self.parse_alias(), offset=apply.offset)

    def _parse_join(self, token: Token) -> nodes.Join:
        path = self.parse_path()
        alias = self.parse_alias()
        return nodes.Join(
            path,
            alias,
            self._parse_optional_apply(),
            outer=token.text.lower() == "outerjoin",
            offset=token.offset,
        )

    def _parse_expand(self, token: Token) -> nodes.ExpandTransformation:
        """``expand(path,apply,expand(...),...)``: nested expands come last."""
        path = self.parse_path()
        apply: nodes.Apply | None = None
        nested: list[nodes.ExpandTransformation] = []
        while self.accept(","):
            argument = self.parse_apply()
            only = argument.transformations[0]
            if len(argument.transformations) == 1 and isinstance(only, nodes.ExpandTransformation):
                nested.append(only)
            elif apply is None and not nested:
                apply = argument
            else:
                raise QueryError("expected expand(...)", argument.offset)
        return nodes.ExpandTransformation(path, apply, tuple(nested), offset=token.offset)

    def _no_hierarchies(self, token: Token) -> QueryError:
        """The error of a transformation of hierarchies, its parenthesis just taken."""
        if self.token.text != "$root":
            return self.expected("a collection that begins with $root/")
        message = f"{token.text.lower()}() is not offered: no entity set is a hierarchy"
        return UnsupportedError(message, token.offset)

    def _parse_optional_apply(self) -> nodes.Apply | None:
        return self.parse_apply() if self.accept(",") else None

    # --- $orderby, $compute, $top, $skip: also as transformations

    def parse_order_items(self) -> tuple[nodes.OrderItem, ...]:
        return self.separated(self._parse_order_item)

    def _parse_order_item(self) -> nodes.OrderItem:
        offset = self.token.offset
        expression = self.parse_expression()
        descending = self.at_word("desc")
        if descending or self.at_word("asc"):
            self.advance()
        return nodes.OrderItem(expression, descending, offset=offset)

    def parse_compute_items(self) -> tuple[nodes.ComputeItem, ...]:
        return self.separated(self._parse_compute_item)

    def _parse_compute_item(self) -> nodes.ComputeItem:
        offset = self.token.offset
        expression = self.parse_expression()
        if not self.at_word("as"):
            raise QueryError(
                "invalid compute expression format:"
                f" expected 'as' and a name after '{self.previous.text}'",
                self.token.offset,
            )
        return nodes.ComputeItem(expression, self.parse_alias(), offset=offset)

    def parse_alias(self) -> str:
        """``as name``."""
        if not self.at_word("as"):
            raise self.expected("'as' and a name")
        self.advance()
        if not self.token.spaced:
            raise self.expected("a blank and a name")
        return self.expect_name("a name without dots").text

    def parse_row_count(self, what: str) -> nodes.Literal:
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

    def parse_aggregate_call(self, source: nodes.Node, token: Token) -> nodes.AggregateCall:
        """``source/aggregate(...)`` inside an expression, its name just taken."""
        self.expect("(")
        self.deeper()
        item = self._parse_aggregated()
        self.shallower()
        self.expect(")", " that ends aggregate(...)")
        return nodes.AggregateCall(source, item, offset=token.offset)

    def parse_aggregate_item(self) -> nodes.AggregateItem:
        item = self._parse_aggregated()
        is_custom = item.method is None and isinstance(item.expression, nodes.Member)
        if is_custom and not item.origins and not self.at_word("as"):
            return item
        return nodes.AggregateItem(
            item.expression, item.method, self.parse_alias(), item.origins, offset=item.offset
        )

    def _parse_aggregated(self) -> nodes.AggregateItem:
        """An AggregateItem up to its ``as``."""
        offset = self.token.offset
        expression = self._parse_aggregatable()
        method = self._parse_method()
        origins: list[nodes.AggregateFrom] = []
        while self.at_word("from"):
            start = self.advance()
            if len(origins) == _MOST_STEPS:
                raise QueryError(f"'from' makes more than {_MOST_STEPS} steps", start.offset)
            properties = self.separated(self.parse_path)
            origins.append(
                nodes.AggregateFrom(properties, self._parse_method(), offset=start.offset)
            )
        if method is None and not isinstance(expression, nodes.Member | nodes.Count):
            raise self.expected("'with' and a method such as sum")
        if isinstance(expression, nodes.Count) and method is not None:
            raise QueryError("$count takes no method", expression.offset)
        return nodes.AggregateItem(expression, method, None, tuple(origins), offset=offset)

    def _parse_aggregatable(self) -> nodes.Node:
        token = self.token
        if token.kind == "dollar" and token.text == "$count":
            self.advance()
            return nodes.Count(None, offset=token.offset)
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


# Name of an option -> what is read between the parentheses; ``search`` has words of its own.
_OPTIONS: t.Final[dict[str, t.Callable[[ApplyParser], t.Any]]] = {
    "filter": ApplyParser.parse_expression,
    "compute": ApplyParser.parse_compute_items,
    "orderby": ApplyParser.parse_order_items,
    "top": lambda parser: parser.parse_row_count("top"),
    "skip": lambda parser: parser.parse_row_count("skip"),
}
_PARSERS: t.Final[dict[str, t.Callable[[ApplyParser, Token], nodes.Transformation]]] = {
    "aggregate": ApplyParser._parse_aggregate,
    "concat": ApplyParser._parse_concat,
    "groupby": ApplyParser._parse_groupby,
    "nest": ApplyParser._parse_nest,
    "addnested": ApplyParser._parse_addnested,
    "join": ApplyParser._parse_join,
    "outerjoin": ApplyParser._parse_join,
    "expand": ApplyParser._parse_expand,
}
OFFERED: t.Final = tuple(
    dict.fromkeys(("aggregate", *_OPTIONS, *_PARSERS, *_TOP_BOTTOM, "identity", "search"))
)
_OF_HIERARCHIES: t.Final = ("ancestors", "descendants", "traverse", "rolluprecursive")
