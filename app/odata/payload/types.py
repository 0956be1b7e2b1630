"""Readers for values of any EDM type, made once for each type.

An enumeration's value is the name of its member, or a number where flags are combined; a complex
value is an object by property name, as it is kept in a JSON column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from app.http.json_body import NO_NAME
from app.http.schema_fields import BadValueError
from app.odata.model import edm
from app.odata.payload.problems import Problems, join_path
from app.odata.payload.values import (
    READERS,
    TEXT_READERS,
    read_any,
    read_int64,
)

# (value, path in wire spelling, problems to add to) -> the value read; meaningless when a problem
# was added.
TypedReader = Callable[[Any, str, Problems], Any]

# ``Ns.Priority'High'``: the URL form of a member, which clients send in bodies too.
_PREFIXED = re.compile(r"(?:[^\W\d]\w*\.)+[^\W\d]\w*'([^']*)'")
_TYPES = ("@type", "@odata.type")
_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)


@lru_cache(maxsize=1024)
def typed_reader(type_: edm.EdmType, text_numbers: bool = False) -> TypedReader:
    """The reader of a type.

    Args:
        text_numbers: Int64 and Decimal may come as strings (``IEEE754Compatible=true``).
    """
    if isinstance(type_, edm.PrimitiveType):
        readers = TEXT_READERS if text_numbers else READERS
        return _telling(readers.get(type_.name, read_any))
    if isinstance(type_, edm.EnumType):
        return _telling(partial(read_enum, type_))
    if isinstance(type_, edm.CollectionType):
        return _collection_reader(type_, text_numbers)
    return _complex_reader(type_, text_numbers)


def read_property(
    prop: edm.Property, value: Any, path: str, problems: Problems, text_numbers: bool = False
) -> Any:
    """The value of a property; null only where the property may be null."""
    if value is None:
        if not prop.nullable or isinstance(prop.type, edm.CollectionType):
            problems.add(path, "must not be null")
        return None
    return typed_reader(prop.type, text_numbers)(value, path, problems)


def _telling(read_value: Callable[[Any], Any]) -> TypedReader:
    """A reader that notes what ``read_value`` refuses."""

    def read(value: Any, path: str, problems: Problems) -> Any:
        try:
            return read_value(value)
        except BadValueError as error:
            problems.add(path, str(error))
            return None

    return read


def read_enum(type_: edm.EnumType, value: Any) -> str | int:
    """The member's name, or the number of combined flags.

    Accepts a name, names with commas between (flags), a number also as text, the URL form.
    Raises: BadValueError, no such member.
    """
    if isinstance(value, str):
        prefixed = _PREFIXED.fullmatch(value)
        parts = [part.strip() for part in (prefixed[1] if prefixed else value).split(",")]
        numbers = [_enum_number(type_, part) for part in parts]
    else:
        numbers = [read_int64(value)]
    if None in numbers or (len(numbers) > 1 and not type_.is_flags):
        raise _no_member(type_)
    combined = 0
    for number in numbers:
        combined |= number or 0
    if type_.is_flags:
        if combined < 0 or combined & ~_all_flags(type_):
            raise _no_member(type_)
        return combined
    (number,) = numbers
    for name, known in type_.members.items():
        if known == number:
            return name
    raise _no_member(type_)


def _enum_number(type_: edm.EnumType, text: str) -> int | None:
    if text in type_.members:
        return type_.members[text]
    return int(text) if _INTEGER.fullmatch(text) else None


def _all_flags(type_: edm.EnumType) -> int:
    mask = 0
    for number in type_.members.values():
        mask |= number
    return mask


def _no_member(type_: edm.EnumType) -> BadValueError:
    return BadValueError(f"must be one of {', '.join(type_.members)}")


def _collection_reader(type_: edm.CollectionType, text_numbers: bool) -> TypedReader:
    read_element = typed_reader(type_.element, text_numbers)

    def read(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            problems.add(path, "must be an array")
            return None
        read_items = []
        for index, item in enumerate(value):
            if item is None:
                problems.add(f"{path}[{index}]", "must not be null")
            else:
                read_items.append(read_element(item, f"{path}[{index}]", problems))
        return read_items

    return read


def _complex_reader(type_: edm.ComplexType, text_numbers: bool) -> TypedReader:
    properties = type_.all_properties

    def read(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.add(path, "must be an object")
            return None
        result = {}
        for name, item in value.items():
            if "@" in name:  # control information
                if name in _TYPES and str(item).rpartition(".")[2].lstrip("#") != type_.name:
                    problems.add(join_path(path, name), f"must be {type_.name}")
                continue
            item_path = join_path(path, name or NO_NAME)
            prop = properties.get(name)
            if prop is not None:
                if not prop.computed:
                    result[name] = read_property(prop, item, item_path, problems, text_numbers)
            elif type_.is_open:
                result[name] = item
            else:
                problems.add_unknown(item_path, name, properties, type_.name)
        return result

    return read
