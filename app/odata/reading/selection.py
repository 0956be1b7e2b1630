"""``$select``: which properties are shown (Protocol 11.2.5.1), and which members of a collection
(URL Conventions 5.1.3: ``$select=tags($filter=startswith($this,'a');$top=2)``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import BigInteger

from app.odata.binding.collections import element_table
from app.odata.binding.ordering import sort_keys
from app.odata.binding.paths import of_property, seen_as, unknown_name
from app.odata.binding.translator import Translator
from app.odata.binding.values import Elements, Scope
from app.odata.errors import QueryError, UnsupportedError, option
from app.odata.model import edm
from app.odata.protocol.negotiation import Version
from app.odata.reading.bound import (
    ComputedMember,
    ExpandMember,
    Member,
    Parts,
    PropertyMember,
    ShownMembers,
)
from app.odata.syntax.nodes import QueryOptions, SelectItem

_ALL = None


def selected_members(
    scope: Scope, items: Sequence[SelectItem], it: Scope | None = None
) -> Iterator[Member]:
    """What ``$select`` shows of a row, in the order of the declarations; ``it`` is ``$it``.

    Raises: QueryError, a name is not one of the type.
    """
    chosen = _Selection()
    if not items:
        chosen.add_all(scope)
    for item in sorted(items, key=lambda item: item.path == ("*",)):
        _choose(scope, scope.type, item, chosen, it or scope)
    for type_ in (scope.type, *scope.context.container.derived(scope.type)):
        for name, property_ in type_.properties.items():
            if (type_, name) in chosen.parts:
                of = None if type_ is scope.type else type_
                yield PropertyMember(property_, chosen.parts[type_, name], of)
    for name, value in scope.computed.items():
        if name in chosen.computed:
            yield ComputedMember(name, value)


class _Selection:
    """What is shown: properties with the type whose rows show them, and values of ``$compute``."""

    def __init__(self) -> None:
        self.parts: dict[tuple[edm.EntityType, str], Parts] = {}
        self.computed: set[str] = set()

    def add(self, type_: edm.EntityType, name: str, parts: Parts, offset: int) -> None:
        """Show a property of the rows of a type: once, where it is shown of a wider one, too.

        Raises: QueryError, members of a collection were chosen already.
        """
        for other, its_name in tuple(self.parts):
            if its_name == name and (other in type_.lineage or type_ in other.lineage):
                parts = _together(self.parts.pop((other, name)), parts, name, offset)
                type_ = other if other in type_.lineage else type_
        self.parts[type_, name] = parts

    def add_all(self, scope: Scope, offset: int = 0) -> None:
        """Show what rows have without ``$select``, and with ``*``; named members stay the few."""
        self.computed.update(scope.computed)
        for type_, properties, _ in scope.context.container.each_adds(scope.type):
            for property_ in properties:
                some = isinstance(self.parts.get((type_, property_.name)), ShownMembers)
                if not property_.on_request and property_.type != edm.STREAM and not some:
                    self.add(type_, property_.name, _ALL, offset)


def selected_operations(scope: Scope, items: Sequence[SelectItem]) -> frozenset[str] | None:
    """What ``$select`` says of operations; None where it does not speak of any."""
    chosen = [_operations(scope, item) for item in items if _is_operation(item)]
    return frozenset().union(*chosen) or None


def _is_operation(item: SelectItem) -> bool:
    """Whether an item names operations, ``Ns.Send`` or ``Ns.*``, perhaps behind a type."""
    return all("." in step and not step.startswith("@") for step in item.path)


def _operations(scope: Scope, item: SelectItem) -> frozenset[str]:
    """The names of the bound operations that an item of ``$select`` asks to be told of.

    Raises: QueryError, none that is bound to these entities has this name.
    """
    container, last = scope.context.container, item.path[-1]
    type_ = scope.type if len(item.path) == 1 else container.types[item.path[-2].rpartition(".")[2]]
    related = {each.name for each in (*type_.lineage, *container.derived(type_))}
    if last == f"{container.namespace}.*":
        return frozenset(each.name for each in container.operations if each.bound_to in related)
    for candidate in container.operations_called(last):
        names = {parameter.name for parameter in candidate.parameters}
        is_meant = item.parameters is None or names == set(item.parameters)
        if is_meant and candidate.bound_to in related:
            return frozenset((candidate.name,))
    raise QueryError(f"{last} is no operation of a {type_.name}", _offset_of(item, -1))


def _choose(
    scope: Scope, type_: edm.EntityType, item: SelectItem, chosen: _Selection, it: Scope
) -> None:
    """Choose what an item names of the rows that are of a type, of ``scope`` or derived from it."""
    first, *rest = item.path
    if item.parameters is not None and "." not in item.path[-1]:
        message = f"{'/'.join(item.path)} is no function: write {first}($select=...)"
        raise QueryError(message, item.offset)
    if first == "*":
        chosen.add_all(scope, item.offset)
        return
    if "." in first or first.startswith("@"):
        if rest:
            following = replace(item, path=tuple(rest), offset=_offset_of(item, 1))
            target = seen_as(scope.context.container, type_, first, item.offset)
            _choose(scope, target, following, chosen, it)
        return  # annotations: there are none to leave out; operations: ``selected_operations``
    if first in scope.computed:
        chosen.computed.add(first)
        return
    if first in scope.nested:
        return  # shown in any case, as what $expand names is
    name = first if first in type_.properties else type_.folded.get(first.lower(), first)
    if name in type_.navigation:
        if rest or item.options is not None:
            raise QueryError(f"use $expand for what is inside {name}", item.offset)
        return  # the link to related entities, which is left to the client
    property_ = type_.properties.get(name)
    if property_ is None:
        raise unknown_name(type_, first, item.offset)
    chosen.add(type_, name, _parts(scope, property_, rest, item, it), item.offset)


def _together(before: Parts, more: Parts, name: str, offset: int) -> Parts:
    """What two choices from one property show.

    Raises: QueryError, one of them is of some members of a collection only.
    """
    members = [each for each in (before, more) if isinstance(each, ShownMembers)]
    if any(each.parts is None or not each.is_whole for each in members):
        raise QueryError(f"{name} is selected twice", offset)
    if before is None or more is None:
        return _ALL
    names = (each.parts if isinstance(each, ShownMembers) else each for each in (before, more))
    parts = frozenset().union(*(each for each in names if each is not None))
    return replace(members[0], parts=parts) if members else parts


def _parts(
    scope: Scope, property_: edm.Property, rest: Sequence[str], item: SelectItem, it: Scope
) -> Parts:
    """The sub-properties of a complex property, or the members of a collection, that are wanted;
    None for all.
    """
    options = item.options or QueryOptions()
    if rest and isinstance(property_.type, edm.CollectionType):
        inner = SelectItem(tuple(rest), item.options, offset=_offset_of(item, 1))
        options, rest = QueryOptions(select=(inner,)), ()
    bound = None if options == QueryOptions() else of_property(scope, property_)
    if isinstance(bound, Elements):
        return shown_members(scope, bound, property_.name, options, item.offset, it)
    _refuse_others(property_.name, options, item.offset)
    place_of_rest = _offset_of(item, len(item.path) - len(rest))
    return wanted_parts(property_.type, property_.name, options, rest, place_of_rest)


def _offset_of(item: SelectItem, step: int) -> int:
    """Where a step of the path begins, which has no blanks; the item, where it has no more."""
    if step >= len(item.path):
        return item.offset
    return item.offset + sum(len(before) + 1 for before in item.path[:step])


def wanted_parts(
    complex_: edm.EdmType,
    name: str,
    options: QueryOptions,
    rest: Sequence[str] = (),
    offset: int | None = None,
) -> frozenset[str] | None:
    """The sub-properties of a property that ``rest`` of a path or ``$select`` leads to; None for
    all.

    What lies deeper is only checked: a sub-property that is complex is shown as a whole.
    """
    if not rest and not options.select:
        return _ALL
    offset = options.select[0].offset if offset is None else offset
    if not isinstance(complex_, edm.ComplexType):
        raise QueryError(f"{name} has no properties to select from", offset)
    inside = [SelectItem(tuple(rest), options, offset=offset)] if rest else options.select
    wanted = set()
    for item in inside:
        if item.path == ("*",):
            return _ALL
        first, *deeper = item.path
        prop = complex_.property_called(first)
        if prop is None and not complex_.is_open:
            raise unknown_name(complex_, first, item.offset)
        if prop is not None:
            inner = item.options or QueryOptions()
            _refuse_others(prop.name, inner, item.offset)
            wanted_parts(prop.type, prop.name, inner, deeper, _offset_of(item, 1))
        wanted.add(first if prop is None else prop.name)
    return frozenset(wanted)


def shown_members(
    scope: Scope, collection: Elements, name: str, options: QueryOptions, offset: int = 0,
    it: Scope | None = None,
) -> ShownMembers:  # fmt: skip
    """The members that ``options`` leave; in expressions a member is ``$this``, and the names of
    a complex one's properties are those of ``$this``.

    Args:
        it: what ``$it`` is; a member, where the path of the request leads to the collection.
    Raises: QueryError; UnsupportedError, an option or a type of member is not offered.
    """
    is_it = it is None
    with option("$select", is_nested=not is_it):
        parts = wanted_parts(collection.type.element, name, options)
    offered = QueryOptions(
        select=options.select, filter=options.filter, orderby=options.orderby, top=options.top,
        skip=options.skip, count=options.count, aliases=options.aliases, custom=options.custom,
    )  # fmt: skip
    if options != offered:
        message = "of a collection $select takes $select, $filter, $orderby, $top, $skip, $count"
        raise UnsupportedError(message, offset)
    context = scope.context
    table, member = element_table(context, collection, offset, numbered=True)
    translator = Translator(context, scope, it=it or scope, this=member, it_is_member=is_it)
    with context.naming(options.aliases):
        with option("$filter", is_nested=not is_it):
            conditions = () if options.filter is None else (translator.condition(options.filter),)
        with option("$orderby", is_nested=not is_it):
            order = tuple(sort_keys(translator, options.orderby))
    bind = context.parameters.bind
    return ShownMembers(
        table,
        member,
        table.c.key,
        context.next_name(),
        conditions,
        order,
        parts,
        None if options.top is None else bind(options.top, BigInteger),
        None if options.skip is None else bind(options.skip, BigInteger),
        bool(options.count),
    )


def _refuse_others(name: str, options: QueryOptions, offset: int) -> None:
    """Refuse options inside ``$select`` that are of collections (URL Conventions 5.1.4).

    ``$compute`` could stand there, and is not offered.
    """
    if options != QueryOptions(select=options.select):
        refusal = UnsupportedError if options.compute else QueryError
        raise refusal(f"{name} is no collection: $select takes $select inside it", offset)


def _name(scope: Scope, member: Member) -> str:
    """The name of a member, that of a derived type behind the type's."""
    name = member.property.name if isinstance(member, PropertyMember) else member.name
    of = None if isinstance(member, ComputedMember) else member.of
    return name if of is None else f"{scope.context.container.namespace}.{of.name}/{name}"


