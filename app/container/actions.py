"""``allowedActions``: what the caller may do with a record as it stands (docs/adr/0013).

It is made by the database from the state machines and the rights that a request is checked by.
What depends on more than the record's own row (a client with invoices, a task still open) is not
looked at: the action itself says why it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, case, or_

from app.dynamic import dynamic
from app.odata import edm
from app.odata.sql.spelled import Template, spell
from app.permissions import ALL, OWN, OWNING_COLUMNS
from app.writing.machines import PATCH, StateMachine, Transition
from app.writing.transitions import CLOCK, MACHINES

# The right that an operation needs where its transition names none.
_RIGHTS = {
    "payment": "payments:create",
    "credit": "invoices:credit",
    "reversal": "payments:reverse",
    "comment": "tickets:update",
    "upload": "documents:update",
}
# Where the machine lists an operation for more states than it can be begun in.
_BEGUN_IN = {
    "payment": ("Draft", "Sent", "PartiallyPaid", "Uncollectible"),
    "reversal": ("Paid", "PartiallyPaid"),
    "credit": ("Sent", "PartiallyPaid", "Paid", "Uncollectible"),
}
# States in which a record can no longer be deleted, or the only ones in which it can.
_NOT_DELETED = {"Lead": ("Converted",)}
_ONLY_DELETED = {"Invoice": ("Draft",)}


@dataclass(frozen=True, slots=True)
class Action:
    """``name`` as the API shows it; possible in ``states`` (None: in all) with all ``rights``.

    ``type``: only for records of this type.
    """

    name: str
    rights: tuple[str, ...]
    states: tuple[str, ...] | None = None
    everywhere: bool = False
    type: str | None = None


def allowed_actions(entity: str, resource: str) -> edm.Property:
    """The property of an entity type; left out unless ``$select`` names it."""
    actions = tuple(actions_of(entity, resource))
    machine = MACHINES.get(entity)
    state = None if machine is None else machine.attribute

    def expression(columns: Any, rights: Mapping[str, str]) -> ColumnElement[Any]:
        shown = [
            case((condition, f',"{action.name}"'), else_="")
            for action in actions
            if (condition := _condition(action, columns, rights, state)) is not None
        ]
        if not shown:
            return spell(Text, "'[]'")
        return spell(Text, "('[' || substr({0}, 2) || ']')", Template(shown))

    return edm.Property(
        name="allowedActions",
        type=edm.CollectionType(edm.STRING),
        attribute="allowed_actions",
        expression=expression,
        nullable=False,
        computed=True,
        on_request=True,
        description="What you may do with the record as it is; shown when selected.",
    )


def actions_of(entity: str, resource: str) -> Iterator[Action]:
    """The actions on records of an entity: change, delete, steps to a state, operations."""
    yield Action("update", (f"{resource}:update",))
    machine = MACHINES.get(entity)
    yield Action("delete", (f"{resource}:delete",), _deletable(entity, machine))
    if machine is None:
        return
    found: dict[str, Action] = {}
    for transition in machine.transitions:
        for operation in transition.by:
            action = _action(machine, resource, transition, operation)
            if action is not None:
                known = found.get(action.name, action)
                states = dict.fromkeys((*(known.states or ()), *(action.states or ())))
                found[action.name] = replace(known, states=tuple(states))
    yield from found.values()


def availability(
    entity: str, resource: str, name: str
) -> Callable[[Any, Mapping[str, str]], ColumnElement[bool] | None]:
    """When an operation is possible: what ``allowedActions`` says of it."""
    (action,) = (one for one in actions_of(entity, resource) if one.name == name)
    state = MACHINES[entity].attribute
    return lambda columns, rights: _condition(action, columns, rights, state)


def _action(
    machine: StateMachine, resource: str, transition: Transition, operation: str
) -> Action | None:
    if operation in ("DELETE", "scan", "restore", CLOCK):
        return None  # deletion has its own entry; the others are not done to a record one sees
    own = () if transition.permission is None else (transition.permission,)
    if operation == PATCH:
        name, rights = f"{machine.attribute}:{transition.target}", (f"{resource}:update", *own)
    else:
        name, rights = operation, (_RIGHTS[operation],) if operation in _RIGHTS else own
    begun_in = _BEGUN_IN.get(operation, transition.sources)
    states = tuple(state for state in transition.sources if state in begun_in)
    return Action(name, rights, states, transition.everywhere, transition.type)


def _deletable(entity: str, machine: StateMachine | None) -> tuple[str, ...] | None:
    if entity in _ONLY_DELETED:
        return _ONLY_DELETED[entity]
    if entity not in _NOT_DELETED or machine is None:
        return None
    states = dict.fromkeys(
        state for one in machine.transitions for state in (*one.sources, one.target)
    )
    return tuple(state for state in states if state not in _NOT_DELETED[entity])


def _condition(
    action: Action, columns: Any, rights: Mapping[str, str], state: str | None
) -> ColumnElement[bool] | None:
    """When the action is possible; None where the caller may never do it."""
    conditions: list[ColumnElement[bool]] = []
    if action.states is not None and state is not None:
        conditions.append(columns[state].in_(action.states))
    if action.type is not None:
        conditions.append(columns["type"] == action.type)
    for right in action.rights:
        scope = rights.get(right)
        if scope == OWN and not action.everywhere:
            owning = [columns[name] for name in OWNING_COLUMNS if name in columns]
            conditions.append(or_(*(column == dynamic("caller_id") for column in owning)))
        elif scope != ALL:
            return None
    return and_(columns.id.is_not(None), *conditions)
