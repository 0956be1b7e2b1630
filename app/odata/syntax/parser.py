"""The grammar of what a query says: a recursive-descent parser, one method for each rule.

Expressions come first, a method per precedence level, loosest first; below the levels stand the
operands: literals, JSON, paths with what is in their parentheses, calls of canonical functions.
Then follow ``$apply``, whose transformations have a method each (Data Aggregation 4.0, section 3),
with what it shares with ``$orderby``, ``$compute``, ``$top`` and ``$skip``, and at last
``$select``, ``$expand`` and the options that stand in parentheses behind their items.
"""

from __future__ import annotations

import re
import typing as t
from functools import partial

from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.functions import FUNCTIONS, OWN_SYNTAX
from app.odata.syntax import nodes
from app.odata.syntax.lexer import PRECEDENCE, UNARY_PRECEDENCE, Cursor, Parsed, Token
from app.odata.syntax.literals import (
    CONVERTERS,
    DOTTED_NAME,
    INT64_MAX,
    NON_FINITE,
    convert_json_string,
    convert_prefixed,
    to_string,
)
from app.odata.syntax.search import parse_nested_search

_LITERALS: t.Final = frozenset((*CONVERTERS, "prefixed", "nonfinite"))
_BOOLEANS: t.Final = {"true": True, "false": False}
_VARIABLES: t.Final[dict[str, type[nodes.It] | type[nodes.This] | type[nodes.These]]] = {
    "$it": nodes.It,
    "$this": nodes.This,
    "$these": nodes.These,
}
_NO_EXPRESSION: t.Final = "'{}' addresses a representation and cannot be part of an expression"
_TYPE: t.Final = re.compile(rf"Collection\(({DOTTED_NAME})\)|({DOTTED_NAME})")
_ENDS_CALL: t.Final = re.compile(r"[ \t]*+\)")
_HOUR_AND_MINUTE: t.Final = re.compile(r"[0-9]{2}:[0-9]{2}")

_TOP_BOTTOM: t.Final = t.get_args(nodes.TopBottomKind)

_METHODS: t.Final = ("sum", "min", "max", "average", "countdistinct")
# Each is a select in a select.
_MOST_STEPS: t.Final = 8

_COUNT_OPTIONS: t.Final = frozenset(("filter", "search"))
_REF_OPTIONS: t.Final = _COUNT_OPTIONS | {"orderby", "skip", "top", "count"}
_SELECT_OPTIONS: t.Final = _REF_OPTIONS | {"compute", "select"}
_EXPAND_OPTIONS: t.Final = _SELECT_OPTIONS | {"expand", "levels", "apply"}
_LEVELS: t.Final = re.compile(r"[1-9][0-9]{0,8}")
_STAR_OPTIONS: t.Final = frozenset(("levels",))
_ALIASES_TOO: t.Final = (_SELECT_OPTIONS, _EXPAND_OPTIONS)


