"""The syntax of a resource path as frozen values: segments as written, no model consulted."""

from __future__ import annotations

from dataclasses import dataclass

from app.odata.syntax.nodes import Argument, Node


@dataclass(frozen=True, slots=True)
class Segment(Node):
    """What stands between two slashes; ``offset`` is in the percent-decoded path."""


@dataclass(frozen=True, slots=True)
class NameSegment(Segment):
    """An identifier, with dots or without, and the parentheses after it.

    Without parentheses it is an entity set, a property, a type, an operation, or a key written as
    a segment (``Employees/A1245``): the binder decides. ``arguments`` is what the first
    parentheses hold: a key (``Clients(1)``, ``Clients(id=1)``, ``Clients(@k)``) or the parameters
    of a function; None without parentheses. ``key`` is a key after the parameters of a function.
    """

    name: str
    arguments: tuple[Argument, ...] | None = None
    key: tuple[Argument, ...] | None = None


@dataclass(frozen=True, slots=True)
class KeySegment(Segment):
    """A segment that is no identifier: the raw text of a key, or an ordinal (``Clients/1``)."""

    text: str


@dataclass(frozen=True, slots=True)
class SystemSegment(Segment):
    """``$metadata``, ``$batch``, ``$all``, ``$entity``, ``$count``, ``$ref``, ``$value``,
    ``$each`` or ``$query``; ``name`` has the dollar sign.
    """

    name: str


@dataclass(frozen=True, slots=True)
class FilterPathSegment(Segment):
    """``$filter(predicate)``; ``$filter(@alias)`` has an Alias. ``key`` as in NameSegment."""

    predicate: Node
    key: tuple[Argument, ...] | None = None


@dataclass(frozen=True, slots=True)
class CrossJoinSegment(Segment):
    """``$crossjoin(Clients,Contacts)``."""

    entity_sets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """The segments after the service root; none is the service document.

    ``slots`` is the number of literals with a slot: the ``first_slot`` of the query options.
    """

    segments: tuple[Segment, ...]
    slots: int = 0
