"""Expressions: the recursive-descent parser, a method per precedence level, loosest first."""

from __future__ import annotations

import typing as t

from app.odata.errors import QueryError
from app.odata.syntax.balance import balance
from app.odata.syntax.lexer import Token
from app.odata.syntax.literals import (
    CONVERTERS,
    NON_FINITE,
    convert_json_string,
    convert_prefixed,
)
from app.odata.syntax.nodes import (
    Binary,
    BinaryOperator,
    Collection,
    In,
    JsonObject,
    Literal,
    Node,
    Unary,
)
from app.odata.syntax.parser_calls import CallParser

_LITERALS: t.Final = frozenset((*CONVERTERS, "prefixed", "nonfinite"))
_BOOLEANS: t.Final = {"true": True, "false": False}
_RELATIONAL: t.Final = frozenset(("gt", "ge", "lt", "le"))
_EQUALITY: t.Final = frozenset(("eq", "ne"))
_ADDITIVE: t.Final = frozenset(("add", "sub"))
_MULTIPLICATIVE: t.Final = frozenset(("mul", "div", "divby", "mod"))
_MEMBERSHIP: t.Final = frozenset(("has", "in"))


class ExpressionParser(CallParser):
    """``commonExpr`` of the ABNF with the precedence of URL Conventions 5.1.1.17.

    Binary operators are left-associative; blanks are required around them.
    """

    def parse_or(self) -> Node:
        left = self.parse_and()
        return left if self.operator != "or" else self._chain("or", left, self.parse_and)

    parse_expression = parse_or  # what a nested expression begins with; one call less deep

    def parse_and(self) -> Node:
        left = self.parse_equality()
        return left if self.operator != "and" else self._chain("and", left, self.parse_equality)

    def parse_equality(self) -> Node:
        left = self.parse_relational()
        while self.operator in _EQUALITY:
            left = self._binary(left, self.parse_relational)
        return left

    def parse_relational(self) -> Node:
        left = self.parse_additive()
        while self.operator in _RELATIONAL:
            left = self._binary(left, self.parse_additive)
        return left

    def parse_additive(self) -> Node:
        left = self.parse_multiplicative()
        while self.operator in _ADDITIVE:
            left = self._binary(left, self.parse_multiplicative)
        return left

    def parse_multiplicative(self) -> Node:
        left = self.parse_unary()
        while self.operator in _MULTIPLICATIVE:
            left = self._binary(left, self.parse_unary)
        return left

    def parse_unary(self) -> Node:
        """``-`` with or without a blank after it; ``not`` before a blank or a parenthesis."""
        token = self.token
        if token.kind == "mark":
            if token.text != "-":
                return self.parse_membership()
        elif token.kind != "name" or token.text.lower() != "not" or not self.follows(" \t("):
            return self.parse_membership()
        self.advance()
        self.spend()
        self.deeper()
        operand = self.parse_unary()
        self.shallower()
        return Unary("neg" if token.text == "-" else "not", operand, offset=token.offset)

    def parse_membership(self) -> Node:
        """``has`` and ``in`` bind tightest: ``not a in (1,2)`` is ``not (a in (1,2))``."""
        left = self.parse_primary()
        while self.operator in _MEMBERSHIP:
            if self.operator == "has":
                left = self._binary(left, self.parse_primary)
            else:
                token = self._take_operator()
                left = In(left, self._parse_list_or_collection(), offset=token.offset)
        return left

    # --- operators

    def _take_operator(self) -> Token:
        token = self.advance()
        if not self.token.spaced:
            at_close = self.token.kind == "end" or self.at(")", "]", "}", ",", ":", ";")
            raise self.expected("an operand" if at_close else "a blank")
        return token

    def _binary(self, left: Node, parse_right: t.Callable[[], Node]) -> Binary:
        op = t.cast(BinaryOperator, self.operator)
        token = self._take_operator()
        return Binary(op, left, parse_right(), offset=token.offset)

    def _chain(
        self,
        op: t.Literal["and", "or"],
        left: Node,
        parse_next: t.Callable[[], Node],
    ) -> Node:
        operands, offsets = [left], []
        while self.operator == op:
            offsets.append(self._take_operator().offset)
            operands.append(parse_next())
        return balance(operands, offsets, lambda a, b, at: Binary(op, a, b, offset=at))

    # --- operands

    def parse_primary(self) -> Node:
        token = self.token
        kind = token.kind
        if kind == "name":
            return self._parse_name()
        if kind in _LITERALS:
            return self.parse_literal()
        if kind == "at":
            return self.parse_at()
        if kind == "dollar":
            return self.parse_variable()
        if kind == "mark":
            if token.text == "(":
                return self._parse_parentheses()
            if token.text == "[":
                return self._parse_array()
            if token.text == "{":
                return self._parse_object()
        raise self._no_operand()

    def _no_operand(self) -> QueryError:
        if self.token.kind == "json":
            return QueryError("text is written in single quotes", self.token.offset)
        if not self.previous.text:
            return self.expected("an expression")
        return self.expected("an operand")

    def _parse_name(self) -> Node:
        """A literal that is a word, a canonical function, or a path."""
        if self.follows("("):
            lowered = self.token.text.lower()
            if self.is_canonical(lowered):
                return self.parse_canonical_call(lowered)
        elif self._at_word_literal():
            return self.parse_literal()
        return self.parse_path()

    def _at_word_literal(self) -> bool:
        """Whether the name that is next stands for a value; true and false in any case."""
        text = self.token.text
        return (
            len(text) < 6
            and (text.lower() in _BOOLEANS or text in ("null", "INF", "NaN"))
            and not self.follows("/")
        )

    def parse_literal(self) -> Literal:
        """The literal that is next, with its slot if its kind is lifted into the shape."""
        token = self.advance()
        text, offset = token.text, token.offset
        if token.kind == "name":
            if text == "null":
                return Literal(None, "null", offset=offset)
            if text.lower() in _BOOLEANS:
                return Literal(_BOOLEANS[text.lower()], "boolean", offset=offset)
        if token.kind in ("name", "nonfinite"):
            return Literal(NON_FINITE[text], "double", offset=offset)
        if token.kind == "prefixed":
            value, kind, type_name = convert_prefixed(text, offset)
            slot = self.take_slot() if kind == "duration" else None
            return Literal(value, kind, type_name=type_name, slot=slot, offset=offset)
        value, kind = CONVERTERS[token.kind](text, offset)
        return Literal(value, kind, slot=self.take_slot(), offset=offset)

    def _parse_parentheses(self) -> Node:
        self.advance()
        self.deeper()
        inner = self.parse_expression()
        self.shallower()
        self.expect(")", " or an operator")
        return inner

    def _parse_list_or_collection(self) -> Node:
        """The right side of ``in``: literals in parentheses, or what is a collection itself."""
        start = self.token
        if not self.at("("):
            return self.parse_primary()
        self.advance()
        if self.accept(")"):
            return Collection((), offset=start.offset)
        if self._at_literal():
            items = self.separated(self._list_item)
            self.expect(")", " or ','")
            return Collection(items, offset=start.offset)
        self.deeper()
        inner = self.parse_expression()
        self.shallower()
        if self.at(","):
            raise QueryError("a list after 'in' holds only literals", inner.offset)
        self.expect(")", " or an operator")
        return inner

    def _at_literal(self) -> bool:
        kind = self.token.kind
        return kind in _LITERALS or (kind == "name" and self._at_word_literal())

    def _list_item(self) -> Literal:
        if not self._at_literal():
            raise self.expected("a literal")
        return self.parse_literal()

    # --- JSON

    def _parse_array(self) -> Collection:
        start = self.advance()
        self.spend()
        self.deeper()
        items: tuple[Node, ...] = ()
        if not self.at("]"):
            items = self.separated(self._json_value)
        self.shallower()
        self.expect("]", " or ','")
        return Collection(items, offset=start.offset)

    def _parse_object(self) -> JsonObject:
        start = self.advance()
        self.spend()
        self.deeper()
        members: tuple[tuple[str, Node], ...] = ()
        if not self.at("}"):
            members = self.separated(self._json_member)
        self.shallower()
        self.expect("}", " or ','")
        names = [name for name, _ in members]
        if len(set(names)) < len(names):
            raise QueryError("a name occurs twice in the object", start.offset)
        return JsonObject(members, offset=start.offset)

    def _json_member(self) -> tuple[str, Node]:
        name = self.expect_kind("json", "a member name in double quotes")
        self.expect(":")
        return convert_json_string(name.text, name.offset), self._json_value()

    def _json_value(self) -> Node:
        if self.token.kind != "json":
            return self.parse_expression()
        token = self.advance()
        value = convert_json_string(token.text, token.offset)
        return Literal(value, "string", offset=token.offset)
