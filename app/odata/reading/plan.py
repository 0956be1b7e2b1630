"""A plan: the statements of a query, and how its rows are answered. Each kind of answer has one.

One is made once for all queries of a shape, and kept. Where collections are expanded inside what is
expanded, entities are shown once for each path that leads to them, so that a short query may ask
for millions out of a hundred rows: how many there are is counted before they are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from math import prod
from threading import Lock
from typing import Any, ClassVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
)

from app.errors import NotFoundError
from app.odata.binding.context import Guard, Source
from app.odata.binding.paths import key_of
from app.odata.errors import QueryError
from app.odata.reading.answers import PLAIN_TEXT, Answer, Answering, Headers
from app.odata.reading.bound import BoundQuery, ExpandMember
from app.odata.reading.query import PageStart
from app.odata.reading.statement import Run, Statement, Top
from app.odata.syntax.nodes import LiteralValue, QueryOptions

# --- how many related entities an answer would have

# Related entities in one answer, those aside that are directly in its rows: some tens of megabytes.
MOST_RELATED = 50_000

ExpandPath = tuple[ExpandMember, ...]
# Selects columns of the rows that are shown.
Page = Callable[[Sequence[ColumnElement[Any]]], Select[Any]]


@dataclass(frozen=True, slots=True)
class Fan:
    """``paths`` are the ``$top`` of each collection on the path to those that are deep inside.

    ``count`` counts what they lead to, all paths together, as far as it matters.
    """

    paths: Sequence[Sequence[Top | None]]
    count: Statement

    def refuse_too_many(self, run: Run, connection: Connection, rows: int) -> None:
        """Raise QueryError where the answer, which has ``rows`` rows at most, would be too great.

        It is counted only where the numbers that are asked for do not already tell.
        """
        most = sum(
            rows * prod(
                run.expanded if top is None else min(top.of(run.literals), run.expanded)
                for top in path
            )
            for path in self.paths
        )  # fmt: skip
        if most > MOST_RELATED and self.count.rows(connection, run)[0][0] > MOST_RELATED:
            raise QueryError(
                f"more than {MOST_RELATED} related entities would be shown, each as often as a path"
                " leads to it: ask for fewer levels, or for fewer entities with $top or $filter",
                0,
                "$expand",
            )


def fan_of(
    query: BoundQuery,
    page: Page,
    sources: Mapping[str, Source],
    compiled: Callable[[Select[Any]], Statement],
) -> Fan | None:
    """What has to be counted of a query; None where nothing deep inside can be many.

    Args:
        sources: where the parameters of the query come from.
    """
    paths = list(_deep_paths(query, ()))
    if not paths:
        return None
    rows = page(query.scope.key_columns()).correlate(None).cte("page")
    statement = union_all(*(_along(query, path, rows) for path in paths)).limit(MOST_RELATED + 1)
    tops = [[_top(member.query, sources) for member in path if member.collection] for path in paths]
    return Fan(tops, compiled(select(func.count()).select_from(statement.subquery())))


def _deep_paths(query: BoundQuery, before: ExpandPath) -> Iterator[ExpandPath]:
    """The paths to the collections inside what is expanded."""
    assert query.projection is not None
    for member in query.projection.members:
        if isinstance(member, ExpandMember) and not member.count_only:
            path = (*before, member)
            if before and member.collection:
                yield path
            if member.query.projection is not None:
                yield from _deep_paths(member.query, path)


def _along(query: BoundQuery, path: ExpandPath, page: Any) -> Select[Any]:
    """A row for each entity that a path leads to."""
    keys = query.scope.key_columns()
    constant: Any = literal_column("1")
    statement = select(constant).select_from(query.scope.from_clause())
    statement = statement.where(tuple_(*keys).in_(select(*page.c)))
    for member in path:
        statement = statement.select_from(member.query.scope.from_clause()).where(
            *member.query.conditions
        )
    return statement


def _top(query: BoundQuery, sources: Mapping[str, Source]) -> Top | None:
    if query.top is None:
        return None
    source = sources.get(query.top.key)
    return Top(None if source is None else source.slot, query.top.value or 0)


# --- plans

# Of a plan itself and of the shape that it is kept under.
_BYTES = 4000


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """How to answer.

    ``parent`` tells whether what the path goes through is there. ``expanded`` are the options of
    each collection that an entity has in it, see expansion_links.py; ``fan`` counts those that are
    deep inside. ``context`` is the context URL after ``$metadata``; ``{path}`` is the path of the
    request, ``{home}`` the last value of the row: the canonical URL of the entity that has the
    property, or of the collection that has the contained entity.
    """

    main: Statement
    parent: Statement | None = None
    context: str = ""
    fan: Fan | None = None
    expanded: Sequence[QueryOptions] = ()
    guards: Sequence[Guard] = ()

    is_json: ClassVar[bool] = True

    @abstractmethod
    def answer(self, run: Run, connection: Connection, answering: Answering) -> Answer:
        """What the statements give; 204 for null, 304 where the client has the entity already.

        Raises: NotFoundError; QueryError; NotAcceptableError; PreconditionFailedError, the entity
            is not the one that ``If-Match`` names; what the database raises.
        """

    def fits(self, literals: Sequence[LiteralValue]) -> bool:
        """Whether the plan, made for another query of the same shape, serves these literals."""
        return all(guard.fits(literals) for guard in self.guards)

    @property
    def estimated_bytes(self) -> int:
        """Roughly the bytes that keeping it takes."""
        return _BYTES + sum(statement.estimated_bytes for statement in self._statements())

    def slots(self) -> set[int]:
        """The literals that are filled in when the plan runs; all others are part of its form."""
        slots = {slot for statement in self._statements() for slot in statement.slots}
        return slots.union(slot for slot in self.bounds() if slot is not None)

    def _statements(self) -> list[Statement]:
        every = [getattr(self, field.name) for field in fields(self)]
        every += [] if self.fan is None else [self.fan.count]
        return [statement for statement in every if isinstance(statement, Statement)]

    def bounds(self) -> list[int | None]:
        """The slots of numbers that are read outside the statements."""
        paths = () if self.fan is None else self.fan.paths
        return [None if top is None else top.slot for path in paths for top in path]

    def _row(self, run: Run, connection: Connection) -> Any:
        rows = self.main.rows(connection, run)
        if not rows:
            raise _missing()
        return rows[0]

    def _require_parent(self, run: Run, connection: Connection) -> None:
        if self.parent is not None and not self.parent.rows(connection, run):
            raise _missing()


def _missing() -> NotFoundError:
    return NotFoundError("What this address names does not exist.")


# --- collections


@dataclass(frozen=True, kw_only=True)
class CollectionPlan(Plan):
    """Rows of ``main``: the JSON, and the number of all rows if it is asked for.

    A contained collection that is reached by a longer way than its URL has it from ``home``.
    """

    top: Top | None = None
    skip: int | None = None
    home: Statement | None = None

    def answer(self, run: Run, connection: Connection, answering: Answering) -> Answer:
        rows, total, link = self._page(run, connection, answering)
        home = () if self.home is None else self.home.rows(connection, run)[0]
        head = answering.context(self.context, home)
        if total is not None:
            head += answering.total(total)
        body = answering.linked(f'{{{head}"value":[{rows}]{link}}}', self.expanded, run)
        answering.refuse_tags()
        return answering.json(body, [], is_page=True)

    @abstractmethod
    def _page(
        self, run: Run, connection: Connection, answering: Answering
    ) -> tuple[str, int | None, str]:
        """The JSON of the rows, the number of all if asked for, and the link to the next page."""

    def bounds(self) -> list[int | None]:
        return [*super().bounds(), self.skip, None if self.top is None else self.top.slot]

    def _limit(self, run: Run, connection: Connection, limit: int) -> None:
        run.limit = limit
        if self.fan is not None:
            self.fan.refuse_too_many(run, connection, limit)


@dataclass(frozen=True, kw_only=True)
class PagePlan(CollectionPlan):
    """Rows by themselves, behind each the sort keys, in the form of a token, which ``keys`` read.

    Where nothing tells each row from all others, a page is continued ``by_position``: in place of
    the keys stands the number of rows before the page. ``total`` counts when a page is empty.
    ``skip`` is the slot of a ``$skip`` that a page with a token has behind it.
    """

    keys: Sequence[Callable[[Any], Any]]
    by_position: bool = False
    total: Statement | None = None

    def _page(
        self, run: Run, connection: Connection, answering: Answering
    ) -> tuple[str, int | None, str]:
        remaining = None if self.top is None else self.top.of(run.literals)
        if run.start is not None:
            remaining = run.start.remaining
            if len(run.start.after) != len(self.keys):
                raise QueryError("this token belongs to another query", 0, "$skiptoken")
            run.after = [
                None if value is None else read(value)
                for read, value in zip(self.keys, run.start.after, strict=True)
            ]
        more = run.page + 1
        self._limit(run, connection, more if remaining is None else min(remaining, more))
        rows, total, link = self.main.rows(connection, run), None, ""
        if not rows:
            self._require_parent(run, connection)
        if self.total is not None:
            total = rows[0][1] if rows else self.total.rows(connection, run)[0][0]
        if len(rows) > run.page:
            rows = rows[: run.page]
            left = None if remaining is None else remaining - run.page
            last = rows[-1]
            after = [last[-1] + run.page] if self.by_position else last[-len(self.keys) :]
            link = answering.next_link(PageStart(after, left))
        return ",".join([row[0] for row in rows]), total, link


@dataclass(frozen=True, kw_only=True)
class WholePlan(CollectionPlan):
    """A collection that fits into one page.

    The one row of ``main``: the JSON of all rows as one text, then their number if ``has_total``.
    """

    has_total: bool = False

    def _page(
        self, run: Run, connection: Connection, answering: Answering
    ) -> tuple[str, int | None, str]:
        assert self.top is not None
        self._limit(run, connection, self.top.of(run.literals))
        row = self.main.rows(connection, run)[0]
        if row[0] is None:
            self._require_parent(run, connection)
        return row[0] or "", row[1] if self.has_total else None, ""


@dataclass(frozen=True, kw_only=True)
class NumberPlan(Plan):
    """``/$count``: the one value of ``main``."""

    is_json = False

    def answer(self, run: Run, connection: Connection, answering: Answering) -> Answer:
        rows = self.main.rows(connection, run)
        number = (rows[0][0] if rows else None) or 0
        if not number:
            self._require_parent(run, connection)
        answering.refuse_tags()
        return answering.plain(str(number).encode(), PLAIN_TEXT, [])


# --- one entity or value


@dataclass(frozen=True, kw_only=True)
class SinglePlan(Plan):
    """The row of ``main``: the JSON, and the row version if ``has_etag``.

    ``by_tag`` says whether the row version alone tells that a client has the answer already: not
    where other rows are shown inside, nor where the row is what another row refers to.
    """

    has_etag: bool = False
    by_tag: bool = False

    def answer(self, run: Run, connection: Connection, answering: Answering) -> Answer:
        row = self._row(run, connection)
        if not self.has_etag:
            answering.refuse_tags()
        if row is None:
            return answering.nothing(204)
        headers, is_known = answering.tag(row[1], self.by_tag) if self.has_etag else ([], False)
        if is_known:
            return answering.nothing(304, headers)
        if row[0] is None:
            return answering.nothing(204, headers)
        return self._answer_row(row, run, answering, headers)

    @abstractmethod
    def _answer_row(self, row: Any, run: Run, answering: Answering, headers: Headers) -> Answer: ...


@dataclass(frozen=True, kw_only=True)
class EntityPlan(SinglePlan):
    """An entity, or another object that the context URL goes into."""

    def _row(self, run: Run, connection: Connection) -> Any:
        if self.fan is not None:
            self.fan.refuse_too_many(run, connection, rows=1)
        rows = self.main.rows(connection, run)
        if not rows and self.parent is None:
            raise _missing()
        if not rows:  # there is none, which is no error where there could be one
            self._require_parent(run, connection)
        return rows[0] if rows else None

    def _answer_row(self, row: Any, run: Run, answering: Answering, headers: Headers) -> Answer:
        text, context = row[0], answering.context(self.context, row)
        if text == "{}":
            return answering.json("{" + context.rstrip(",") + "}", headers)
        rest = answering.linked(text[1:], self.expanded, run)
        return answering.json("{" + context + rest, headers)


@dataclass(frozen=True, kw_only=True)
class ValuePlan(SinglePlan):
    """A property by itself.

    ``type_member`` is the member that tells its type, with a comma behind it; empty where none is
    told.
    """

    type_member: str = ""

    def _answer_row(self, row: Any, run: Run, answering: Answering, headers: Headers) -> Answer:
        context = answering.context(self.context, row, keys_as_written=True)
        return answering.json(f'{{{context}{self.type_member}"value":{row[0]}}}', headers)


@dataclass(frozen=True, kw_only=True)
class RawPlan(SinglePlan):
    """``/$value`` of a property: ``encode`` makes the bytes of its text."""

    is_json = False
    media_type: str
    encode: Callable[[str], bytes]

    def _answer_row(self, row: Any, run: Run, answering: Answering, headers: Headers) -> Answer:
        return answering.plain(self.encode(row[0]), self.media_type, headers)


@dataclass(frozen=True, kw_only=True)
class MediaPlan(Plan):
    """The key of an entity of ``set_name`` whose bytes, or whose ``stream``, are asked for."""

    is_json = False
    set_name: str
    stream: str | None

    def answer(self, run: Run, connection: Connection, answering: Answering) -> Answer:
        key = key_of(self._row(run, connection))
        return answering.media((self.set_name, key, self.stream))


# --- plans that are kept

MOST_PLANS = 2000
# A plan of the usual size has some 5 KB, one of the longest query that is accepted half a megabyte:
# without this, whoever asks such queries would have the process grow as far as it can.
MOST_BYTES = 8 * 1024 * 1024
# Plans of one shape that differ by what a literal decides, such as whether a text is long enough
# for the index.
_MOST_VARIANTS = 8


class PlanCache:
    """Plans by the shape of their query; the least recently used goes first.

    Args:
        most: shapes that are kept.
        most_bytes: what their plans may weigh together (``Plan.estimated_bytes``).
    """

    def __init__(self, most: int = MOST_PLANS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self.estimated_bytes = 0
        self._plans: OrderedDict[Hashable, tuple[Plan, ...]] = OrderedDict()
        self._lock = Lock()
        self.hits = self.misses = 0

    def __len__(self) -> int:
        return len(self._plans)

    def shapes(self) -> list[Hashable]:
        """What plans are kept under, the least recently used first."""
        return list(self._plans)

    def plans(self, key: Hashable) -> tuple[Plan, ...]:
        return self._plans.get(key, ())

    def find(self, key: Hashable, literals: Sequence[LiteralValue]) -> Plan | None:
        """The plan under ``key`` that fits the literals; None when there is none yet."""
        for plan in self._plans.get(key, ()):
            if plan.fits(literals):
                with suppress(KeyError):  # dropped by another thread meanwhile
                    self._plans.move_to_end(key)
                return plan
        return None

    def keep(self, key: Hashable, plan: Plan) -> None:
        """Add a plan beside those of its shape."""
        with self._lock:
            before = self._plans.pop(key, ())
            variants = self._plans[key] = (plan, *before)[:_MOST_VARIANTS]
            self.estimated_bytes += _together(variants) - _together(before)
            while len(self._plans) > self._most or self.estimated_bytes > self._most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self.estimated_bytes -= _together(dropped)


def _together(plans: Sequence[Plan]) -> int:
    return sum(plan.estimated_bytes for plan in plans)
