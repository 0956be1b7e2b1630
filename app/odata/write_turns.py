"""The turns of a request that writes several entities, taken before the first of them.

Two such requests that write the same entities in opposite order would wait for each other, until
PostgreSQL ends one of them. Taken together the turns have one order for everybody. What is named
otherwise than by its key (``$1``, a navigation path) is written in its place, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from app import records
from app.errors import ApiError
from app.json_body import parse_json
from app.odata import edm
from app.odata.csdl_capabilities import upsert_keys
from app.odata.errors import QueryError
from app.odata.key_values import key_parts
from app.odata.nodes import Alias, Literal, Node
from app.odata.options import OptionTexts, parse_options, read_options
from app.odata.path import parse_path, read_path
from app.odata.path_nodes import NameSegment
from app.odata.write_rows import turn_name
from app.odata.write_targets import find_plain_target
from app.turns import take_turns

Written = tuple[str, str, bytes]  # path below the service root, query, body


def take_turns_of(names: Callable[[], Iterable[str]]) -> None:
    """Take the turns of these names, where more than one are to be taken and somebody waits."""
    if records.is_served() and len(wanted := set(names())) > 1:
        take_turns(wanted)


def turns_of_requests(container: edm.EntityContainer, written: Iterable[Written]) -> Iterator[str]:
    """The names of the turns of requests, as their texts tell; bad ones are refused in place."""
    for path, query, body in written:
        try:
            yield from _turns_of_request(container, path, query, body)
        except (QueryError, ApiError):
            continue


def turns_of_items(
    container: edm.EntityContainer, type_: edm.EntityType, items: Iterable[Any]
) -> Iterator[str]:
    """The names of the turns of the items of a delta, or of entities to make."""
    for item in items:
        if not isinstance(item, dict):
            continue
        url = item.get("@id", item.get("@odata.id"))
        if isinstance(url, str):
            yield from turns_of_requests(container, [(url, "", b"")])
        for names in upsert_keys(type_):
            if all(isinstance(item.get(name), str | int) for name in names):
                values = {type_.properties[name].attribute: item[name] for name in names}
                yield turn_name(type_, values)


def _turns_of_request(
    container: edm.EntityContainer, path: str, query: str, body: bytes
) -> Iterator[str]:
    target = find_plain_target(container, path)
    if target is not None and not target.is_collection:
        yield turn_name(target.type, target.values)
        return
    if target is not None:
        type_ = target.type
    else:
        first, *_ = parse_path(read_path(path)).segments or (None,)
        if not isinstance(first, NameSegment) or first.name not in container.sets:
            return
        type_ = container.sets[first.name].type
        if first.arguments is not None:
            given = key_parts(type_, first.arguments, first.offset)
            values = _literals(type_, given, query)
            if len(values) == len(given):
                yield turn_name(type_, values)
            return
    keys = {name for names in upsert_keys(type_) for name in names}
    if any(f'"{name}"'.encode() in body for name in keys) or b'id"' in body:
        content = parse_json(body)
        listed = content.get("value") if isinstance(content, dict) else None
        yield from turns_of_items(
            container, type_, listed if isinstance(listed, list) else [content]
        )


def _literals(type_: edm.EntityType, parts: Mapping[str, Node], query: str) -> dict[str, Any]:
    """The values of a key, by attribute; without those that no literal gives."""
    aliases: Mapping[str, Node] = {}
    if query and any(isinstance(node, Alias) for node in parts.values()):
        aliases = parse_options(OptionTexts({}, read_options(query).aliases)).aliases
    found: dict[str, Any] = {}
    for name, node in parts.items():
        literal = aliases.get(node.name) if isinstance(node, Alias) else node
        if isinstance(literal, Literal):
            found[type_.properties[name].attribute] = literal.value
    return found
