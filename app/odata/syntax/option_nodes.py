"""The syntax of ``$select`` and ``$expand``, and all options of one resource together."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.odata.syntax.apply_nodes import Apply
from app.odata.syntax.nodes import ComputeItem, Literal, Node, OrderItem, SearchNode


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """One item of ``$select``.

    ``path`` holds the steps as written: ``("*",)``, ``("Ns.*",)``, ``("Address", "city")``,
    ``("Ns.Type", "name")``, ``("@Ns.Term",)``. ``parameters`` are the names that pick an overload
    of a function, ``Ns.Function(a,b)``; None when no parentheses of that kind were written.
    """

    path: tuple[str, ...]
    options: QueryOptions | None = None
    parameters: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExpandItem(Node):
    """One item of ``$expand``.

    ``path`` holds the steps as written, type casts included: ``("Contacts",)``,
    ``("Ns.Type", "Address", "Country")``, ``("*",)`` with ``star``, ``("$value",)``. ``ref`` and
    ``count_only`` tell ``/$ref`` and ``/$count``. ``$levels`` is in ``options.levels``.
    """

    path: tuple[str, ...]
    options: QueryOptions | None = None
    star: bool = field(default=False, kw_only=True)
    ref: bool = field(default=False, kw_only=True)
    count_only: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """What one query string, or the parentheses of one expanded item, asks for.

    None and empty mean "not given". What is one word, such as ``$format``, is read where its text
    is (``OptionTexts``) and not here. ``top`` and ``skip`` are integer literals (not negative), so
    that a plan can bind them by slot; ``levels`` is a number from 1 or ``"max"``. ``aliases`` maps
    a name without ``@`` to its expression. ``custom`` keeps options that are the application's.
    """

    filter: Node | None = None
    orderby: tuple[OrderItem, ...] = ()
    select: tuple[SelectItem, ...] = ()
    expand: tuple[ExpandItem, ...] = ()
    compute: tuple[ComputeItem, ...] = ()
    search: SearchNode | None = None
    apply: Apply | None = None
    top: Literal | None = None
    skip: Literal | None = None
    count: bool | None = None
    levels: int | t.Literal["max"] | None = None
    index: int | None = None
    aliases: Mapping[str, Node] = field(default_factory=dict, hash=False)
    custom: tuple[tuple[str, str], ...] = ()
