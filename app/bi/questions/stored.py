"""What a session keeps of a question as JSON, written and read by the types of the algebra.

A value that is the usual one is left out. What does not fit the types or the model of today is
forgotten: it was written by another version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from app.bi.questions.algebra import Meaning

# To be raised when the same words of the algebra come to mean something else.
VERSION = 1


@dataclass(frozen=True)
class Standing:
    """What the next question of a session goes on from; no meaning: nothing was understood.

    ``left``: words of the questions so far that were left aside; ``language``: of the last one;
    ``beside``: the meaning is the record that is looked at, and not what was asked before.
    """

    meaning: Meaning | None = None
    left: tuple[str, ...] = ()
    language: str = "en"
    beside: bool = False


FORGOTTEN = Standing()


def written(standing: Standing) -> dict[str, Any]:
    """As a session keeps it."""
    return {"version": VERSION, "standing": _written(standing)}


def read(state: object) -> Standing:
    """What was kept; ``FORGOTTEN`` where another version wrote it."""
    if not isinstance(state, Mapping) or state.get("version") != VERSION:
        return FORGOTTEN
    try:
        standing: Standing = _read(Standing, state.get("standing"))
    except (TypeError, RecursionError):
        return FORGOTTEN
    return standing


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(member) for member in value]
    if not is_dataclass(value):
        return value
    members = {field.name: getattr(value, field.name) for field in fields(value)
            if getattr(value, field.name) != field.default}  # fmt: skip
    members = {name: _written(member) for name, member in members.items()}
    return {"is": type(value).__name__, **members}


def _read(hint: Any, stored: Any) -> Any:
    """A value of a type.

    Raises: TypeError, it is of another.
    """
    if isinstance(hint, type) and is_dataclass(hint):
        return _read_fields(hint, stored)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is tuple and isinstance(stored, list):
        return tuple(_read(parts[0], member) for member in stored)
    if isinstance(hint, UnionType) or NoneType in parts:
        return _read_one_of(parts, stored)
    if (origin is Literal and stored in parts) or (origin is None and type(stored) is hint):
        return stored
    raise TypeError(f"{stored!r} is no {hint}")


def _read_one_of(parts: tuple[Any, ...], stored: Any) -> Any:
    for part in parts:
        if isinstance(part, type) and is_dataclass(part):
            if isinstance(stored, Mapping) and stored.get("is") == part.__name__:
                return _read_fields(part, stored)
        elif part is not NoneType and stored is not None:
            return _read(part, stored)
    if stored is None and NoneType in parts:
        return None
    raise TypeError(f"{stored!r} is none of {parts}")


def _read_fields(hint: type[Any], stored: Any) -> Any:
    hints = _hints(hint)  # type: ignore[arg-type]  # of a class, which is hashable
    if not isinstance(stored, Mapping) or stored.get("is") != hint.__name__:
        raise TypeError(f"no {hint.__name__}")
    members = {name: value for name, value in stored.items() if name != "is"}
    needed = {field.name for field in fields(hint) if field.default is MISSING}
    if members.keys() - hints.keys() or needed - members.keys():
        raise TypeError(f"no {hint.__name__} of this version")
    return hint(**{name: _read(hints[name], value) for name, value in members.items()})


@cache
def _hints(hint: Any) -> Mapping[str, Any]:
    return get_type_hints(hint)
