"""Stepping through a state machine: is the step listed, and may the caller take it?"""

from __future__ import annotations

from app.errors import ForbiddenError, InvalidStateError
from app.http.security import Caller
from app.models.columns import Entity
from app.permissions import ALL, require, scope_of
from app.writing.change import Change
from app.writing.transitions import PATCH, StateMachine, Transition


def require_state(machine: StateMachine, change: Change[Entity]) -> None:
    """Check the step that ``change`` takes by changing the attribute of the state.

    Raises: InvalidStateError, the step is not listed; ForbiddenError, it needs a right.
    """
    target = change.values[machine.attribute]
    if change.before is None:
        transition = _begin(machine, change, target)
    else:
        source = change.was(machine.attribute)
        transition = require_step(machine, change.rules.title, source, target, PATCH)
    if transition is not None:
        require_right(transition, change.caller, change.before)


def require_step(
    machine: StateMachine, title: str, source: str, target: str, by: str
) -> Transition:
    """The listed step from ``source`` to ``target``.

    Raises: InvalidStateError, naming the current state and what may follow it.
    """
    transition = machine.find(source, target, by)
    if transition is not None:
        return transition
    possible = ", ".join(machine.targets(source, PATCH, by)) or "none"
    message = (
        f"{_article(title)} {title} in state {source} cannot become {target};"
        f" allowed from here: {possible}."
    )
    if operations := machine.operations(source, target):
        message += f" Only the operation {' or '.join(operations)} leads to {target}."
    raise InvalidStateError(message, [(machine.attribute, f"is {source}")])


def _begin(machine: StateMachine, change: Change[Entity], target: str) -> Transition | None:
    """A record begins in a first state; the right for a step from there holds here too."""
    if target not in machine.initial:
        title = change.rules.title
        raise InvalidStateError(
            f"{_article(title)} {title} cannot begin as {target};"
            f" allowed: {', '.join(machine.initial)}.",
            [(machine.attribute, f"must be one of {', '.join(machine.initial)}")],
        )
    return machine.find(machine.initial[0], target)


def require_right(transition: Transition, caller: Caller, record: Entity | None) -> None:
    """Check the right that a step needs besides the one to change the record.

    Raises: ForbiddenError.
    """
    permission = transition.permission
    if permission is None:
        return
    require(caller, permission, record)
    if transition.everywhere and scope_of(caller, permission) != ALL:
        raise ForbiddenError(
            f"Your role has {permission} for your own records only.", [("permission", permission)]
        )


def _article(title: str) -> str:
    return "An" if title[0] in "aeiou" else "A"
