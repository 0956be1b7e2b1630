"""Names and keys of paths resolved against the model, and what each step leads to: paths in
expressions, and resource paths (URL Conventions 4).

Reads and writes follow the same steps of a resource path: a read makes rows of them, a write the
key of an entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal as OneOf

from sqlalchemy import ColumnElement, and_, bindparam, true

from app.errors import NotFoundError
from app.odata.binding.context import Context
from app.odata.binding.json_values import inner_json, json_member
from app.odata.binding.type_coercion import FAMILIES, fit
from app.odata.binding.values import (
    Bound,
    Constant,
    Dynamic,
    Elements,
    JsonStructure,
    Nested,
    Row,
    Rows,
    Scope,
    Structure,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError, sentence, suggestion
from app.odata.model import edm
from app.odata.sql.dialect_sql import estimated_size
from app.odata.syntax import nodes
from app.odata.syntax.literals import UNQUOTED, literal_text, read_whole
from app.odata.syntax.nodes import Argument, Literal, Node

# --- keys


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


# --- paths in expressions


def member(translator: Translating, node: nodes.Member) -> Bound:
    """A step by its name, from the current instance where the path begins with it."""
    if node.base is None:
        if node.name in translator.variables:
            return translator.variables[node.name]
        if translator.this is not None:
            return _inside(translator.this, node)
        return step(translator.scope, node.name, node.offset)
    if isinstance(node.base, nodes.Root):
        return of_root(translator, node.name, node.offset)
    return _inside(translator.bind(node.base), node)


def _inside(base: Bound, node: nodes.Member) -> Bound:
    match base:
        case Row(scope=scope):
            return step(scope, node.name, node.offset)
        case Structure(scope=scope, property=property_):
            return in_columns(scope, property_, node)
        case JsonStructure(sql=sql, type=type_):
            return json_member(sql, type_, node.name, node.offset)
        case Dynamic(sql=sql, name=name):
            return Dynamic(inner_json(sql, name), node.name)
        case Rows(navigation=navigation):
            raise QueryError(
                f"{navigation.name} is a collection:"
                f" use {navigation.name}/any(x:x/{node.name} ...)",
                node.offset,
            )
        case Elements():
            raise QueryError("the path goes on after a collection: use any() or all()", node.offset)
    raise QueryError(f"'{node.name}': the value before it has no properties", node.offset)


def step(scope: Scope, name: str, offset: int) -> Bound:
    """What a property or navigation property of a row is.

    Raises: QueryError, the type has no such name; ForbiddenError, the target may not be read.
    """
    type_ = scope.type
    if name in scope.computed:
        value = scope.computed[name]
        scope.context.budget.use(estimated_size(value.sql), offset)
        return value
    if name in scope.members:
        return scope.members[name]
    known = name
    if name not in type_.properties and name not in type_.navigation:
        known = type_.folded.get(name.lower(), "")
    if known in type_.properties:
        if type_.properties[known].on_request:
            raise QueryError(f"{known} can only be selected", offset)
        return of_property(scope, type_.properties[known], offset)
    if known in type_.navigation:
        navigation = type_.navigation[known]
        if not navigation.collection:
            return Row(scope.join(navigation))
        nested = scope.nested.get(known)
        return Rows(scope, navigation) if nested is None else _of_nested(nested, known, offset)
    if name in scope.nested:
        return _of_nested(scope.nested[name], name, offset)
    raise unknown_name(type_, name, offset)


def _of_nested(nested: Nested, name: str, offset: int) -> Bound:
    if nested.bound is None:
        raise UnsupportedError(f"what $apply made of {name} is shown, not used further", offset)
    return nested.bound


def unknown_name(type_: edm.EntityType | edm.ComplexType, name: str, offset: int) -> QueryError:
    """The error that a type has no such property, with the name that was perhaps meant."""
    known = [*type_.properties]
    if isinstance(type_, edm.EntityType):
        known += type_.navigation
    message = f"{type_.name} has no property '{name}'{suggestion(name, known)}"
    return QueryError(message, offset)


def of_property(scope: Scope, property_: edm.Property, offset: int | None = None) -> Bound:
    if property_.columns is not None:
        return Structure(scope, property_)
    if property_.type == edm.STREAM:
        raise QueryError(f"{property_.name} is a stream: it has no value to compute with", offset)
    sql = property_sql(scope, property_)
    if isinstance(property_.type, edm.ComplexType):
        return JsonStructure(sql, property_.type)
    if isinstance(property_.type, edm.CollectionType):
        return Elements(sql, property_.type)
    nullable = property_.nullable or scope.optional
    return Typed(
        sql,
        property_.type,
        nullable,
        plain=property_.allowed is not None,
        trigrams=scope.type.trigrams if property_.searchable else None,
    )


def property_sql(scope: Scope, property_: edm.Property) -> ColumnElement[Any]:
    """The column of a property, or the expression that computes it."""
    if property_.expression is not None:
        value = property_.expression(scope.columns, scope.context.caller.rights)
        return value if property_.nullable else scope.where_there(value)
    column: ColumnElement[Any] = scope.columns[property_.attribute]
    return column


def in_columns(scope: Scope, property_: edm.Property, node: nodes.Member) -> Bound:
    type_ = property_.type
    assert isinstance(type_, edm.ComplexType) and property_.columns is not None
    inner = type_.property_called(node.name)
    if inner is None:
        error = unknown_name(type_, node.name, node.offset)
        error.message = f"{property_.name}/{node.name}: {error.message}"
        raise error
    if inner.columns is not None:
        return Structure(scope, inner)
    sql = scope.columns[property_.columns[inner.name]]
    return Typed(sql, inner.type, nullable=True, plain=inner.allowed is not None)


def keyed(translator: Translating, node: nodes.KeyPredicate) -> Bound:
    """``Contacts(5)`` or ``$root/Clients(1)`` in an expression: one entity, or nothing."""
    rows = translator.bind(node.base)
    if not isinstance(rows, Rows):
        raise QueryError("a key can only follow a collection of entities", node.offset)
    target = Scope(translator.context, rows.type_in(translator.context.container), optional=True)
    own = own_key(target.type, rows.navigation)
    parts = key_parts(target.type, node.arguments, node.offset, own)
    condition = and_(
        rows.navigation.join(rows.owner.columns, target.columns),
        key_condition(translator, target, parts),
        *(translator.within(target).condition(predicate) for predicate in rows.predicates),
    )
    # The arguments tell a key predicate from all others of a query, whatever option it stands in.
    name = f"{rows.navigation.name}/{id(node.arguments)}"
    return Row(rows.owner.attach(name, target, condition))


def key_condition(
    translator: Translating, target: Scope, parts: Mapping[str, nodes.Node]
) -> ColumnElement[bool]:
    """That a row is the one with these parts of a key (``key_parts``)."""
    type_ = target.type
    conditions = []
    for name, value in parts.items():
        part = of_property(target, type_.properties[name])
        assert isinstance(part, Typed)
        literal = translator.bind(value)
        if not isinstance(literal, Constant) or not isinstance(literal.literal, nodes.Literal):
            raise QueryError("a key is written as a literal", value.offset)
        check_key_literal(type_.properties[name], literal.literal)
        conditions.append(part.sql == fit(literal, part, translator.context.parameters))
    return and_(*conditions)


def filtered(translator: Translating, node: nodes.FilterSegment) -> Bound:
    """``Contacts/$filter(...)``: a collection less those that do not pass."""
    rows = translator.bind(node.base)
    if not isinstance(rows, Rows | Elements):
        raise QueryError("$filter can only follow a collection", node.offset)
    return replace(rows, predicates=(*rows.predicates, node.predicate))


def navigation_of(type_: edm.EntityType, item: nodes.ExpandItem) -> edm.NavigationProperty:
    """The navigation property that an item names.

    Raises: QueryError, it is none.
    """
    name, *following = item.path
    known = name if name in type_.navigation else type_.folded.get(name.lower(), name)
    navigation = type_.navigation.get(known)
    if navigation is None:
        if known in type_.properties:
            raise QueryError(f"{known} is not a navigation property", item.offset)
        raise unknown_name(type_, name, item.offset)
    if any("." not in step for step in following) or len(following) > 1:
        raise QueryError(
            f"write {name}($expand={'/'.join(following)}) to go on from {name}", item.offset
        )
    return navigation


def seen_as(
    container: edm.EntityContainer, type_: edm.EntityType, name: str, offset: int
) -> edm.EntityType:
    """The type that a cast names: that of the entities, or one derived from it.

    Raises: QueryError, they cannot be of such a type.
    """
    target = container.seen_as(type_, name)
    if target is None:
        raise QueryError(f"no {type_.name} is of the type {name}", offset)
    return target


def singleton_scope(context: Context, singleton: edm.Singleton, *, optional: bool = False) -> Scope:
    """The one row of a singleton; its key is looked up when the plan runs."""
    scope = Scope(context, singleton.type, optional=optional)
    (column,) = scope.key_columns()
    key = bindparam(f"run_singleton_{singleton.name}", type_=column.type, required=True)
    scope.conditions.append(column == key)
    return scope


def of_root(translator: Translating, name: str, offset: int) -> Row | Rows:
    """``$root/Clients`` or ``$root/Me``: all entities of a set, or the one of a singleton.

    Raises: QueryError, there is neither; ForbiddenError, it may not be read.
    """
    container = translator.context.container
    if singleton := container.singletons.get(name):
        scope = singleton_scope(translator.context, singleton, optional=True)
        return Row(translator.it.attach(f"$root/{name}", scope, true()))
    target_set = container.set_called(name)
    if target_set is None:
        hint = suggestion(name, [*container.sets, *container.singletons])
        raise QueryError(f"there is no entity set '{name}'{hint}", offset)
    everything = edm.NavigationProperty(
        name=f"$root/{target_set.name}",
        target=target_set.type.name,
        collection=True,
        join=lambda source, target: true(),
    )
    return Rows(translator.it, everything)


# --- resource paths: what each segment is


Kind = OneOf["collection", "entity", "value"]


@dataclass(frozen=True, slots=True)
class KeyStep:
    """One entity of the collection before: by its key, an alternate one, or what suffices there.

    ``parts`` has the values by the names of the properties.
    """

    parts: Mapping[str, nodes.Node]


@dataclass(frozen=True, slots=True)
class OrdinalStep:
    """What stands in parentheses behind the property or member ``name``: the number of a member.

    Without ``arguments`` it is a segment that is no name.
    """

    name: str
    arguments: tuple[nodes.Argument, ...]


# An entity type is a cast to it. A name behind a property is a segment as it is written, as
# dynamic properties are in no model; so is what begins with a dollar sign.
Step = (
    edm.EntitySet
    | edm.Singleton
    | edm.EntityType
    | edm.NavigationProperty
    | edm.Property
    | KeyStep
    | OrdinalStep
    | nodes.Segment
)


def path_steps(container: edm.EntityContainer, path: nodes.ResourcePath) -> Iterator[Step]:
    """The steps of a path, each resolved when the one before it has been taken.

    ``Clients(1)`` are two of them, the set and the key.

    Raises: NotFoundError, a name is not there; QueryError, a key does not fit.
    """
    walk = _Walk(container)
    for segment in path.segments:
        yield from walk.steps(segment)


class _Walk:
    """Where in the model a path has come to."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container
        self._type: edm.EntityType | None = None
        self._kind: Kind = "collection"
        self._own_key: tuple[str, ...] = ()  # what suffices in a collection of related entities
        self._name = ""  # of the property or member that the last segment was

    def steps(self, segment: nodes.Segment) -> Iterator[Step]:
        match segment:
            case nodes.NameSegment(arguments=arguments):
                if segment.key is not None:
                    offset = segment.key[0].offset if segment.key else segment.offset
                    raise QueryError("an entity has only one key", offset)
                yield self._named(segment)
                yield from self._in_parentheses(arguments, segment.offset)
            case nodes.KeySegment(text=text):
                yield self._by_text(text, segment.offset)
            case nodes.FilterPathSegment(key=key):
                if self._kind != "collection":
                    raise QueryError("$filter can only follow a collection", segment.offset)
                yield segment
                yield from self._in_parentheses(key, segment.offset)
            case _:
                yield segment

    def _named(self, segment: nodes.NameSegment) -> Step:
        if self._type is None:
            return self._first(segment)
        if self._kind == "value":
            self._name = segment.name
            return segment
        if "." in segment.name:
            return self._cast(self._type, segment)
        if self._kind == "collection":
            return self._by_text(segment.name, segment.offset)
        return self._of_entity(self._type, segment)

    def _first(self, segment: nodes.NameSegment) -> Step:
        container = self._container
        if singleton := container.singletons.get(segment.name):
            if segment.arguments is not None:
                raise QueryError(f"{segment.name} is one entity: it has no key", segment.offset)
            self._come_to("entity", singleton.type)
            return singleton
        entity_set = container.set_called(segment.name)
        if entity_set is None:
            known = [*container.sets, *container.singletons, *container.imports]
            hint = suggestion(segment.name, known)
            raise NotFoundError(sentence(f"There is no entity set {segment.name}{hint}"))
        self._come_to("collection", entity_set.type)
        return entity_set

    def _come_to(
        self, kind: Kind, type_: edm.EntityType, navigation: edm.NavigationProperty | None = None
    ) -> None:
        self._kind, self._type, self._own_key = kind, type_, own_key(type_, navigation)

    def _cast(self, type_: edm.EntityType, segment: nodes.NameSegment) -> edm.EntityType:
        target = self._container.seen_as(type_, segment.name)
        if target is None:
            raise NotFoundError(f"There is no type or operation {segment.name} here.")
        self._type = target
        return target

    def _of_entity(self, type_: edm.EntityType, segment: nodes.NameSegment) -> Step:
        name = type_.folded.get(segment.name.lower(), segment.name)
        navigation = type_.navigation.get(name)
        if navigation is not None:
            target = self._container.target(navigation)
            self._come_to("collection" if navigation.collection else "entity", target, navigation)
            return navigation
        property_ = type_.properties.get(name)
        if property_ is None:
            raise NotFoundError(sentence(unknown_name(type_, segment.name, 0).message))
        self._kind, self._name = "value", name
        return property_

    def _in_parentheses(
        self, arguments: tuple[nodes.Argument, ...] | None, offset: int
    ) -> Iterator[KeyStep | OrdinalStep]:
        if arguments is None:
            return
        if self._kind == "value":
            yield OrdinalStep(self._name, arguments)
            return
        if self._kind != "collection" or self._type is None:
            raise QueryError("a key can only follow a collection", offset)
        parts = key_parts(self._type, arguments, offset, self._own_key)
        self._kind = "entity"
        yield KeyStep(parts)

    def _by_text(self, text: str, offset: int) -> KeyStep | OrdinalStep:
        """A key written as a segment (URL Conventions 4.3.6)."""
        type_ = self._type
        if self._kind == "value":
            return OrdinalStep(self._name, ())
        if type_ is None or self._kind != "collection" or len(self._own_key) != 1:
            raise NotFoundError(f"There is no {text} here.")
        (name,) = self._own_key
        literal = segment_literal(type_.properties[name], text, offset)
        if literal is None:
            raise NotFoundError(f"There is no {type_.name} {text}.")
        self._kind = "entity"
        return KeyStep({name: literal})
