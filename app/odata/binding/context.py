"""What is the same all through one query: who asks, its parameters, and what it may become.

A plan is made once for all queries of one shape, so a literal becomes a parameter that is filled
from its slot. Where its value decides the form of the plan, the decision is kept as a guard.

The parser limits the text of each option. A name that is used twice is two expressions in SQL, and
a name of such a name four; so what is made of the names is counted too, before any of it is
written (docs/adr/0019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, bindparam
from sqlalchemy.types import TypeEngine

from app.http.security import Caller
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.sql.dialect_sql import estimated_size
from app.odata.syntax.lexer import DEFAULT_LIMITS
from app.odata.syntax.nodes import Literal, LiteralValue, Node, QueryOptions

# A part of the text is several of the SQL: a decimal column in a sum is eight on SQLite.
_PARTS_OF_ONE = 4
# Two levels of everything that is related to any entity of the business.
_EXPANSIONS = 100


@dataclass
class Budget:
    """The parts that one query may still have; ``nodes`` is the limit for the text of an option.

    One expression may weigh four times as much, and all uses of names together eight times;
    ``expansions`` is the number of navigation properties that may still be expanded.
    """

    nodes: int = DEFAULT_LIMITS.nodes
    expansions: int = _EXPANSIONS
    _named: int = 0
    _visited: int = 0

    def check(self, sql: ColumnElement[object], offset: int) -> None:
        """Raise QueryError if an expression is too great with its names written out."""
        if estimated_size(sql) > _PARTS_OF_ONE * self.nodes:
            raise self._refusal(_PARTS_OF_ONE, offset)

    def use(self, parts: int, offset: int) -> None:
        """Count what a name stands for where it is used.

        Raises: QueryError, the names of the query stand for too much.
        """
        self._named += parts
        if self._named > 2 * _PARTS_OF_ONE * self.nodes:
            raise self._refusal(2 * _PARTS_OF_ONE, offset)

    def visit(self, offset: int) -> None:
        """Count a look at a node, some of which are looked at more than once."""
        self._visited += 1
        if self._visited > 20 * self.nodes:
            raise self._refusal(20, offset)

    def expand(self, offset: int) -> None:
        """Count a navigation property that is expanded; ``*`` stands for many of them."""
        self.expansions -= 1
        if self.expansions < 0:
            raise self.too_wide(offset)

    def too_wide(self, offset: int) -> QueryError:
        return QueryError(
            f"a query expands at most {_EXPANSIONS} navigation properties, those that '*' stands"
            " for included",
            offset,
        )

    def _refusal(self, times: int, offset: int) -> QueryError:
        most = times * self.nodes
        return QueryError(
            f"with every name written out the expression has more than {most} parts", offset
        )


Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Source:
    """The value of a parameter: that of ``slot``, converted; see ``Literal.slot``."""

    slot: int
    convert: Convert | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """What must hold of the value in ``slot`` for the plan to fit."""

    slot: int
    holds: Callable[[Any], bool]
    outcome: bool

    def fits(self, literals: Sequence[LiteralValue]) -> bool:
        return self.holds(literals[self.slot]) == self.outcome


@dataclass
class Parameters:
    sources: dict[str, Source] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    _bound_count: int = 0

    def bind(
        self, literal: Literal, type_: TypeEngine[Any] | type[TypeEngine[Any]],
        convert: Convert | None = None,
    ) -> BindParameter[Any]:  # fmt: skip
        """A parameter for the value of ``literal``.

        Args:
            convert: makes of the literal's value what ``type_`` takes; it runs for every query of
                the shape, and may refuse a value with a QueryError.
        """
        name = f"p{self._bound_count}"
        self._bound_count += 1
        value = literal.value if convert is None else _converted(literal, convert)
        if literal.slot is not None:
            self.sources[name] = Source(literal.slot, convert)
        return bindparam(name, value, type_=type_)

    def decide(self, literal: Literal, holds: Callable[[Any], bool]) -> bool:
        """Whether ``holds`` of the literal's value; the plan then serves only those of its kind."""
        outcome = holds(literal.value)
        if literal.slot is not None:
            self.guards.append(Guard(literal.slot, holds, outcome))
        return outcome


def _converted(literal: Literal, convert: Convert) -> Any:
    try:
        return convert(literal.value)
    except QueryError as error:
        if error.offset is None:
            error.offset = literal.offset
        raise


@dataclass
class Context:
    """Who asks, with which model, parameters and limits; what was found out on the way."""

    container: edm.EntityContainer
    caller: Caller
    parameters: Parameters = field(default_factory=Parameters)
    aliases: Mapping[str, Node] = field(default_factory=dict)
    # Whether rows are found by the trigram index, so in no order of use.
    unordered: bool = False
    # Whether rows are multiplied, by ``$crossjoin`` or ``join``: so many get less time.
    multiplied: bool = False
    budget: Budget = field(default_factory=Budget)
    # The options of each expanded collection, for a link to what it does not show.
    expanded: list[QueryOptions] = field(default_factory=list)
    _opened: int = 0

    def next_name(self) -> str:
        """A name for one more alias of a table."""
        self._opened += 1
        return f"t{self._opened - 1}"

    @contextmanager
    def naming(self, aliases: Mapping[str, Node]) -> Iterator[None]:
        """Within it, aliases that stand beside the options of one item count before the others."""
        before = self.aliases
        self.aliases = {**before, **aliases}
        try:
            yield
        finally:
            self.aliases = before

    def may_read(self, type_: edm.EntityType) -> bool:
        return type_.resource is None or f"{type_.resource}:read" in self.caller.rights
