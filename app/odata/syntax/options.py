"""The options of a query string: their shape, and their syntax as QueryOptions; no model.

A request goes ``read_options`` (query_string.py), ``shape_options``, and only if no plan is cached
for the shape, ``parse_options``.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from app.odata.cursor import DEFAULT_LIMITS, Limits
from app.odata.errors import QueryError
from app.odata.syntax.literals import INT64_MAX
from app.odata.syntax.nodes import LiteralValue, Node, SearchNode
from app.odata.syntax.option_nodes import ExpandItem, QueryOptions, SelectItem
from app.odata.syntax.option_parser import VALUE_PARSERS, OptionParser
from app.odata.syntax.query_string import OptionTexts, read_options
from app.odata.syntax.search import parse_search
from app.odata.syntax.shape import shape

__all__ = [
    "OptionTexts",
    "QueryOptions",
    "Shape",
    "parse_aliases",
    "parse_expand",
    "parse_filter",
    "parse_options",
    "parse_select",
    "read_options",
    "shape_options",
]

_NEVER_PLANNED: t.Final = frozenset(["skiptoken", "deltatoken", "format", "schemaversion"])
_NEVER_LIFTED: t.Final = frozenset(["search", "count", "id", "index"])


@dataclass(frozen=True, slots=True)
class Shape:
    """What a plan is cached by, and what it is then run with.

    ``key`` leaves out the options that do not change the plan: ``$format``, ``$schemaversion``,
    ``$skiptoken``, ``$deltatoken`` (whoever opens a token knows what in it does) and custom ones.
    ``literals[n]`` is the value of the Literal with slot n plus the ``first_slot`` of the parse.
    """

    key: tuple[tuple[str, str], ...]
    literals: tuple[LiteralValue, ...]


def shape_options(options: OptionTexts) -> Shape:
    """The shape of all options together.

    Raises: QueryError, a literal that has no value, such as 2024-02-30.
    """
    key: list[tuple[str, str]] = []
    literals: list[LiteralValue] = []
    for name, text in options.system.items():
        if name in _NEVER_PLANNED:
            continue
        if name in _NEVER_LIFTED:
            key.append((name, text))
        else:
            key.append((name, _lift(text, "$" + name, literals)))
    for name, text in options.aliases.items():
        key.append((name, _lift(text, name, literals)))
    return Shape(tuple(key), tuple(literals))


def _lift(text: str, option: str, literals: list[LiteralValue]) -> str:
    try:
        lifted, values = shape(text)
    except QueryError as error:
        raise error.in_option(option) from None
    literals += values
    return lifted


def parse_options(
    query: OptionTexts | str | bytes | Iterable[tuple[str, str]],
    *,
    limits: Limits = DEFAULT_LIMITS,
    first_slot: int = 0,
) -> QueryOptions:
    """The syntax of all options.

    Args:
        query: what ``read_options`` made, or takes.
        limits: for the text of each option.
        first_slot: the slot of the first literal, when those of the resource path come first.
    Raises: QueryError, with the option and the offset in its decoded text.
    """
    texts = query if isinstance(query, OptionTexts) else read_options(query)
    values: dict[str, t.Any] = {}
    slot = first_slot
    for name, text in texts.system.items():
        try:
            if name in _SIMPLE_PARSERS:
                values[name] = _SIMPLE_PARSERS[name](text, limits)
            else:
                parser = OptionParser(text, limits=limits, first_slot=slot)
                values[name] = parser.whole(partial(VALUE_PARSERS[name], parser))
                slot = parser.next_slot
        except QueryError as error:
            raise error.in_option("$" + name) from None
    aliases: dict[str, Node] = {}
    for alias, text in texts.aliases.items():
        try:
            parser = OptionParser(text, limits=limits, first_slot=slot)
            aliases[alias[1:]] = parser.whole(parser.parse_expression)
            slot = parser.next_slot
        except QueryError as error:
            raise error.in_option(alias) from None
    return QueryOptions(**values, aliases=aliases, custom=texts.custom)


def parse_aliases(texts: OptionTexts) -> Mapping[str, Node]:
    """The parameter aliases alone, by name without ``@``."""
    return parse_options(OptionTexts({}, texts.aliases)).aliases if texts.aliases else {}


def parse_filter(text: str, *, limits: Limits = DEFAULT_LIMITS) -> Node:
    """The expression of a ``$filter`` alone."""
    parser = OptionParser(text, limits=limits)
    return parser.whole(parser.parse_expression)


def parse_select(text: str, *, limits: Limits = DEFAULT_LIMITS) -> tuple[SelectItem, ...]:
    parser = OptionParser(text, limits=limits)
    return parser.whole(parser.parse_select)


def parse_expand(text: str, *, limits: Limits = DEFAULT_LIMITS) -> tuple[ExpandItem, ...]:
    parser = OptionParser(text, limits=limits)
    return parser.whole(parser.parse_expand)


# --- options whose value is a word


def _parse_search(text: str, limits: Limits) -> SearchNode:
    return parse_search(text, limits=limits)


def _parse_count(text: str, limits: Limits) -> bool:
    if text.lower() not in ("true", "false"):
        raise QueryError("$count must be true or false", 0)
    return text.lower() == "true"


def _parse_index(text: str, limits: Limits) -> int | None:
    """An ordinal, from the end if negative; nothing is read as not given."""
    if not text:
        return None
    if not re.fullmatch(r"-?[0-9]{1,19}", text) or abs(int(text)) > INT64_MAX:
        raise QueryError("$index must be a whole number", 0)
    return int(text)


def _parse_text(text: str, limits: Limits) -> str:
    if not text:
        raise QueryError("expected a value", 0)
    return text


_SIMPLE_PARSERS: t.Final[dict[str, Callable[[str, Limits], t.Any]]] = {
    "search": _parse_search,
    "count": _parse_count,
    "index": _parse_index,
    "skiptoken": _parse_text,
    "deltatoken": _parse_text,
    "format": _parse_text,
    "schemaversion": _parse_text,
    "id": _parse_text,
}
