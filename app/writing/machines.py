"""State machines as data: which state may follow which, who may do it, and by which operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

PATCH = "PATCH"


@dataclass(frozen=True, kw_only=True)
class Transition:
    """Steps from any of ``sources`` to ``target``.

    ``permission`` is needed besides the right to change the record, ``everywhere`` says that it
    must be held for all records and not only for own ones; ``by`` names the operations that do
    it, PATCH among them when a change of the attribute does. ``type``: only records of this type
    take it. What else a step asks for and brings along is in the service (``enter``).
    """

    sources: tuple[str, ...]
    target: str
    permission: str | None = None
    everywhere: bool = False
    by: tuple[str, ...] = (PATCH,)
    type: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class StateMachine:
    """The states of an entity: ``attribute`` holds the current one, ``initial`` are the first."""

    entity: str
    attribute: str
    initial: tuple[str, ...]
    transitions: tuple[Transition, ...]

    @cached_property
    def steps(self) -> Mapping[tuple[str, str], tuple[Transition, ...]]:
        """(from, to) -> transitions, one for each way that needs another right."""
        transitions: dict[tuple[str, str], tuple[Transition, ...]] = {}
        for transition in self.transitions:
            for source in transition.sources:
                pair = (source, transition.target)
                transitions[pair] = (*transitions.get(pair, ()), transition)
        return transitions

    def targets(self, state: str, *operations: str) -> tuple[str, ...]:
        """What may follow ``state`` by one of ``operations``, in the order of the declaration."""
        return tuple(
            target
            for source, target in self.steps
            if source == state and any(self.find(state, target, by) for by in operations)
        )

    def find(self, state: str, target: str, by: str = PATCH) -> Transition | None:
        """The transition from ``state`` to ``target`` by this operation, if there is one."""
        transitions = self.steps.get((state, target), ())
        return next((transition for transition in transitions if by in transition.by), None)

    def operations(self, state: str, target: str) -> tuple[str, ...]:
        """The operations other than PATCH that lead from ``state`` to ``target``."""
        transitions = self.steps.get((state, target), ())
        names = (name for transition in transitions for name in transition.by if name != PATCH)
        return tuple(dict.fromkeys(names))