def selection_text(
    scope: Scope,
    options: QueryOptions,
    members: Sequence[Member],
    expanded: Sequence[ExpandMember],
    version: Version = "4.0",
) -> tuple[str, ...] | None:
    """The select list of the context URL: ``name``, ``Contacts(email)`` (Protocol 10.7 to 10.10).

    None where all properties are shown, and nothing is expanded that the list must tell of: of what
    has no ``$select`` or ``$expand`` of its own 4.01 has ``Contacts()``, and 4.0 nothing.
    """
    names = []
    if options.apply is not None and not options.select:
        names = [text for member in members for text in _names(scope, member)]
    elif options.select:
        starred = any(item.path == ("*",) for item in options.select)
        listed = [text for member in members for text in _names(scope, member)]
        names = ["*"] if starred else listed
        names += ["/".join(item.path) for item in options.select if _is_operation(item)]
        names += _links_selected(scope, options.select)
    for member in expanded:
        if member.ref or member.count_only:
            continue
        projection = member.query.projection
        inner = projection.selected if projection is not None else None
        if inner is not None and member.recursive:
            # Each level shows the next one, which is what the plus sign says.
            same = (f"{member.name}(", f"{member.name}+(")
            inner = tuple(part for part in inner if not part.startswith(same)) or None
        if inner is not None or version != "4.0" or options.apply is not None:
            sign = "+" if member.recursive else ""
            names.append(f"{_name(scope, member)}{sign}({','.join(inner or ())})")
    # What is expanded in an expansion is to be told in it, be its own list empty.
    nested = version == "4.0" and any(
        not expand_member.ref and not expand_member.count_only for expand_member in expanded
    )
    return tuple(names) if names or nested else None


