"""Paths in expressions: properties, navigation, casts, keys, lambdas, ``$count``, functions."""

from __future__ import annotations

import typing as t

from app.odata.cursor import Cursor
from app.odata.errors import QueryError, suggestion
from app.odata.functions import FUNCTIONS
from app.odata.syntax.lexer import Token
from app.odata.syntax.nodes import (
    Alias,
    Annotation,
    Argument,
    BoundCall,
    Count,
    FilterSegment,
    It,
    KeyPredicate,
    Lambda,
    LambdaOperator,
    Literal,
    Member,
    Node,
    Root,
    SearchNode,
    These,
    This,
    TypeCast,
)
from app.odata.syntax.search import parse_nested_search

_VARIABLES: t.Final[dict[str, type[It] | type[This] | type[These]]] = {
    "$it": It,
    "$this": This,
    "$these": These,
}
_NO_EXPRESSION: t.Final = "'{}' addresses a representation and cannot be part of an expression"


class PathParser(Cursor):
    """From the first step of a path to its last; what is in parentheses is an expression again."""

    def parse_expression(self) -> Node:
        raise NotImplementedError

    def parse_aggregate_call(self, source: Node, token: Token) -> Node:
        raise NotImplementedError

    # --- first steps

    def parse_path(self) -> Node:
        """A path that begins with a name or an annotation, its further steps included."""
        token = self.token
        if token.kind == "at":
            return self.parse_at()
        self.expect_kind("name", "a property path")
        return self.parse_steps(self._named_step(None, token))

    def parse_at(self) -> Node:
        """``@alias``, or ``@Namespace.Term#Qualifier`` on the instance itself."""
        token = self.advance()
        if "." in token.text or "#" in token.text:
            return self.parse_steps(_annotation(None, token))
        return self.parse_steps(Alias(token.text[1:], offset=token.offset))

    def parse_variable(self) -> Node:
        """``$it``, ``$this``, ``$these`` or ``$root/...``; ``$count`` alone inside aggregate()."""
        token = self.advance()
        if token.text == "$root":
            return self._parse_root(token)
        variable = _VARIABLES.get(token.text)
        if variable is None:
            raise QueryError(
                f"'{token.text}' cannot begin an expression;"
                " expected $it, $this, $root or a property",
                token.offset,
            )
        return self.parse_steps(variable(offset=token.offset))

    def _parse_root(self, token: Token) -> Node:
        self.expect_joined("/")
        name = self.token
        if name.kind != "name" or name.spaced:
            raise self.expected("the name of an entity set, a singleton or a function")
        self.advance()
        return self.parse_steps(self._named_step(Root(offset=token.offset), name))

    # --- further steps

    def parse_steps(self, path: Node) -> Node:
        """``*( "/" step )`` after ``path``; ends with a lambda, an aggregate or ``/$count``."""
        while slash := self.accept_joined("/"):
            token = self.token
            if token.spaced:
                raise QueryError("unexpected blank after '/'", slash.end)
            if token.kind == "name":
                self.advance()
                lowered = token.text.lower()
                if self.at("(") and not self.token.spaced:
                    if lowered in ("any", "all"):
                        return self._parse_lambda(path, token, t.cast(LambdaOperator, lowered))
                    if lowered == "aggregate":
                        return self.parse_aggregate_call(path, token)
                path = self._named_step(path, token)
            elif token.kind == "at":
                self.advance()
                path = _annotation(path, token)
            elif token.kind == "dollar":
                self.advance()
                if token.text == "$count":
                    return self._parse_count(path, token)
                path = self._parse_filter_segment(path, token)
            else:
                raise self.expected("a property, a function or $count")
        return path

    def _named_step(self, base: Node | None, token: Token) -> Node:
        """The step whose name has just been taken, and the parentheses that may follow it."""
        name, offset = token.text, token.offset
        if not self.at("(") or self.token.spaced:
            if "." not in name:
                return Member(base, name, offset=offset)
            if base is None and not self.at("/"):
                raise self.expected("'/' and a property, or '(' and arguments,")
            return TypeCast(base, name, offset=offset)
        if base is None and name.lower() in ("any", "all"):
            raise QueryError(
                f"'{name}' needs a collection before it, as in Items/{name}(...)", offset
            )
        arguments = self.parse_arguments(name, offset)
        step: Node
        if arguments and arguments[0].name is None:
            collection = TypeCast if "." in name else Member
            step = KeyPredicate(collection(base, name, offset=offset), arguments, offset=offset)
        else:
            step = BoundCall(base, name, arguments, offset=offset)
        return self._parse_key(step)

    def _parse_key(self, step: Node) -> Node:
        """A key predicate on the result of a function or of ``/$filter(...)``."""
        if not self.at("(") or self.token.spaced:
            return step
        offset = self.token.offset
        return KeyPredicate(step, self.parse_arguments("", offset), offset=offset)

    # --- parentheses

    def parse_arguments(self, function: str, offset: int) -> tuple[Argument, ...]:
        """``(a=1,b=@x)``, ``()``, or the single value of a key, ``(1)``.

        Args:
            function, offset: what stands before the parentheses and where, for the error when
                they hold something else.
        """
        self.expect("(")
        if self.accept(")"):
            return ()
        self.deeper()
        if self.token.kind == "name" and self.follows("="):
            arguments = self.separated(self._named_argument)
        else:
            value = self.parse_expression()
            if not isinstance(value, Literal | Alias) or self.at(","):
                raise QueryError(_not_a_call(function), offset)
            arguments = (Argument(None, value, offset=value.offset),)
        self.shallower()
        self.expect(")")
        return arguments

    def _named_argument(self) -> Argument:
        token = self.expect_name("the name of a parameter")
        self.expect_joined("=")
        return Argument(token.text, self.parse_expression(), offset=token.offset)

    def _parse_lambda(self, source: Node, token: Token, op: LambdaOperator) -> Lambda:
        self.advance()
        if op == "any" and self.accept(")"):
            return Lambda(op, source, offset=token.offset)
        variable = self.expect_name("a variable name and ':'")
        self.expect(":")
        self.deeper()
        predicate = self.parse_expression()
        self.shallower()
        self.expect(")", f" that ends {op}(...)")
        return Lambda(op, source, variable.text, predicate, offset=token.offset)

    def _parse_filter_segment(self, base: Node, token: Token) -> Node:
        if token.text != "$filter":
            raise QueryError(_NO_EXPRESSION.format(token.text), token.offset)
        self.expect_joined("(")
        self.deeper()
        predicate = self.parse_expression()
        self.shallower()
        self.expect(")")
        return self._parse_key(FilterSegment(base, predicate, offset=token.offset))

    def _parse_count(self, source: Node, token: Token) -> Count:
        """``/$count`` and its options in parentheses: ``$filter`` and ``$search``."""
        filtered: Node | None = None
        search: SearchNode | None = None
        if self.accept_joined("("):
            self.deeper()
            more = True
            while more:
                option = self.option_name()
                if option == "filter" and filtered is None:
                    filtered = self.parse_option_value(self.parse_expression)
                elif option == "search" and search is None:
                    search = self.parse_option_search()
                else:
                    raise self.expected("$filter or $search, each at most once,")
                more = self.accept(";") is not None
            self.shallower()
            self.expect(")", " that ends the options of $count")
        return Count(source, filtered, search, offset=token.offset)

    # --- options inside parentheses

    def option_name(self) -> str | None:
        """The system query option that the next token names before a ``=``; nothing is taken."""
        token = self.token
        if token.kind not in ("dollar", "name") or not self.follows("="):
            return None
        return token.text.removeprefix("$").lower()

    def parse_option_value(self, parse: t.Callable[[], t.Any]) -> t.Any:
        """What ``parse`` makes of the text after the ``=`` of the option that is next."""
        self.advance()
        self.advance()
        if self.token.spaced:
            raise QueryError("unexpected blank after '='", self.previous.end)
        return parse()

    def parse_option_search(self) -> SearchNode:
        """The value of a ``search=`` that is next; its words are not tokens of expressions."""
        search, end = parse_nested_search(self.text, self.token.end + 1, limits=self.limits)
        self.read_on_from(end)
        return search


def _annotation(base: Node | None, token: Token) -> Annotation:
    term, _, qualifier = token.text[1:].partition("#")
    return Annotation(base, term, qualifier or None, offset=token.offset)


def _not_a_call(function: str) -> str:
    if not function:
        return "expected the value of a key between the parentheses"
    if function in FUNCTIONS:
        return f"a path stands here, not a call of {function}(): give its value a name by compute()"
    return f"unknown function '{function}'" + suggestion(function, FUNCTIONS)
