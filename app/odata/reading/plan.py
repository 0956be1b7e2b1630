"""A plan: the statements of a query, made once for all queries of its shape."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from app.odata.binding.context import Guard
from app.odata.reading.fan_out import Fan
from app.odata.reading.statement import Statement, Top
from app.odata.syntax.nodes import LiteralValue, QueryOptions

MOST_PLANS = 2000
# A plan of the usual size has some 5 KB, one of the longest query that is accepted half a megabyte:
# without this, whoever asks such queries would have the process grow as far as it can.
MOST_BYTES = 8 * 1024 * 1024
# Plans of one shape that differ by what a literal decides, such as whether a text is long enough
# for the index.
_MOST_VARIANTS = 8
# Of a plan itself and of the shape that it is kept under.
_BYTES = 4000

PlanKind = Literal["collection", "whole", "entity", "value", "raw", "number", "media"]
NOT_JSON = frozenset(("raw", "number", "media"))


@dataclass(frozen=True, slots=True)
class Plan:
    """How to answer.

    Rows of ``main``: the JSON, the number of all rows if ``has_total``, the row version if
    ``has_etag``, and the sort keys of a page that another may follow, in the form of a token, which
    ``keys`` read. The one row of a ``whole`` collection, which fits into one page: the JSON of all
    its rows, then their number. Where nothing tells each row from all others, a page is continued
    ``by_position``: in place of the keys stands the number of rows before the page.
    ``context`` is the context URL after ``$metadata``; ``{path}`` is the path of the request,
    ``{home}`` the last value of the row: the canonical URL of the entity that has the property, or
    of the collection that has the contained entity. A contained collection that is reached by a
    longer way than its URL has it from ``home``. ``parent`` tells whether what the path goes
    through is there; ``total`` counts when a page is empty. ``skip`` is the slot of a ``$skip``
    that a page with a token has behind it. ``by_tag`` says whether the row version alone tells that
    a client has the answer already: not where other rows are shown inside, nor where the row is
    what another row refers to.
    The row of ``media`` is the key of an entity of ``set_name`` whose bytes are asked for, or those
    of its property ``stream``. ``raw_type`` is the media type of a ``raw`` value that is bytes;
    ``raw_geo`` tells of one that is a shape. ``expanded`` are the options of each collection that
    an entity has in it, see expansion_links.py; ``fan`` counts those that are deep inside.
    ``value_type`` is the member that tells the type of a ``value``, with a comma behind it; empty
    where none is told.
    """

    kind: PlanKind
    main: Statement
    context: str = ""
    has_total: bool = False
    has_etag: bool = False
    by_tag: bool = False
    keys: Sequence[Callable[[Any], Any]] = ()
    by_position: bool = False
    top: Top | None = None
    total: Statement | None = None
    parent: Statement | None = None
    home: Statement | None = None
    skip: int | None = None
    set_name: str | None = None
    stream: str | None = None
    raw_type: str | None = None
    raw_geo: bool = False
    value_type: str = ""
    expanded: Sequence[QueryOptions] = ()
    fan: Fan | None = None
    guards: Sequence[Guard] = field(default_factory=tuple)

    def fits(self, literals: Sequence[LiteralValue]) -> bool:
        """Whether the plan, made for another query of the same shape, serves these literals."""
        return all(guard.fits(literals) for guard in self.guards)

    @property
    def estimated_bytes(self) -> int:
        """Roughly the bytes that keeping it takes."""
        return _BYTES + sum(statement.estimated_bytes for statement in self._statements())

    def _statements(self) -> list[Statement]:
        fan = None if self.fan is None else self.fan.count
        every = (self.main, self.total, self.parent, self.home, fan)
        return [statement for statement in every if statement is not None]

    def slots(self) -> set[int]:
        """The literals that are filled in when the plan runs; all others are part of its form."""
        slots = {slot for statement in self._statements() for slot in statement.slots}
        others = [self.skip, None if self.top is None else self.top.slot]
        if self.fan is not None:
            others += [None if top is None else top.slot for way in self.fan.paths for top in way]
        return slots.union(slot for slot in others if slot is not None)


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
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._plans)

    def shapes(self) -> list[Hashable]:
        """What plans are kept under, the least recently used first."""
        return list(self._plans)

    def plans(self, key: Hashable) -> tuple[Plan, ...]:
        """The plans of one shape."""
        return self._plans.get(key, ())

    def find(self, key: Hashable, literals: Sequence[LiteralValue]) -> Plan | None:
        """The plan under ``key`` that fits the literals; None when there is none yet."""
        for plan in self._plans.get(key, ()):
            if plan.fits(literals):
                with suppress(KeyError):  # dropped by another thread meanwhile
                    self._plans.move_to_end(key)
                return plan
        return None

    def count(self, *, hit: bool) -> None:
        """Note whether a request found its plan."""
        if hit:
            self.hits += 1
        else:
            self.misses += 1

    def keep(self, key: Hashable, plan: Plan) -> None:
        """Add a plan beside those of its shape."""
        with self._lock:
            before = self._plans.pop(key, ())
            variants = self._plans[key] = (plan, *before)[:_MOST_VARIANTS]
            self.estimated_bytes += _estimated_bytes(variants) - _estimated_bytes(before)
            while len(self._plans) > self._most or self.estimated_bytes > self._most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self.estimated_bytes -= _estimated_bytes(dropped)


def _estimated_bytes(plans: Sequence[Plan]) -> int:
    return sum(plan.estimated_bytes for plan in plans)
