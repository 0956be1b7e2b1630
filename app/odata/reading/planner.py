"""Path and options to a plan: bound to the model, then compiled for one database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Dialect,
    Select,
    Text,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
)

from app.odata.binding.context import Budget, Context, Source
from app.odata.binding.values import Bound, Elements, JsonStructure, Structure, Typed
from app.odata.csdl.annotations import CORE
from app.odata.errors import QueryError, UnsupportedError, option
from app.odata.model import edm
from app.odata.protocol.negotiation import Format
from app.odata.reading.answers import PLAIN_TEXT, wkt_bytes
from app.odata.reading.binder import QueryBinder
from app.odata.reading.bound import BoundQuery, ExpandMember
from app.odata.reading.crossjoin import all_combinations, as_combinations
from app.odata.reading.entity_json import EntityWriter, joined_texts, raw_value
from app.odata.reading.keyset import continues_by_key, key_readers, key_values, rows_after
from app.odata.reading.plan import (
    EntityPlan,
    Fan,
    MediaPlan,
    NumberPlan,
    Page,
    PagePlan,
    Plan,
    RawPlan,
    ValuePlan,
    WholePlan,
    fan_of,
)
from app.odata.reading.query import Paging, Shape
from app.odata.reading.resource import PathResolver, Resource
from app.odata.reading.selection import shown_members, wanted_parts
from app.odata.reading.statement import RUN, Statement, Top
from app.odata.sql.dialect_sql import Template, spell
from app.odata.syntax.lexer import Limits
from app.odata.syntax.literals import to_binary
from app.odata.syntax.nodes import Argument, NameSegment, QueryOptions, ResourcePath
from app.odata.syntax.options import (
    COLLECTION_OPTIONS,
    COUNT_OPTIONS,
    ENTITY_OPTIONS,
    METADATA_OPTIONS,
    parse_options,
    refuse_others,
)
from app.odata.syntax.path import parse_path

# Of bytes whose property does not say what they are.
_BYTES = "application/octet-stream"

_SHAPING = frozenset(("select", "expand"))
_OF_MEMBERS = METADATA_OPTIONS | {"select", "filter", "orderby", "top", "skip", "count"}


def make_plan(
    container: edm.EntityContainer, shape: Shape, *, limits: Limits, max_depth: int
) -> Plan:
    """The plan of a read, for one caller on one database.

    Raises: QueryError; NotFoundError; ForbiddenError.
    """
    query = shape.query
    parsed = parse_path(query.path, limits=limits)
    options = parse_options(query.texts, limits=limits, first_slot=parsed.slots)
    budget = Budget(limits.nodes)
    context = Context(container, shape.caller, aliases=options.aliases, budget=budget)
    resource = PathResolver(context).resolve(parsed)
    refuse_others(query.texts, _options_of(resource))
    if "deltatoken" in query.texts.system:
        raise UnsupportedError("changes are not tracked", option="$deltatoken")
    is_canonical = _is_canonical(parsed, container)
    planner = _Planner(
        context, shape.dialect, query.format, max_depth, resource, options, is_canonical
    )
    plan = planner.plan(query.paging)
    guards, expanded = tuple(context.parameters.guards), tuple(context.expanded)
    return replace(plan, parent=planner.parent(), guards=guards, expanded=expanded)


def _options_of(resource: Resource) -> Collection[str]:
    if resource.ending == "$count":
        return COUNT_OPTIONS
    if resource.ending == "$value":
        return METADATA_OPTIONS
    if resource.kind == "value":
        if isinstance(resource.bound, Elements):
            return _OF_MEMBERS
        is_structure = isinstance(resource.bound, Structure | JsonStructure)
        return METADATA_OPTIONS | {"select"} if is_structure else METADATA_OPTIONS
    allowed = COLLECTION_OPTIONS if resource.kind == "collection" else ENTITY_OPTIONS
    # A reference has nothing that could be selected or expanded (Protocol 11.2.8).
    return frozenset(allowed) - _SHAPING if resource.ending == "$ref" else allowed


def _is_canonical(path: ResourcePath, container: edm.EntityContainer) -> bool:
    """Whether a path is ``Invoices(1)/LineItems``: where a contained collection lies."""
    match path.segments:
        case (
            NameSegment(name=name, arguments=(Argument(name=None),)),
            NameSegment(name=inside, arguments=None),
        ):
            home = container.sets.get(name)
            return home is not None and inside in home.type.navigation
    return False


@dataclass
class _Planner:
    """Makes one plan; ``is_canonical`` tells that the path is the URL of what it leads to."""

    context: Context
    dialect: Dialect
    format: Format
    max_depth: int
    resource: Resource
    options: QueryOptions
    is_canonical: bool

    def plan(self, paging: Paging) -> Plan:
        match self.resource:
            case Resource(ending="$count"):
                return self._number()
            case Resource(property=edm.Property(type=edm.STREAM, name=name)):
                return self._media(name)
            case Resource(kind="value", ending="$value"):
                return self._raw()
            case Resource(kind="value"):
                return self._value()
            case Resource(ending="$value"):
                return self._media()
            case Resource(kind="entity"):
                return self._entity(self._bound())
        query = self._bound()
        return self._whole(query) if paging == "whole" else self._page(query, paging)

    def parent(self) -> Statement | None:
        """What tells whether the entity is there that the path goes through."""
        return self._of_parent(spell(Text, "1"))

    def _bound(self) -> BoundQuery:
        resource, version = self.resource, self.format.version
        binder = QueryBinder(self.context, max_depth=self.max_depth, version=version)
        query = binder.bind(resource.scope, self.options, resource.address)
        # What $apply made of combinations has no entities to lead to.
        if resource.joined and query.scope is resource.scope:
            count = len(self.options.orderby)
            return as_combinations(query, resource.joined, count, self.format)
        return query

    # --- the kinds of plan

    def _page(self, query: BoundQuery, nulls: tuple[bool, ...]) -> Plan:
        """Rows by themselves: a link to the next page needs the keys of the last one."""
        columns: list[ColumnElement[Any]] = [self._json(query)]
        if query.count:
            columns.append(self._total(query))
        by_position = not continues_by_key(query)
        if by_position:
            if nulls:
                query.skip = bindparam(f"{RUN}after_0", type_=BigInteger(), required=True)
            skipped = literal_column("0") if query.skip is None else query.skip
            columns.append(cast(skipped, BigInteger))
        else:
            columns += key_values(query.order)
        after = rows_after(query.order, nulls) if nulls and not by_position else []
        return PagePlan(
            main=self._compiled(self._limited(query, columns, after)),
            context=self._context_url(query),
            keys=(int,) if by_position else key_readers(query.order),
            by_position=by_position,
            top=self._top(),
            skip=None if self.options.skip is None else self.options.skip.slot,
            total=self._compiled(self._counted(query)) if query.count else None,
            home=self._home(),
            fan=self._fan(query, lambda keys: self._limited(query, keys, after)),
        )

    def _whole(self, query: BoundQuery) -> Plan:
        """All rows as one text: for the driver one row is much less work than a thousand."""
        rows = self._limited(query, [self._json(query).label("j")]).subquery("rows")
        columns: list[ColumnElement[Any]] = [joined_texts(rows.c.j)]
        if query.count:
            columns.append(self._total(query))
        return WholePlan(
            main=self._compiled(select(*columns).select_from(rows)),
            context=self._context_url(query),
            has_total=query.count,
            top=self._top(),
            home=self._home(),
            fan=self._fan(query, lambda keys: self._limited(query, keys)),
        )

    def _entity(self, query: BoundQuery) -> Plan:
        # The tag of an entity is not that of the relation which leads to it.
        etag = [] if self.resource.ending == "$ref" else self._etag_columns()
        home = [Template(self.resource.home, alone=True)] if self.resource.home else []
        columns = [self._json(query), *etag, *home]
        assert query.projection is not None
        return EntityPlan(
            main=self._compiled(query.select(*columns)),
            context=self._context_url(query),
            has_etag=bool(etag),
            by_tag=self.resource.parent is None
            and not any(isinstance(member, ExpandMember) for member in query.projection.members),
            fan=self._fan(query, lambda keys: query.select(*keys)),
        )

    def _number(self) -> Plan:
        """``/$count``: of rows, or of the members of a collection kept as JSON."""
        resource, bound = self.resource, self.resource.bound
        if isinstance(bound, Elements):
            assert resource.property is not None
            statement = self._members_counted(bound, resource.property.name)
        else:
            query = QueryBinder(self.context).rows(resource.scope, self.options)
            statement = self._counted(query)
        return NumberPlan(main=self._compiled(statement))

    def _members_counted(self, collection: Elements, name: str) -> Select[Any]:
        scope, options = self.resource.scope, self.options
        if options.filter is None:
            length = spell(BigInteger, "json_array_length({0})", collection.sql)
            return scope.select(length)
        wanted = QueryOptions(filter=options.filter)
        members = shown_members(scope, collection, name, wanted)
        return scope.select(members.number())

    def _raw(self) -> Plan:
        """A property by itself as plain text, or as the bytes that it is."""
        resource, bound, etag = self.resource, self.resource.bound, self._etag_columns()
        assert bound is not None and resource.property is not None
        type_ = bound.type if isinstance(bound, Typed) else None
        media_type = PLAIN_TEXT
        encode: Callable[[str], bytes] = str.encode
        if type_ == edm.BINARY:
            media_type = resource.property.annotations.get(f"{CORE}.MediaType", _BYTES)
            encode = to_binary
        elif type_ in edm.GEOGRAPHY.values():
            encode = wkt_bytes
        return RawPlan(
            main=self._compiled(resource.scope.select(raw_value(bound), *etag)),
            has_etag=bool(etag),
            by_tag=resource.parent is None,
            media_type=media_type,
            encode=encode,
        )

    def _value(self) -> Plan:
        """A property by itself, as JSON."""
        resource, bound, etag = self.resource, self.resource.bound, self._etag_columns()
        assert bound is not None and resource.property is not None
        text, is_object = self._property(bound, resource.property.name)
        context, home = "#{path}", []
        if resource.inside is not None:
            context = f"#{{home}}/{resource.inside}"
            home = [Template(resource.address, alone=True)]
        selected = ",".join("/".join(item.path) for item in self.options.select)
        if selected not in ("", "*"):  # Protocol 10.14
            context = f"{context}({selected})"
        make = EntityPlan if is_object else partial(ValuePlan, type_member=self._type_member(bound))
        return make(
            main=self._compiled(resource.scope.select(text, *etag, *home)),
            context=context,
            has_etag=bool(etag),
            by_tag=resource.parent is None,
        )

    def _type_member(self, bound: Bound) -> str:
        if not isinstance(bound, Typed | Elements):
            return ""
        return "".join(
            f"{part}," for part in EntityWriter(self.format).type_annotation("", bound.type)
        )

    def _property(self, bound: Bound, name: str) -> tuple[ColumnElement[str], bool]:
        """The JSON of a property, what ``$select`` leaves of a complex one, or those members of a
        collection that are asked for; and whether it is an object that the context URL goes into.
        """
        options, scope, writer = self.options, self.resource.scope, EntityWriter(self.format)
        if isinstance(bound, Elements):
            if options == QueryOptions(aliases=options.aliases, custom=options.custom):
                return writer.property(bound, None), False
            chosen = shown_members(scope, bound, name, options)
            return writer.members(chosen, bound), True
        if not isinstance(bound, Structure | JsonStructure):
            return writer.property(bound, None), False
        with option("$select"):
            type_ = bound.property.type if isinstance(bound, Structure) else bound.type
            parts = wanted_parts(type_, name, options)
        return writer.property(bound, parts), True

    def _media(self, stream: str | None = None) -> Plan:
        """The bytes of a media entity, or of a stream property of an entity.

        Only the key is looked up, under the caller's filter.
        """
        resource = self.resource
        if resource.set_name is None or resource.kind == "collection":
            raise QueryError("only one entity of a set has bytes")
        query = QueryBinder(self.context).rows(resource.scope, self.options)
        statement = self._compiled(query.select(*resource.scope.key_columns()))
        return MediaPlan(main=statement, set_name=resource.set_name, stream=stream)

    # --- pieces

    def _limited(
        self,
        query: BoundQuery,
        columns: Sequence[ColumnElement[Any]],
        after: Sequence[ColumnElement[bool]] = (),
    ) -> Select[Any]:
        """The rows of a page in their order.

        Args:
            after: ranges of the rows that come after the page before, see ``rows_after``.
        """
        order = [key.clause() for key in query.order]
        limit = bindparam(f"{RUN}limit", type_=BigInteger, required=True)
        rows = query.select(*columns)
        keys = query.scope.key_columns()
        if len(after) == 1 or (after and not keys):
            return rows.where(or_(*after)).order_by(*order).limit(limit)
        if after:
            ranges = [
                query.select(*keys).where(part).order_by(*order).limit(limit).correlate(None)
                for part in after
            ]
            following = union_all(*(select(*part.subquery().c) for part in ranges))
            return rows.where(tuple_(*keys).in_(following)).order_by(*order).limit(limit)
        # SQLite makes the JSON of every row that is for a while among the first it has sorted,
        # PostgreSQL that of the rows that it skips: unless keys alone are sorted and skipped.
        sqlite = self.dialect.name == "sqlite"
        by_key = self.context.unordered if sqlite else query.skip is not None
        if not by_key or not keys:
            return rows.order_by(*order).limit(limit).offset(query.skip)
        keys_page = query.select(*keys).order_by(*order).limit(limit).offset(query.skip)
        return rows.where(tuple_(*keys).in_(keys_page.correlate(None))).order_by(*order)

    def _fan(self, query: BoundQuery, page: Page) -> Fan | None:
        """What tells how much is expanded; of rows without a key nothing can."""
        if not query.scope.type.key:
            return None
        return fan_of(query, page, self.context.parameters.sources, self._compiled)

    def _total(self, query: BoundQuery) -> ColumnElement[int]:
        return self._counted(query).correlate(None).scalar_subquery()

    def _json(self, query: BoundQuery) -> ColumnElement[str]:
        assert query.projection is not None
        if self.resource.ending != "$ref":
            return EntityWriter(self.format).entity(query.projection)
        if not query.scope.type.key:
            raise QueryError("the rows that it makes have no references", 0, "$apply")
        return EntityWriter(self.format).reference(query.projection)

    def _etag_columns(self) -> list[ColumnElement[Any]]:
        scope = self.resource.scope
        return [] if scope.type.etag is None else [scope.columns[scope.type.etag]]

    def _counted(self, query: BoundQuery) -> Select[Any]:
        joined, options = self.resource.joined, self.options
        if joined and not (options.filter or options.search or options.apply):
            return select(all_combinations(joined))
        return query.select(func.count())

    def _home(self) -> Statement | None:
        """The URL of a contained collection, where the path is another."""
        home = self.resource.home
        if not home or self.is_canonical or self.format.metadata == "none":
            return None
        return self._of_parent(Template(home, alone=True))

    def _of_parent(self, column: ColumnElement[Any]) -> Statement | None:
        parent = self.resource.parent
        return None if parent is None else self._compiled(parent.select(column).limit(1))

    def _top(self) -> Top | None:
        top = self.options.top
        return None if top is None else Top(top.slot, top.number)

    def _context_url(self, query: BoundQuery) -> str:
        """The context URL after ``$metadata``; see ``Plan`` (Protocol 10)."""
        resource, projection = self.resource, query.projection
        assert projection is not None
        if resource.ending == "$ref":
            collection = resource.kind == "collection"
            return "#Collection($ref)" if collection else "#$ref"
        contained = "{path}" if resource.kind == "collection" and self.is_canonical else "{home}"
        name = resource.set_name or contained
        if resource.is_cast:
            name += f"/{self.context.container.namespace}.{resource.scope.type.name}"
        selected = f"({','.join(projection.selected)})" if projection.selected else ""
        is_singleton = resource.set_name in self.context.container.singletons
        entity = "/$entity" if resource.kind == "entity" and not is_singleton else ""
        return f"#{name}{selected}{entity}"

    def _compiled(self, statement: Select[Any]) -> Statement:
        sources: dict[str, Source] = self.context.parameters.sources
        by_key = self.resource.kind != "collection" and self.resource.parent is None
        return Statement(
            statement, self.dialect, sources, prepared=by_key, multiplied=self.context.multiplied
        )
