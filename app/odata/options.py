"""Query string to QueryOptions: text only, no model.

``read_options`` decodes the pairs and sorts them into system options, aliases and the rest;
``shape_options`` makes the key of the plan cache of them; ``parse_options`` makes the syntax tree.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from app.odata.cursor import DEFAULT_LIMITS, Limits
from app.odata.errors import QueryError
from app.odata.functions import suggestion
from app.odata.literals import INT64_MAX, NAME
from app.odata.nodes import LiteralValue, Node, SearchNode
from app.odata.option_nodes import ExpandItem, QueryOptions, SelectItem
from app.odata.option_parser import OptionParser
from app.odata.search import parse_search
from app.odata.shape import check_characters, shape

__all__ = [
    "ANY_OPTIONS",
    "COLLECTION_OPTIONS",
    "COUNT_OPTIONS",
    "ENTITY_OPTIONS",
    "METADATA_OPTIONS",
    "OptionTexts",
    "QueryOptions",
    "Shape",
    "parse_expand",
    "parse_filter",
    "parse_options",
    "parse_select",
    "read_options",
    "shape_options",
]

# What a resource allows, for ``allowed``. Names are without "$" and in lower case.
COLLECTION_OPTIONS: t.Final = frozenset(
    [
        "filter",
        "orderby",
        "select",
        "expand",
        "compute",
        "search",
        "apply",
        "top",
        "skip",
        "count",
        "skiptoken",
        "deltatoken",
        "format",
        "schemaversion",
    ]
)
ENTITY_OPTIONS: t.Final = frozenset(["select", "expand", "compute", "format", "schemaversion"])
COUNT_OPTIONS: t.Final = frozenset(
    ["filter", "search", "compute", "apply", "format", "schemaversion"]  # Protocol 11.2.10
)
METADATA_OPTIONS: t.Final = frozenset(["format", "schemaversion"])
ANY_OPTIONS: t.Final = COLLECTION_OPTIONS | {"id", "index"}

_ALIAS: t.Final = re.compile(rf"@{NAME}")
_NEVER_PLANNED: t.Final = frozenset(["skiptoken", "deltatoken", "format", "schemaversion"])
_NEVER_LIFTED: t.Final = frozenset(["search", "count", "id", "index"])


@dataclass(frozen=True, slots=True)
class OptionTexts:
    """The options of a query string, percent-decoded, not yet parsed.

    ``system`` by name without ``$`` in lower case and ``aliases`` with their ``@``, both in the
    order given; ``custom`` options may repeat.
    """

    system: dict[str, str]
    aliases: dict[str, str]
    custom: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What a plan is cached by, and what it is then run with.

    ``key`` leaves out the options that do not change the plan: ``$format``, ``$schemaversion``,
    ``$skiptoken``, ``$deltatoken`` (whoever opens a token knows what in it does) and custom ones.
    ``literals[n]`` is the value of the Literal with slot n plus the ``first_slot`` of the parse.
    """

    key: tuple[tuple[str, str], ...]
    literals: tuple[LiteralValue, ...]


def read_options(
    query: str | bytes | Iterable[tuple[str, str]],
    allowed: Collection[str] = ANY_OPTIONS,
    *,
    parameters: Collection[str] = (),
) -> OptionTexts:
    """The pairs of a query string, each known for what it is.

    Args:
        query: raw (percent-encoded, ``+`` for a blank), without the question mark; or pairs that
            are decoded already.
        allowed: the system options that the resource takes.
        parameters: names of parameters of the function that the resource path calls; without
            ``$`` they are custom options even if a system option has the same name.
    Raises: QueryError, text that is not UTF-8, a system option that is unknown, not allowed here
        or given twice (also as ``top`` and ``$top``), an alias that is no name or given twice.
    """
    system: dict[str, str] = {}
    aliases: dict[str, str] = {}
    custom: list[tuple[str, str]] = []
    for name, text in _decoded(query) if isinstance(query, str | bytes) else query:
        check_characters(text)
        if name.startswith("@"):
            _add_once(aliases, name, name, text)
            if not _ALIAS.fullmatch(name):
                raise QueryError(f"'{name}' is not the name of a parameter alias")
            continue
        known = name.removeprefix("$").lower()
        if known not in ANY_OPTIONS or name in parameters:
            if name.startswith("$"):
                raise QueryError(
                    f"unknown query option '{name}'" + suggestion(known, sorted(ANY_OPTIONS))
                )
            custom.append((name, text))
            continue
        if known not in allowed:
            raise QueryError(f"${known} is not allowed on this resource", option="$" + known)
        _add_once(system, known, "$" + known, text)
    return OptionTexts(system, aliases, tuple(custom))


def _decoded(query: str | bytes) -> Iterable[tuple[str, str]]:
    try:
        text = query.decode() if isinstance(query, bytes) else query
        for pair in text.replace("+", " ").split("&"):
            if pair:
                name, _, value = pair.partition("=")
                yield _unquoted(name), _unquoted(value)
    except UnicodeDecodeError:
        raise QueryError("the query string is not UTF-8") from None


def _unquoted(text: str) -> str:
    return unquote_to_bytes(text).decode() if "%" in text else text


def _add_once(texts: dict[str, str], key: str, option: str, text: str) -> None:
    if key in texts:
        raise QueryError(f"{option} must not appear more than once", option=option)
    texts[key] = text


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
    allowed: Collection[str] = ANY_OPTIONS,
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
    texts = query if isinstance(query, OptionTexts) else read_options(query, allowed)
    values: dict[str, t.Any] = {}
    slot = first_slot
    for name, text in texts.system.items():
        try:
            if name in _SIMPLE_PARSERS:
                values[name] = _SIMPLE_PARSERS[name](text, limits)
            else:
                parser = OptionParser(text, limits=limits, first_slot=slot)
                values[name] = parser.whole(_GRAMMAR_PARSERS[name].__get__(parser))
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


_GRAMMAR_PARSERS: t.Final[dict[str, Callable[[OptionParser], t.Any]]] = {
    "filter": OptionParser.parse_expression,
    "orderby": OptionParser.parse_order_items,
    "select": OptionParser.parse_select,
    "expand": OptionParser.parse_expand,
    "compute": OptionParser.parse_compute_items,
    "apply": OptionParser.parse_apply,
    "top": lambda parser: parser.parse_row_count("$top"),
    "skip": lambda parser: parser.parse_row_count("$skip"),
}


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