class Parser(Cursor):
    """The grammar of every option whose value is more than a word.

    ``commonExpr`` of the ABNF has the precedence of URL Conventions 5.1.1.17: binary operators are
    left-associative; blanks are required around them.
    """

    def parse_expression(self, least: int = 1) -> nodes.Node:
        """Operands joined by operators of at least this precedence.

        ``has`` and ``in`` bind tightest: ``not a in (1,2)`` is ``not (a in (1,2))``.
        """
        left = self._parse_unary() if self._at_unary() else self.parse_primary()
        while (op := self.operator) is not None and PRECEDENCE[op] >= least:
            if op in ("and", "or"):
                left = self._chain(t.cast(t.Literal["and", "or"], op), left)
            elif op == "in":
                token = self._take_operator()
                left = nodes.In(left, self._parse_list_or_collection(), offset=token.offset)
            else:
                token = self._take_operator()
                tighter = PRECEDENCE[op] + 1
                right = self.parse_primary() if op == "has" else self.parse_expression(tighter)
                left = nodes.Binary(
                    t.cast(nodes.BinaryOperator, op), left, right, offset=token.offset
                )
        return left

    # --- operators

    def _at_unary(self) -> bool:
        """``-`` with or without a blank after it; ``not`` before a blank or a parenthesis."""
        token = self.token
        if token.kind == "mark":
            return token.text == "-"
        return token.kind == "name" and token.text.lower() == "not" and self.follows(" \t(")

    def _parse_unary(self) -> nodes.Node:
        token = self.advance()
        self.spend()
        self.deeper()
        operand = self.parse_expression(UNARY_PRECEDENCE)
        self.shallower()
        return nodes.Unary("neg" if token.text == "-" else "not", operand, offset=token.offset)

    def _take_operator(self) -> Token:
        token = self.advance()
        if not self.token.spaced:
            at_close = self.token.kind == "end" or self.at(")", "]", "}", ",", ":", ";")
            raise self.expected("an operand" if at_close else "a blank")
        return token

    def _chain(self, op: t.Literal["and", "or"], left: nodes.Node) -> nodes.Node:
        operands, offsets = [left], []
        while self.operator == op:
            offsets.append(self._take_operator().offset)
            operands.append(self.parse_expression(PRECEDENCE[op] + 1))
        return nodes.balance(operands, offsets, lambda a, b, at: nodes.Binary(op, a, b, offset=at))

    # --- operands

    def parse_primary(self) -> nodes.Node:
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
                self.advance()
                return self.inside(self.parse_expression, ")", " or an operator")
            if token.text == "[":
                return self._parse_array()
            if token.text == "{":
                return self._parse_object()
        if kind == "json":
            raise QueryError("text is written in single quotes", token.offset)
        raise self.expected("an operand" if self.previous.text else "an expression")

    def _parse_name(self) -> nodes.Node:
        """A literal that is a word, a canonical function, or a path."""
        if self.follows("("):
            lowered = self.token.text.lower()
            if lowered in FUNCTIONS or lowered in OWN_SYNTAX:
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

    def parse_literal(self) -> nodes.Literal:
        """The literal that is next, with its slot if its kind is lifted into the shape."""
        token = self.advance()
        text, offset = token.text, token.offset
        if token.kind == "name":
            if text == "null":
                return nodes.Literal(None, "null", offset=offset)
            if text.lower() in _BOOLEANS:
                return nodes.Literal(_BOOLEANS[text.lower()], "boolean", offset=offset)
        if token.kind in ("name", "nonfinite"):
            return nodes.Literal(NON_FINITE[text], "double", offset=offset)
        if token.kind == "prefixed":
            value, kind, type_name = convert_prefixed(text, offset)
            slot = self.take_slot() if kind == "duration" else None
            return nodes.Literal(value, kind, type_name=type_name, slot=slot, offset=offset)
        value, kind = CONVERTERS[token.kind](text, offset)
        return nodes.Literal(value, kind, slot=self.take_slot(), offset=offset)

    def _parse_list_or_collection(self) -> nodes.Node:
        """The right side of ``in``: literals in parentheses, or what is a collection itself."""
        start = self.token
        if not self.at("("):
            return self.parse_primary()
        self.advance()
        if self.accept(")"):
            return nodes.Collection((), offset=start.offset)
        if self._at_literal():
            items = self.separated(self._list_item)
            self.expect(")", " or ','")
            return nodes.Collection(items, offset=start.offset)
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

    def _list_item(self) -> nodes.Literal:
        if not self._at_literal():
            raise self.expected("a literal")
        return self.parse_literal()

    # --- JSON

    def _parse_array(self) -> nodes.Collection:
        start = self.advance()
        self.spend()
        items = self._listed(self._json_value, "]", may_be_empty=True)
        return nodes.Collection(items, offset=start.offset)

    def _parse_object(self) -> nodes.JsonObject:
        start = self.advance()
        self.spend()
        members = self._listed(self._json_member, "}", may_be_empty=True)
        names = [name for name, _ in members]
        if len(set(names)) < len(names):
            raise QueryError("a name occurs twice in the object", start.offset)
        return nodes.JsonObject(members, offset=start.offset)

    def _listed(
        self, parse: t.Callable[[], Parsed], close: str, purpose: str = " or ','", *,
        may_be_empty: bool = False,
    ) -> tuple[Parsed, ...]:  # fmt: skip
        """One level of nesting that is a list, up to what ends it."""
        is_empty = may_be_empty and self.at(close)
        return self.inside(lambda: () if is_empty else self.separated(parse), close, purpose)

    def _json_member(self) -> tuple[str, nodes.Node]:
        name = self.expect_kind("json", "a member name in double quotes")
        self.expect(":")
        return convert_json_string(name.text, name.offset), self._json_value()

    def _json_value(self) -> nodes.Node:
        if self.token.kind != "json":
            return self.parse_expression()
        token = self.advance()
        value = convert_json_string(token.text, token.offset)
        return nodes.Literal(value, "string", offset=token.offset)

    # --- paths: their first steps

    def parse_path(self) -> nodes.Node:
        """A path that begins with a name or an annotation, its further steps included."""
        token = self.token
        if token.kind == "at":
            return self.parse_at()
        self.expect_kind("name", "a property path")
        return self.parse_steps(self._named_step(None, token))

    def parse_at(self) -> nodes.Node:
        """``@alias``, or ``@Namespace.Term#Qualifier`` on the instance itself."""
        token = self.advance()
        if "." in token.text or "#" in token.text:
            return self.parse_steps(_annotation(None, token))
        return self.parse_steps(nodes.Alias(token.text[1:], offset=token.offset))

    def parse_variable(self) -> nodes.Node:
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

    def _parse_root(self, token: Token) -> nodes.Node:
        self.expect_joined("/")
        name = self.token
        if name.kind != "name" or name.spaced:
            raise self.expected("the name of an entity set, a singleton or a function")
        self.advance()
        return self.parse_steps(self._named_step(nodes.Root(offset=token.offset), name))

    # --- paths: further steps

    def parse_steps(self, path: nodes.Node) -> nodes.Node:
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
                        return self._parse_lambda(
                            path, token, t.cast(nodes.LambdaOperator, lowered)
                        )
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

    def _named_step(self, base: nodes.Node | None, token: Token) -> nodes.Node:
        """The step whose name has just been taken, and the parentheses that may follow it."""
        name, offset = token.text, token.offset
        if not self.at("(") or self.token.spaced:
            if "." not in name:
                return nodes.Member(base, name, offset=offset)
            if base is None and not self.at("/"):
                raise self.expected("'/' and a property, or '(' and arguments,")
            return nodes.TypeCast(base, name, offset=offset)
        if base is None and name.lower() in ("any", "all"):
            raise QueryError(
                f"'{name}' needs a collection before it, as in Items/{name}(...)", offset
            )
        arguments = self.parse_arguments(name, offset)
        step: nodes.Node
        if arguments and arguments[0].name is None:
            collection = nodes.TypeCast if "." in name else nodes.Member
            step = nodes.KeyPredicate(
                collection(base, name, offset=offset), arguments, offset=offset
            )
        else:
            step = nodes.BoundCall(base, name, arguments, offset=offset)
        return self._parse_key(step)

    def _parse_key(self, step: nodes.Node) -> nodes.Node:
        """A key predicate on the result of a function or of ``/$filter(...)``."""
        if not self.at("(") or self.token.spaced:
            return step
        offset = self.token.offset
        return nodes.KeyPredicate(step, self.parse_arguments("", offset), offset=offset)

    # --- parentheses of a path

    def parse_arguments(self, function: str, offset: int) -> tuple[nodes.Argument, ...]:
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
            if not isinstance(value, nodes.Literal | nodes.Alias) or self.at(","):
                raise QueryError(_not_a_call(function), offset)
            arguments = (nodes.Argument(None, value, offset=value.offset),)
        self.shallower()
        self.expect(")")
        return arguments

    def _named_argument(self) -> nodes.Argument:
        token = self.expect_name("the name of a parameter")
        self.expect_joined("=")
        return nodes.Argument(token.text, self.parse_expression(), offset=token.offset)

    def _parse_lambda(
        self, source: nodes.Node, token: Token, op: nodes.LambdaOperator
    ) -> nodes.Lambda:
        self.advance()
        if op == "any" and self.accept(")"):
            return nodes.Lambda(op, source, offset=token.offset)
        variable = self.expect_name("a variable name and ':'")
        self.expect(":")
        predicate = self.inside(self.parse_expression, ")", f" that ends {op}(...)")
        return nodes.Lambda(op, source, variable.text, predicate, offset=token.offset)

    def _parse_filter_segment(self, base: nodes.Node, token: Token) -> nodes.Node:
        if token.text != "$filter":
            raise QueryError(_NO_EXPRESSION.format(token.text), token.offset)
        return self._parse_key(
            nodes.FilterSegment(base, self.parse_predicate(), offset=token.offset)
        )

    def parse_predicate(self) -> nodes.Node:
        """What stands in the parentheses of ``$filter``, which has just been taken."""
        self.expect_joined("(")
        return self.inside(self.parse_expression, ")", " that ends $filter(...)")

    def _parse_count(self, source: nodes.Node, token: Token) -> nodes.Count:
        """``/$count`` and its options in parentheses: ``$filter`` and ``$search``."""
        if not self.accept_joined("("):
            return nodes.Count(source, offset=token.offset)
        options = self._parse_nested_options(_COUNT_OPTIONS)
        return nodes.Count(source, options.filter, options.search, offset=token.offset)

    # --- options inside parentheses

    def parse_option_search(self) -> nodes.Node:
        """The text behind ``search=`` or ``search(``; its words are not tokens of expressions."""
        search, end = parse_nested_search(self.text, self.token.end + 1, limits=self.limits)
        self.read_on_from(end)
        return search

    # --- canonical functions, cast and isof with their types, case

    def parse_canonical_call(self, name: str) -> nodes.Node:
        """The call of the function ``name`` (lower case), whose token is next."""
        token = self.advance()
        self.advance()
        if name == "case":
            branches = self._listed(self._parse_branch, ")", " or ',' in the branches of case")
            return nodes.Case(branches, offset=token.offset)
        if name in ("cast", "isof"):
            arguments = self.inside(partial(self._parse_type_arguments, token), ")")
            if self.at("/"):  # a path goes on from a type cast segment
                message = f"no path goes on from {name}(...): write Namespace.Type/property"
                raise QueryError(message, self.token.offset)
            return nodes.Call(name, arguments, offset=token.offset)
        what = f" or ',' in the arguments of {name}"
        arguments = self._listed(self.parse_expression, ")", what, may_be_empty=True)
        counts = FUNCTIONS[name].counts
        if len(arguments) not in counts:
            number = " or ".join(str(count or "no") for count in counts)
            taken = f"{number} argument{'' if counts == [1] else 's'}"
            raise QueryError(f"{name} takes {taken}, {len(arguments)} given", token.offset)
        return nodes.Call(name, arguments, offset=token.offset)

    def _parse_type_arguments(self, token: Token) -> tuple[nodes.Node, ...]:
        """``(type)`` or ``(expression,type)``; the type with or without quotes."""
        if self._at_only_argument():
            return (self._parse_type(),)
        expression = self.parse_expression()
        self.expect(",", f" and a type in {token.text}")
        return expression, self._parse_type()

    def _at_only_argument(self) -> bool:
        token = self.token
        if token.kind == "name" and token.text == "Collection" and self.follows("("):
            return True
        return token.kind in ("name", "string") and bool(_ENDS_CALL.match(self.text, token.end))

    def _parse_type(self) -> nodes.TypeName:
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
        return nodes.TypeName(match[1] or match[2], match[1] is not None, offset=token.offset)

    def _parse_branch(self) -> tuple[nodes.Node, nodes.Node]:
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

    # --- $apply: ``applyTrafo *( "/" applyTrafo )``, names of transformations in any case

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
            search = self.parse_option_search()
            self.expect(")", " that ends search(...)")
            transformation: nodes.Transformation = nodes.OptionTransformation(
                "search", search, offset=token.offset
            )
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
        elif name in _OPTION_TRANSFORMATIONS:
            value = VALUE_PARSERS[name](self)
            transformation = nodes.OptionTransformation(
                t.cast(t.Any, name), value, offset=token.offset
            )
        elif name in _TRANSFORMATIONS:
            transformation = _TRANSFORMATIONS[name](self, token)
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
        path = None
        if token.text.lower() == "addnested":
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

    def _parse_order_item(self) -> nodes.OrderItem:
        offset = self.token.offset
        expression = self.parse_expression()
        descending = self.at_word("desc")
        if descending or self.at_word("asc"):
            self.advance()
        return nodes.OrderItem(expression, descending, offset=offset)

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
        item = self.inside(self._parse_aggregated, ")", " that ends aggregate(...)")
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

    # --- $select

    def _parse_select_item(self) -> nodes.SelectItem:
        token = self.token
        if self.accept("*"):
            return nodes.SelectItem(("*",), offset=token.offset)
        if token.kind == "wildcard":
            self.advance()
            return nodes.SelectItem((token.text,), offset=token.offset)
        path = [self._select_step()]
        while self.accept_joined("/"):
            path.append(self._select_step())
        if not self.accept_joined("("):
            return nodes.SelectItem(tuple(path), offset=token.offset)
        if self.token.kind == "name" and not self.follows("="):
            names = self.separated(lambda: self.expect_name("the name of a parameter").text)
            self.expect(")", " or ','")
            return nodes.SelectItem(tuple(path), parameters=names, offset=token.offset)
        options = self._parse_nested_options(_SELECT_OPTIONS)
        return nodes.SelectItem(tuple(path), options, offset=token.offset)

    def _select_step(self) -> str:
        if self.token.kind not in ("name", "at"):
            raise self.expected("a property, '*' or a qualified name")
        self._refuse_blank_after_slash()
        return self.advance().text

    # --- $expand

    def _parse_expand_item(self) -> nodes.ExpandItem:
        token = self.token
        if token.kind == "dollar" and token.text == "$value":
            self.advance()
            return nodes.ExpandItem(("$value",), offset=token.offset)
        path: list[str] = []
        star = ref = count_only = False
        while True:
            self._refuse_blank_after_slash()
            step = self.token
            if step.kind == "dollar" and path and step.text in ("$ref", "$count"):
                self.advance()
                ref, count_only = step.text == "$ref", step.text == "$count"
                break
            if self.at("*") and not star:
                star = True
            elif step.kind not in ("name", "at") or star:
                raise self.expected("'$ref'" if star else "a navigation property or '*'")
            path.append(self.advance().text)
            if not self.accept_joined("/"):
                break
        if star and count_only:
            raise QueryError("expected '$ref' after '*/'", self.previous.offset)
        options, allowed = None, _COUNT_OPTIONS if count_only else _EXPAND_OPTIONS
        if not (star and ref) and self.accept_joined("("):
            allowed = _STAR_OPTIONS if star else _REF_OPTIONS if ref else allowed
            options = self._parse_nested_options(allowed)
        return nodes.ExpandItem(
            tuple(path), options, star=star, ref=ref, count_only=count_only, offset=token.offset
        )

    def _refuse_blank_after_slash(self) -> None:
        if self.token.spaced and self.previous.text == "/":
            raise QueryError("unexpected blank after '/'", self.previous.end)

    # --- options in parentheses

    def _parse_nested_options(self, allowed: frozenset[str]) -> nodes.QueryOptions:
        """``option *( ";" option ) ")"``; the opening parenthesis has been taken."""
        self.deeper()
        values: dict[str, t.Any] = {}
        aliases: dict[str, nodes.Node] = {}
        while True:
            if self.token.kind == "at" and allowed in _ALIASES_TOO:
                self._parse_nested_alias(aliases)
            else:
                self._parse_nested_option(allowed, values)
            if not self.accept(";"):
                break
        self.shallower()
        self.expect(")", " or ';'")
        return nodes.QueryOptions(**values, aliases=aliases)

    def _parse_nested_option(self, allowed: frozenset[str], values: dict[str, t.Any]) -> None:
        token = self.token
        if token.kind not in ("dollar", "name") or not self.follows("="):
            raise self.expected("an option such as $select=...")
        name = token.text.removeprefix("$").lower()
        if name not in allowed:
            known = ", ".join("$" + option for option in sorted(allowed))
            raise QueryError(
                f"'{token.text}' is not allowed here{suggestion(name, allowed)} (allowed: {known})",
                token.offset,
            )
        if name in values:
            raise QueryError(f"${name} must not appear more than once", token.offset)
        if name == "search":
            values[name] = self.parse_option_search()
            return
        self.advance()
        self.advance()
        if self.token.spaced:
            raise QueryError("unexpected blank after '='", self.previous.end)
        values[name] = VALUE_PARSERS[name](self)

    def _parse_nested_alias(self, aliases: dict[str, nodes.Node]) -> None:
        token = self.advance()
        name = token.text[1:]
        if name in aliases:
            raise QueryError(f"{token.text} must not appear more than once", token.offset)
        self.expect_joined("=")
        aliases[name] = self.parse_expression()

    def _parse_count_flag(self) -> bool:
        token = self.token
        if token.kind == "name" and token.text.lower() in ("true", "false"):
            self.advance()
            return token.text.lower() == "true"
        raise QueryError("$count must be true or false", token.offset)

    def _parse_levels(self) -> int | t.Literal["max"]:
        token = self.token
        if token.kind == "name" and token.text.lower() == "max":
            self.advance()
            return "max"
        if token.kind == "number" and _LEVELS.fullmatch(token.text):
            self.advance()
            return int(token.text)
        raise QueryError("$levels must be max or a whole number from 1", token.offset)