def _links_selected(scope: Scope, items: Sequence[SelectItem]) -> Iterator[str]:
    """The navigation properties that are selected, each once."""
    names: dict[str, None] = {}
    for item in items:
        *casts, last = item.path
        type_ = scope.context.container.type_called(casts[-1]) if casts else scope.type
        name = last if type_ is None else type_.folded.get(last.lower(), last)
        if type_ is not None and name in type_.navigation:
            names["/".join((*casts, name))] = None
    return iter(names)


def _names(scope: Scope, member: Member) -> list[str]:
    if (
        isinstance(member, PropertyMember)
        and (structure := member.property).columns is not None
        and isinstance(structure.type, edm.ComplexType)
        and not scope.type.key
    ):
        before = scope.context.container.types.get(scope.type.name)
        parts = member.parts if isinstance(member.parts, frozenset) else None
        return _names_made(scope.context.container, before, structure.name, structure.type, parts)
    if isinstance(member, PropertyMember) and isinstance(member.parts, frozenset):
        return [f"{_name(scope, member)}/{part}" for part in sorted(member.parts)]
    return [_name(scope, member)]


def _names_made(
    container: edm.EntityContainer,
    before: edm.EdmType | edm.EntityType | None,
    name: str,
    type_: edm.ComplexType,
    parts: frozenset[str] | None = None,
) -> list[str]:
    """An object in a row that ``$apply`` made: ``Client(name)`` where it is of a related entity,
    ``billingAddress/city`` where it is a part of a value (Data Aggregation 3.1).

    Args:
        before: the type of the rows that it was made of.
    """
    inside = container.inside(before, name)
    if inside is None and isinstance(before, edm.ComplexType):  # an open one
        inside = before
    names: list[str] = []
    for part, property_ in type_.properties.items():
        if parts is not None and part not in parts:
            continue
        if property_.columns is not None and isinstance(property_.type, edm.ComplexType):
            names += _names_made(container, inside, part, property_.type)
        else:
            names.append(part)
    if not isinstance(inside, edm.ComplexType):
        return [f"{name}({','.join(names)})"]
    if set(names) == set(inside.properties):
        return [name]
    return [f"{name}/{part}" for part in names]
