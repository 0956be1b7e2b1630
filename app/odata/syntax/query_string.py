"""Query string to the texts of its options: decoded, named, each given once; not yet parsed."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from app.odata.errors import QueryError, suggestion
from app.odata.syntax.literals import NAME
from app.odata.syntax.shape import check_characters

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
        if "\0" in text:
            check_characters(text, name)
        known = _SPELLINGS.get(name) or _spelled_otherwise(name)
        if known is None or (name in parameters and not name.startswith("$")):
            if name.startswith("@"):
                _add_once(aliases, name, name, text)
            else:
                custom.append((name, text))
        elif known in allowed:
            _add_once(system, known, "$" + known, text)
        else:
            raise QueryError(f"${known} is not allowed on this resource", 0, "$" + known)
    return OptionTexts(system, aliases, tuple(custom))


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


def _add_once(texts: dict[str, str], key: str, option: str, text: str) -> None:
    if key in texts:
        raise QueryError(f"{option} must not appear more than once", 0, option)
    texts[key] = text