def _items(parse: t.Callable[[Parser], t.Any]) -> t.Callable[[Parser], tuple[t.Any, ...]]:
    return lambda parser: parser.separated(partial(parse, parser))


def _annotation(base: nodes.Node | None, token: Token) -> nodes.Annotation:
    term, _, qualifier = token.text[1:].partition("#")
    return nodes.Annotation(base, term, qualifier or None, offset=token.offset)


def _not_a_call(function: str) -> str:
    if not function:
        return "expected the value of a key between the parentheses"
    if function in FUNCTIONS:
        return f"a path stands here, not a call of {function}(): give its value a name by compute()"
    return f"unknown function '{function}'" + suggestion(function, FUNCTIONS)


# The options that are transformations as well; ``search`` has words of its own.
_OPTION_TRANSFORMATIONS: t.Final = ("filter", "compute", "orderby", "top", "skip")
_TRANSFORMATIONS: t.Final[dict[str, t.Callable[[Parser, Token], nodes.Transformation]]] = {
    "aggregate": Parser._parse_aggregate,
    "concat": Parser._parse_concat,
    "groupby": Parser._parse_groupby,
    "nest": Parser._parse_nest,
    "addnested": Parser._parse_nest,
    "join": Parser._parse_join,
    "outerjoin": Parser._parse_join,
    "expand": Parser._parse_expand,
}
OFFERED: t.Final = tuple(dict.fromkeys((
    "aggregate", *_OPTION_TRANSFORMATIONS, *_TRANSFORMATIONS, *_TOP_BOTTOM, "identity", "search",
)))  # fmt: skip
_OF_HIERARCHIES: t.Final = ("ancestors", "descendants", "traverse", "rolluprecursive")
VALUE_PARSERS: t.Final[dict[str, t.Callable[[Parser], t.Any]]] = {
    "filter": Parser.parse_expression,
    "orderby": _items(Parser._parse_order_item),
    "select": _items(Parser._parse_select_item),
    "expand": _items(Parser._parse_expand_item),
    "compute": _items(Parser._parse_compute_item),
    "apply": Parser.parse_apply,
    "top": lambda parser: parser.parse_row_count("$top"),
    "skip": lambda parser: parser.parse_row_count("$skip"),
    "count": Parser._parse_count_flag,
    "levels": Parser._parse_levels,
}
