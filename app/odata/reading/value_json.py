"""A property by itself: the whole of it, what ``$select`` leaves of a complex one, or those members
of a collection that the options ask for (Protocol 11.2.4, 11.2.6).
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import ColumnElement

from app.odata.binding.values import Bound, Elements, JsonStructure, Scope, Structure
from app.odata.reading.binder import option
from app.odata.reading.bound import ShownMembers
from app.odata.reading.entity_json import members_json, property_json
from app.odata.reading.members import shown_members
from app.odata.reading.negotiation import Format
from app.odata.reading.selection import wanted_parts
from app.odata.syntax.nodes import QueryOptions
from app.odata.syntax.options import METADATA_OPTIONS

_OF_COLLECTION = METADATA_OPTIONS | {"select", "filter", "orderby", "top", "skip", "count"}


def value_options(bound: Bound | None) -> frozenset[str]:
    """The options that a property takes by itself."""
    if isinstance(bound, Elements):
        return _OF_COLLECTION
    if isinstance(bound, Structure | JsonStructure):
        return METADATA_OPTIONS | {"select"}
    return METADATA_OPTIONS


def value_json(
    scope: Scope, bound: Bound, name: str, options: QueryOptions, format_: Format
) -> tuple[ColumnElement[str], bool]:
    """The JSON of a property, and whether it is an object that the context URL goes into.

    Raises: QueryError; UnsupportedError, the members cannot be chosen from in this way.
    """
    namespace = scope.context.container.namespace
    is_whole = options == QueryOptions(aliases=options.aliases, custom=options.custom)
    if isinstance(bound, Elements) and not is_whole:
        chosen = chosen_members(scope, bound, name, options)
        return members_json(chosen, bound, format_, namespace), True
    parts = None
    if isinstance(bound, Structure | JsonStructure) and options.select:
        type_ = bound.property.type if isinstance(bound, Structure) else bound.type
        with option("$select"):
            parts = wanted_parts(type_, name, options)
    is_structure = isinstance(bound, Structure | JsonStructure)
    return property_json(bound, parts, format_, namespace), is_structure


def selected_parts(options: QueryOptions) -> str:
    """What the context URL says of a selection (Protocol 10.14)."""
    names = ",".join("/".join(item.path) for item in options.select)
    return f"({names})" if names and names != "*" else ""


def chosen_members(scope: Scope, bound: Elements, name: str, options: QueryOptions) -> ShownMembers:
    """The members of a collection property that the options of its own address ask for."""
    parts = None
    if options.select:
        with option("$select"):
            parts = wanted_parts(bound.type.element, name, options)
    plain = replace(options, custom=())
    with option("$orderby" if options.filter is None else "$filter"):
        return shown_members(scope, scope, bound, plain, parts, 0, is_it=True)
