"""The parameters of a plan: where each value comes from when the plan is run.

A plan is made once for all queries of one shape, so a literal becomes a parameter that is filled
from its slot. Where its value decides the form of the plan, the decision is kept as a guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, bindparam
from sqlalchemy.types import TypeEngine

from app.odata.errors import QueryError
from app.odata.syntax.nodes import Literal, LiteralValue

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
    """What binding a query collects about its parameters."""

    sources: dict[str, Source] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    _made: int = 0

    def bind(
        self, literal: Literal, type_: TypeEngine[Any] | type[TypeEngine[Any]],
        convert: Convert | None = None,
    ) -> BindParameter[Any]:  # fmt: skip
        """A parameter for the value of ``literal``.

        Args:
            convert: makes of the literal's value what ``type_`` takes; it runs for every query of
                the shape, and may refuse a value with a QueryError.
        """
        name = f"p{self._made}"
        self._made += 1
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
