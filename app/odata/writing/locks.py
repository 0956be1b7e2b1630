"""The locks of a request that writes several entities, taken before the first of them.

Two such requests that write the same entities in opposite order would wait for each other, until
PostgreSQL ends one of them. Taken together the locks have one order for everybody. What is named
otherwise than by its key (``$1``, a navigation path) is written in its place, as ever. Counters are
the same: those of two types are taken in the order in which their entities are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from app.db import records
from app.db.transactions import advisory_locks
from app.errors import ApiError
from app.http.json_body import parse_json
from app.odata.binding.paths import KeyStep, path_steps
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.syntax.nodes import Alias, Literal, Node
from app.odata.syntax.options import parse_aliases, read_options
from app.odata.syntax.path import parse_path
from app.odata.writing.rows import lock_name
from app.odata.writing.targets import find_plain_target


class WriteText(NamedTuple):
    """A request that writes; ``path`` is below the service root."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""


def take_locks(names: Callable[[], Iterable[str]]) -> None:
    """Take the locks of these names, where there are several and others may write meanwhile."""
    if records.is_served() and len(wanted := set(names())) > 1:
        advisory_locks(wanted)


def locks_of_requests(container: edm.EntityContainer, written: Iterable[WriteText]) -> set[str]:
    """The names of the locks of requests, as their texts tell; bad ones are refused in place."""
    named: set[str] = set()
    created: set[str] = set()
    for write in written:
        with suppress(QueryError, ApiError):
            if (target := _target(container, write)) is None:
                continue
            type_, values = target
            if values is not None:
                named.add(lock_name(type_, values))
            elif _may_name_entities(type_, write.body):
                content = parse_json(write.body)
                listed = content.get("value") if isinstance(content, dict) else None
                items = listed if isinstance(listed, list) else [content]
                named |= locks_of_items(container, type_, items)
            if values is None and write.method == "POST" and _is_numbered(type_):
                created.add(f"new {type_.name}")
    # One counter is waited for wherever it comes; several are crosswise.
    return named | created if len(created) > 1 else named


def locks_of_items(
    container: edm.EntityContainer, type_: edm.EntityType, items: Iterable[Any]
) -> set[str]:
    """The names of the locks of the items of a delta, or of entities to make."""
    locks: set[str] = set()
    for item in items:
        if not isinstance(item, dict):
            continue
        url = item.get("@id", item.get("@odata.id"))
        if isinstance(url, str):
            locks |= locks_of_requests(container, [WriteText("PATCH", url)])
        for names in type_.upsert_keys:
            if all(isinstance(item.get(name), str | int) for name in names):
                values = {type_.properties[name].attribute: item[name] for name in names}
                locks.add(lock_name(type_, values))
    return locks


def _target(
    container: edm.EntityContainer, write: WriteText
) -> tuple[edm.EntityType, Mapping[str, Any] | None] | None:
    """The type that a request writes, and the key that it names, by attribute."""
    target = find_plain_target(container, write.path)
    if target is not None:
        return target.type, None if target.is_collection else target.values
    steps = path_steps(container, parse_path(write.path))
    match next(steps, None), next(steps, None):
        case edm.EntitySet(type=type_), None:
            return type_, None
        case edm.EntitySet(type=type_), KeyStep(parts=parts):
            with suppress(ApiError, QueryError):  # an operation is no step
                match list(steps):
                    case [edm.NavigationProperty(collection=True) as navigation]:
                        return container.target(navigation), None
            values = _literals(type_, parts, write.query)
            return (type_, values) if len(values) == len(parts) else None
    return None


def _may_name_entities(type_: edm.EntityType, body: bytes) -> bool:
    names = {name for names in type_.upsert_keys for name in names}
    return b'id"' in body or any(f'"{name}"'.encode() in body for name in names)


def _is_numbered(type_: edm.EntityType) -> bool:
    """Whether the service gives each entity a number of its own, from a counter."""
    settable = type_.upsert_keys
    return any(names not in settable for names in type_.alternate_key_names)


def _literals(type_: edm.EntityType, parts: Mapping[str, Node], query: str) -> dict[str, Any]:
    """The values of a key, by attribute; without those that no literal gives."""
    aliases: Mapping[str, Node] = {}
    if query and any(isinstance(node, Alias) for node in parts.values()):
        aliases = parse_aliases(read_options(query))
    literals: dict[str, Any] = {}
    for name, node in parts.items():
        literal = aliases.get(node.name) if isinstance(node, Alias) else node
        if isinstance(literal, Literal):
            literals[type_.properties[name].attribute] = literal.value
    return literals
