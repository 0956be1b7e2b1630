"""The options of a query string: their texts, shape, and syntax as QueryOptions; no model.

A request goes ``read_options``, ``shape_options``, and only if no plan is cached for the shape,
``parse_options``.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote_to_bytes

from app.odata.errors import QueryError, option, suggestion
from app.odata.syntax.lexer import DEFAULT_LIMITS, Limits
from app.odata.syntax.literals import INT64_MAX, NAME, check_characters, shape
from app.odata.syntax.nodes import LiteralValue, Node, QueryOptions
from app.odata.syntax.parser import VALUE_PARSERS, Parser
from app.odata.syntax.search import parse_search

# What a resource allows, for ``allowed``. Names are without "$" and in lower case.
# fmt: off
COLLECTION_OPTIONS: t.Final = frozenset((
    "filter", "orderby", "select", "expand", "compute", "search", "apply", "top", "skip", "count",
    "skiptoken", "deltatoken", "format", "schemaversion",
    "index",  # where a POST inserts; it says nothing about what is read
))
# fmt: on
ENTITY_OPTIONS: t.Final = frozenset(["select", "expand", "compute", "format", "schemaversion"])
# Paging and order have no influence on a count, and are no error (Protocol 11.2.10).
COUNT_OPTIONS: t.Final = COLLECTION_OPTIONS - {"skiptoken", "deltatoken"}
METADATA_OPTIONS: t.Final = frozenset(["format", "schemaversion"])
ANY_OPTIONS: t.Final = COLLECTION_OPTIONS | {"id", "index"}

# The spellings that clients use; any case is right, but rare.
_SPELLINGS: t.Final = {prefix + name: name for name in ANY_OPTIONS for prefix in ("", "$")}
_ALIAS: t.Final = re.compile(rf"@{NAME}")


@dataclass(slots=True)  # not frozen, which costs more: one a request
class OptionTexts:
    """The options of a query string, percent-decoded, not yet parsed.

    ``system`` by name without ``$`` in lower case and ``aliases`` with their ``@``, both in the
    order given; ``custom`` options may repeat.
    """

    system: dict[str, str]
    aliases: dict[str, str]
    custom: tuple[tuple[str, str], ...] = ()

    def having(self, system: dict[str, str]) -> OptionTexts:
        """The same with other system options."""
        return OptionTexts(system, self.aliases, self.custom)

    def without(self, *names: str) -> OptionTexts:
        """The same without some system options."""
        return self.having({name: text for name, text in self.system.items() if name not in names})


def read_options(
    query: str | bytes | Iterable[tuple[str, str]], *, parameters: Collection[str] = ()
) -> OptionTexts:
    """The pairs of a query string, each known for what it is.

    Args:
        query: raw (percent-encoded, ``+`` for a blank), without the question mark; or pairs that
            are decoded already.
        parameters: names of parameters of the function that the resource path calls; without
            ``$`` they are custom options even if a system option has the same name.
    Raises: QueryError, text that is not UTF-8, a system option that is unknown or given twice (also
        as ``top`` and ``$top``), an alias that is no name or given twice.
    """
    system: dict[str, str] = {}
    aliases: dict[str, str] = {}
    custom: list[tuple[str, str]] = []
    for name, text in _decoded(query) if isinstance(query, str | bytes) else query:
        if "\0" in text:
            check_characters(text, name)
        known = _SPELLINGS.get(name) or _spelled_otherwise(name)
        if known is None or (name in parameters and not name.startswith("$")):
            if name.startswith("@"):
                _add_once(aliases, name, name, text)
            else:
                custom.append((name, text))
        else:
            _add_once(system, known, "$" + known, text)
    return OptionTexts(system, aliases, tuple(custom))


def refuse_others(options: OptionTexts, allowed: Collection[str]) -> None:
    """Raise QueryError for a system option that a resource does not take."""
    for name in options.system:
        if name not in allowed:
            raise QueryError(f"${name} is not allowed on this resource", 0, "$" + name)


def _spelled_otherwise(name: str) -> str | None:
    """The system option that is meant; None for an alias and a custom option."""
    known = name.removeprefix("$").lower()
    if known in ANY_OPTIONS:
        return known
    if name.startswith("$"):
        hint = suggestion(known, sorted(ANY_OPTIONS))
        raise QueryError(f"unknown query option '{name}'{hint}", 0, name)
    if name.startswith("@") and not _ALIAS.fullmatch(name):
        raise QueryError(f"'{name}' is not the name of a parameter alias", 0, name)
    return None


def _decoded(query: str | bytes) -> Iterable[tuple[str, str]]:
    try:
        text = query.decode() if isinstance(query, bytes) else query
        for pair in text.replace("+", " ").split("&"):
            if pair:
                name, _, value = pair.partition("=")
                # Many clients encode the dollar sign; alone it needs no decoder.
                name = _unquoted(name.replace("%24", "$"))
                yield name, _unquoted(value, name)
    except UnicodeDecodeError:
        raise QueryError("the query string is not UTF-8") from None


def _unquoted(text: str, option: str | None = None) -> str:
    """Decoded text; ``option`` is the one whose value it is, for the error."""
    try:
        return unquote_to_bytes(text).decode() if "%" in text else text
    except UnicodeDecodeError:
        raise QueryError("the query string is not UTF-8", 0, option) from None


def _add_once(texts: dict[str, str], key: str, name: str, text: str) -> None:
    if key in texts:
        raise QueryError(f"{name} must not appear more than once", 0, name)
    texts[key] = text


_NEVER_PLANNED: t.Final = frozenset(["skiptoken", "format", "schemaversion"])
_NEVER_LIFTED: t.Final = frozenset(["search", "count", "id", "index", "deltatoken"])


def shape_options(options: OptionTexts) -> tuple[tuple[tuple[str, str], ...], list[LiteralValue]]:
    """What all options together have in common with others of their shape, and their literals.

    The first leaves out the options that do not change a plan: ``$format``, ``$schemaversion``,
    ``$skiptoken`` (whoever opens a token knows what in it does) and custom ones. ``literals[n]`` is
    the value of the Literal with slot n plus the ``first_slot`` of the parse.

    Raises: QueryError, a literal that has no value, such as 2024-02-30.
    """
    key: list[tuple[str, str]] = []
    literals: list[LiteralValue] = []
    for name, text in options.system.items():
        if name in _NEVER_LIFTED:
            key.append((name, text))
        elif name not in _NEVER_PLANNED:
            key.append((name, _lift(text, "$" + name, literals)))
    for name, text in options.aliases.items():
        key.append((name, _lift(text, name, literals)))
    return tuple(key), literals


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
        with option("$" + name):
            if name == "search":
                values[name] = parse_search(text, limits=limits)
            elif name == "index":
                values[name] = _parse_index(text)
            elif name in VALUE_PARSERS:
                parser = Parser(text, limits=limits, first_slot=slot)
                values[name] = parser.whole(partial(VALUE_PARSERS[name], parser))
                slot = parser.next_slot
    aliases: dict[str, Node] = {}
    for alias, text in texts.aliases.items():
        with option(alias):
            parser = Parser(text, limits=limits, first_slot=slot)
            aliases[alias[1:]] = parser.whole(parser.parse_expression)
            slot = parser.next_slot
    return QueryOptions(**values, aliases=aliases, custom=texts.custom)


def parse_aliases(texts: OptionTexts) -> Mapping[str, Node]:
    """The parameter aliases alone, by name without ``@``."""
    return parse_options(OptionTexts({}, texts.aliases)).aliases if texts.aliases else {}


def parse_filter(text: str, *, limits: Limits = DEFAULT_LIMITS) -> Node:
    """The expression of a ``$filter`` alone."""
    parser = Parser(text, limits=limits)
    return parser.whole(parser.parse_expression)


def _parse_index(text: str) -> int | None:
    """An ordinal, from the end if negative; nothing is read as not given."""
    if not text:
        return None
    if not re.fullmatch(r"-?[0-9]{1,19}", text) or abs(int(text)) > INT64_MAX:
        raise QueryError("$index must be a whole number", 0)
    return int(text)
