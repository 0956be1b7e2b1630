"""Keys in addresses: which properties they name, and whether the literals are of their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.odata.binding.type_coercion import FAMILIES
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.syntax.literals import UNQUOTED, literal_text, read_whole
from app.odata.syntax.nodes import Argument, Literal, Node


def key_of(parts: Iterable[Any]) -> Any:
    """A key as it is handed on: the value of its one property, or a tuple of several."""
    values = tuple(parts)
    return values[0] if len(values) == 1 else values


def parts_of(key: Any) -> tuple[Any, ...]:
    """A key as the values of its properties, in their order."""
    return key if isinstance(key, tuple) else (key,)


def key_filter(type_: edm.EntityType, key: Any) -> str:
    """``$filter`` of the entity with this key: ``id eq 5``."""
    return " and ".join(
        f"{name} eq {literal_text(part, 'string')}"
        for name, part in zip(type_.key, parts_of(key), strict=True)
    )


def these_alone(
    type_: edm.EntityType, keys: Sequence[Any], system: Mapping[str, str]
) -> dict[str, str]:
    """The system options of a query, of the entities with these keys alone."""
    those = " or ".join(key_filter(type_, key) for key in keys) or "false"
    if keys and len(type_.key) == 1:
        those = f"{type_.key[0]} in ({','.join(literal_text(key, 'string') for key in keys)})"
    if "filter" in system:
        those = f"({those}) and ({system['filter']})"
    return {**system, "filter": those}


def own_key(type_: edm.EntityType, navigation: edm.NavigationProperty | None) -> tuple[str, ...]:
    """The parts of a key that tell an entity from others of the same relation: all but those that
    the relation gives (URL Conventions 4.3.3).
    """
    if navigation is None or not navigation.collection or navigation.through is not None:
        return type_.key
    foreign = navigation.foreign_key
    own = tuple(name for name in type_.key if type_.properties[name].attribute != foreign)
    return own or type_.key


def key_parts(
    type_: edm.EntityType,
    arguments: Sequence[Argument],
    offset: int,
    own: tuple[str, ...] | None = None,
) -> dict[str, Node]:
    """The values of a key predicate by the names of the properties, of one of the type's keys.

    Args:
        offset: of the predicate, for errors.
        own: the parts that suffice here (``own_key``); None for all.
    Raises: QueryError, no key has these parts, or a part stands twice.
    """
    own = own or type_.key
    if len(own) != 1 and any(argument.name is None for argument in arguments):
        raise QueryError(f"the key of {type_.name} has {len(own)} parts", offset)
    parts: dict[str, Node] = {}
    for argument in arguments:
        name = argument.name or own[0]
        name = type_.folded.get(name.lower(), name)
        if name in parts:
            raise QueryError(f"{name} stands twice in the key", argument.offset)
        parts[name] = argument.value
    keys = (type_.key, *type_.alternate_key_names, *([own] if own != type_.key else []))
    if not any(set(parts) == set(key) for key in keys):
        expected = " or ".join(",".join(key) for key in keys)
        raise QueryError(f"the key of {type_.name} is {expected}", offset)
    return parts


def segment_literal(prop: edm.Property, text: str, offset: int = 0) -> Literal | None:
    """A key written as a segment, ``Clients/1``: text without quotes (URL Conventions 4.3.6).

    None where no key looks like that.
    """
    if prop.type.family == "text":
        return Literal(text, "string", offset=offset)
    try:
        for written in UNQUOTED:
            value, kind = read_whole(written, text) or (None, None)
            if kind in FAMILIES[prop.type.family].literals:
                return Literal(value, kind, offset=offset)
    except QueryError:  # of a day that there is not
        return None
    return None


def check_key_literal(prop: edm.Property, literal: Literal) -> None:
    """Refuse a literal of another type than the property of the key has.

    Raises: QueryError; beyond its range a whole number is of another type, too.
    """
    if literal.kind not in FAMILIES[prop.type.family].literals:
        raise QueryError(f"expected a literal of {prop.type.name} for {prop.name}", literal.offset)
