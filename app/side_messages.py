"""What goes between a process and the one beside it: JSON, each message behind its length.

A message builds nothing but plain values and, where it is asked for, dataclasses of this program:
the process beside reads documents of strangers, so what it says is not to be trusted as code.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import json
import struct
from datetime import date
from decimal import Decimal
from typing import IO, Any

_LENGTH = struct.Struct(">Q")
# How a value that JSON does not know is marked.
_DECIMAL, _DATE, _BYTES, _OBJECT = "$decimal", "$date", "$bytes", "$object"
_OURS = "app."


def write_message(stream: IO[bytes], message: object) -> None:
    """Send plain values, tuples, dates, exact decimals, bytes, and dataclasses of these.

    Raises: TypeError, there is something else in it; OSError.
    """
    content = json.dumps(message, default=_marked, separators=(",", ":")).encode()
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read_message(stream: IO[bytes], *, with_objects: bool = False) -> Any:
    """The next message; tuples come as lists, but in dataclasses.

    Args:
        with_objects: whether it may have dataclasses.
    Raises: EOFError, the other side has ended; ValueError, it is no message.
    """
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    hook = _unmarked_with_objects if with_objects else _unmarked
    return json.loads(_read(stream, length), object_hook=hook)


def _read(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


def _marked(value: object) -> dict[str, Any]:
    if isinstance(value, Decimal):
        return {_DECIMAL: str(value)}
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if type(value) is date:
        return {_DATE: value.isoformat()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {_OBJECT: f"{type(value).__module__}:{type(value).__qualname__}", "fields": fields}
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _unmarked(found: dict[str, Any]) -> Any:
    match found:
        case {"$decimal": text}:
            return Decimal(text)
        case {"$bytes": text}:
            return base64.b64decode(text)
        case {"$date": text}:
            return date.fromisoformat(text)
        case {"$object": name}:
            raise ValueError(f"no {name} is expected here")
    return found


def _unmarked_with_objects(found: dict[str, Any]) -> Any:
    if _OBJECT not in found:
        return _unmarked(found)
    module, _, name = found[_OBJECT].partition(":")
    type_ = getattr(importlib.import_module(module), name) if module.startswith(_OURS) else None
    if not (isinstance(type_, type) and dataclasses.is_dataclass(type_)):
        raise ValueError(f"{found[_OBJECT]} is no dataclass of this program")
    return type_(**{key: tuple(value) if isinstance(value, list) else value
                    for key, value in found["fields"].items()})  # fmt: skip
