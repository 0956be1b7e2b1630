"""Canonical functions, ``cast`` and ``isof`` with their types, and ``case``."""

from __future__ import annotations

import re
import typing as t

from app.odata.errors import QueryError
from app.odata.functions import FUNCTIONS, OWN_SYNTAX, describe_count
from app.odata.syntax.lexer import Token
from app.odata.syntax.literals import DOTTED_NAME, to_string
from app.odata.syntax.nodes import Call, Case, Node, TypeName
from app.odata.syntax.parser_paths import PathParser

_TYPE: t.Final = re.compile(rf"Collection\(({DOTTED_NAME})\)|({DOTTED_NAME})")
_ENDS_CALL: t.Final = re.compile(r"[ \t]*+\)")
_HOUR_AND_MINUTE: t.Final = re.compile(r"[0-9]{2}:[0-9]{2}")


class CallParser(PathParser):
    """What stands between the parentheses of a function that the standard defines."""

    def is_canonical(self, lowered: str) -> bool:
        return lowered in FUNCTIONS or lowered in OWN_SYNTAX

    def parse_canonical_call(self, name: str) -> Node:
        """The call of the function ``name`` (lower case), whose token is next."""
        token = self.advance()
        self.advance()
        self.deeper()
        call: Node
        if name == "case":
            call = self._parse_case(token)
        elif name in ("cast", "isof"):
            call = Call(name, self._parse_type_arguments(token), offset=token.offset)
            self._refuse_path_after(name)
        else:
            call = Call(name, self._parse_plain_arguments(name, token), offset=token.offset)
        self.shallower()
        return call

    def _parse_plain_arguments(self, name: str, token: Token) -> tuple[Node, ...]:
        function = FUNCTIONS[name]
        arguments: tuple[Node, ...] = ()
        if not self.at(")"):
            arguments = self.separated(self.parse_expression)
        self.expect(")", f" or ',' in the arguments of {name}")
        if not function.least <= len(arguments) <= function.most:
            count = describe_count(function.least, function.most)
            raise QueryError(f"{name} takes {count}, {len(arguments)} given", token.offset)
        return arguments

    def _parse_type_arguments(self, token: Token) -> tuple[Node, ...]:
        """``(type)`` or ``(expression,type)``; the type with or without quotes."""
        arguments: tuple[Node, ...] = ()
        if not self._at_only_argument():
            arguments = (self.parse_expression(),)
            self.expect(",", f" and a type in {token.text}")
        type_name = self._parse_type()
        self.expect(")")
        return (*arguments, type_name)

    def _refuse_path_after(self, name: str) -> None:
        """``castExpr`` ends with its parenthesis; a path goes on from a type cast segment."""
        if self.at("/"):
            raise QueryError(
                f"no path goes on from {name}(...): write Namespace.Type/property",
                self.token.offset,
            )

    def _at_only_argument(self) -> bool:
        token = self.token
        if token.kind == "name" and token.text == "Collection" and self.follows("("):
            return True
        return token.kind in ("name", "string") and bool(_ENDS_CALL.match(self.text, token.end))

    def _parse_type(self) -> TypeName:
        token = self.token
        if token.kind == "string":
            self.advance()
            match = _TYPE.fullmatch(to_string(token.text))
        else:
            match = _TYPE.match(self.text, token.offset) if token.kind == "name" else None
            if match is not None:
                self.read_on_from(match.end())
        if match is None:
            raise QueryError("expected a type such as Edm.String", token.offset)
        return TypeName(match[1] or match[2], match[1] is not None, offset=token.offset)

    def _parse_case(self, token: Token) -> Case:
        branches = self.separated(self._parse_branch)
        self.expect(")", " or ',' in the branches of case")
        return Case(branches, offset=token.offset)

    def _parse_branch(self) -> tuple[Node, Node]:
        """``condition:value``; an ``10:20`` where the colon must be is a number and a value."""
        start, parts_left = self.token.offset, self._parts_left
        condition = self.parse_expression()
        last = self.previous
        if not self.at(":") and last.kind == "timeofday" and _HOUR_AND_MINUTE.match(last.text):
            self.lexer.split_time(last.offset)
            self.read_on_from(start)
            self._parts_left = parts_left
            condition = self.parse_expression()
        self.expect(":", " and a value after the condition of case")
        return condition, self.parse_expression()
