"""``$select``, ``$expand`` and the options that stand in parentheses after their items."""

from __future__ import annotations

import re
import typing as t

from app.odata.errors import QueryError, suggestion
from app.odata.syntax.apply_parser import ApplyParser
from app.odata.syntax.nodes import ExpandItem, Node, QueryOptions, SelectItem

_COUNT_OPTIONS: t.Final = frozenset(("filter", "search"))
_REF_OPTIONS: t.Final = _COUNT_OPTIONS | {"orderby", "skip", "top", "count"}
_SELECT_OPTIONS: t.Final = _REF_OPTIONS | {"compute", "select"}
_EXPAND_OPTIONS: t.Final = _SELECT_OPTIONS | {"expand", "levels", "apply"}
_LEVELS: t.Final = re.compile(r"[1-9][0-9]{0,8}")
_STAR_OPTIONS: t.Final = frozenset(("levels",))
_ALIASES_TOO: t.Final = (_SELECT_OPTIONS, _EXPAND_OPTIONS)


class OptionParser(ApplyParser):
    """The grammar of every option whose value is more than a word."""

    # --- $select

    def parse_select(self) -> tuple[SelectItem, ...]:
        return self.separated(self._parse_select_item)

    def _parse_select_item(self) -> SelectItem:
        token = self.token
        if self.accept("*"):
            return SelectItem(("*",), offset=token.offset)
        if token.kind == "wildcard":
            self.advance()
            return SelectItem((token.text,), offset=token.offset)
        path = [self._select_step()]
        while self.accept_joined("/"):
            path.append(self._select_step())
        if not self.accept_joined("("):
            return SelectItem(tuple(path), offset=token.offset)
        if self.token.kind == "name" and not self.follows("="):
            names = self.separated(lambda: self.expect_name("the name of a parameter").text)
            self.expect(")", " or ','")
            return SelectItem(tuple(path), parameters=names, offset=token.offset)
        options = self._parse_nested_options(_SELECT_OPTIONS)
        return SelectItem(tuple(path), options, offset=token.offset)

    def _select_step(self) -> str:
        if self.token.kind not in ("name", "at"):
            raise self.expected("a property, '*' or a qualified name")
        self._refuse_blank_after_slash()
        return self.advance().text

    # --- $expand

    def parse_expand(self) -> tuple[ExpandItem, ...]:
        return self.separated(self._parse_expand_item)

    def _parse_expand_item(self) -> ExpandItem:
        token = self.token
        if token.kind == "dollar" and token.text == "$value":
            self.advance()
            return ExpandItem(("$value",), offset=token.offset)
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
        return ExpandItem(
            tuple(path),
            self._parse_expand_options(star, ref, count_only),
            star=star,
            ref=ref,
            count_only=count_only,
            offset=token.offset,
        )

    def _parse_expand_options(self, star: bool, ref: bool, count_only: bool) -> QueryOptions | None:
        """The options that the ABNF allows after this kind of item."""
        if star and ref:
            return None
        if not self.accept_joined("("):
            return None
        if star:
            return self._parse_nested_options(_STAR_OPTIONS)
        if ref:
            return self._parse_nested_options(_REF_OPTIONS)
        return self._parse_nested_options(_COUNT_OPTIONS if count_only else _EXPAND_OPTIONS)

    def _refuse_blank_after_slash(self) -> None:
        if self.token.spaced and self.previous.text == "/":
            raise QueryError("unexpected blank after '/'", self.previous.end)

    # --- options in parentheses

    def _parse_nested_options(self, allowed: frozenset[str]) -> QueryOptions:
        """``option *( ";" option ) ")"``; the opening parenthesis has been taken."""
        self.deeper()
        values: dict[str, t.Any] = {}
        aliases: dict[str, Node] = {}
        while True:
            if self.token.kind == "at" and allowed in _ALIASES_TOO:
                self._parse_nested_alias(aliases)
            else:
                self._parse_nested_option(allowed, values)
            if not self.accept(";"):
                break
        self.shallower()
        self.expect(")", " or ';'")
        return QueryOptions(**values, aliases=aliases)

    def _parse_nested_option(self, allowed: frozenset[str], values: dict[str, t.Any]) -> None:
        token, name = self.token, self.option_name()
        if name is None:
            raise self.expected("an option such as $select=...")
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
        else:
            parse = VALUE_PARSERS[name]
            values[name] = self.parse_option_value(lambda: parse(self))

    def _parse_nested_alias(self, aliases: dict[str, Node]) -> None:
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


VALUE_PARSERS: t.Final[dict[str, t.Callable[[OptionParser], t.Any]]] = {
    "filter": OptionParser.parse_expression,
    "orderby": OptionParser.parse_order_items,
    "select": OptionParser.parse_select,
    "expand": OptionParser.parse_expand,
    "compute": OptionParser.parse_compute_items,
    "apply": OptionParser.parse_apply,
    "top": lambda parser: parser.parse_row_count("$top"),
    "skip": lambda parser: parser.parse_row_count("$skip"),
    "count": OptionParser._parse_count_flag,
    "levels": OptionParser._parse_levels,
}
