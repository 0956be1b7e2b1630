"""A plan: the statements of a query, made once for all queries of its shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.odata.binding.parameters import Guard
from app.odata.reading.fan_out import Fan
from app.odata.reading.statement import Statement, Top
from app.odata.syntax.nodes import LiteralValue
from app.odata.syntax.option_nodes import QueryOptions

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
            others += [None if top is None else top.slot for way in self.fan.ways for top in way]
        return slots.union(slot for slot in others if slot is not None)
