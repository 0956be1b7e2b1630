"""``allowedActions``: what the caller may do with a record as it stands (docs/adr/0049).

It is made by the database from the tables that a request is checked by: the state machines, for
what a PATCH may do, and the operations (app/writing/operations.py). What depends on more than the
record's own row (a client with invoices, a task still open) is not looked at: the action itself
says why it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, case, or_

from app.container.declared import DECLARED
from app.db.late_values import dynamic
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Template
from app.permissions import ALL, OWN, OWNING_COLUMNS
from app.writing.machines import PATCH, StateMachine
from app.writing.operations import Condition, conditions_of
from app.writing.transitions import MACHINES


@dataclass(frozen=True, slots=True)
class Action:
    """``name`` as the API shows it; possible in ``states`` (None: in all) with all ``rights``.

    ``everywhere``: with the right for all records, and not only for own ones. ``condition`` is what
    the row must fulfil besides.
    """

    name: str
    rights: tuple[str, ...]
    states: tuple[str, ...] | None = None
    everywhere: bool = False
    type: str | None = None
    condition: Condition | None = None


def allowed_actions(entity: str, resource: str) -> edm.Property:
    """The property of an entity type; left out unless ``$select`` names it."""
    actions = tuple(actions_of(entity, resource))
    state = _state_of(entity)

    def expression(columns: Any, rights: Mapping[str, str]) -> ColumnElement[Any]:
        names = [
            case((condition, f',"{action.name}"'), else_="")
            for action in actions
            if (condition := _condition(action, columns, rights, state)) is not None
        ]
        joined = "substr({0}, 2)" if names else "''"
        array = f"'[' || {joined} || ']'"
        return DialectSql(Text(), f"({array})", f"CAST({array} AS JSON)", Template(names))

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
    """The actions on records of an entity: operations, and steps to a state."""
    machine = MACHINES.get(entity)
    if machine is not None:
        yield from _steps(machine, resource)
    declared = {
        operation.action: operation.permissions
        for operation in DECLARED
        if operation.bound_to == entity and operation.action is not None
    }
    listed = conditions_of(entity, resource)
    for condition in listed:
        rights = condition.rights or declared[condition.name]
        yield Action(
            condition.name, rights, condition.states, type=condition.record_type,
            condition=condition,
        )  # fmt: skip
    conditional = {condition.name for condition in listed}
    for name, rights in declared.items():
        if name not in conditional:
            yield Action(name, rights)


def availability(
    type_: edm.EntityType, name: str
) -> Callable[[Any, Mapping[str, str]], ColumnElement[bool] | None]:
    """When an operation is possible: what ``allowedActions`` says of it."""
    assert type_.resource is not None
    actions = [each for each in actions_of(type_.name, type_.resource) if each.name == name]
    state = _state_of(type_.name)

    def available(columns: Any, rights: Mapping[str, str]) -> ColumnElement[bool] | None:
        conditions = [_condition(action, columns, rights, state) for action in actions]
        possible = [condition for condition in conditions if condition is not None]
        return or_(*possible) if possible else None

    return available


def _state_of(entity: str) -> str:
    machine = MACHINES.get(entity)
    return "status" if machine is None else machine.attribute


def _steps(machine: StateMachine, resource: str) -> Iterator[Action]:
    """The values that a PATCH may set the state to."""
    actions: dict[str, Action] = {}
    for step in machine.transitions:
        if PATCH not in step.by:
            continue
        name = f"{machine.attribute}:{step.target}"
        own = () if step.permission is None else (step.permission,)
        action = Action(
            name, (f"{resource}:update", *own), step.sources, step.everywhere, step.type
        )
        known = actions.get(name, action)
        states = dict.fromkeys((*(known.states or ()), *step.sources))
        actions[name] = replace(known, states=tuple(states))
    yield from actions.values()


def _condition(
    action: Action, columns: Any, rights: Mapping[str, str], state: str
) -> ColumnElement[bool] | None:
    """When the action is possible; None where the caller may never do it."""
    conditions: list[ColumnElement[bool]] = []
    if action.states is not None:
        conditions.append(columns[state].in_(action.states))
    if action.type is not None:
        conditions.append(columns["type"] == action.type)
    if action.condition is not None:
        conditions.extend(_amounts_and_dates(action.condition, columns))
    for right in action.rights:
        scope = rights.get(right)
        if scope == OWN and not action.everywhere:
            owning = [columns[name] for name in OWNING_COLUMNS if name in columns]
            conditions.append(or_(*(column == dynamic("caller_id") for column in owning)))
        elif scope != ALL:
            return None
    return and_(columns.id.is_not(None), *conditions)


def _amounts_and_dates(condition: Condition, columns: Any) -> Iterator[ColumnElement[bool]]:
    """What ``require_operation`` asks of the row besides its state and type."""
    for name in condition.zero:
        yield columns[name] == 0
    for name in condition.positive:
        yield columns[name] > 0
    for name in condition.ended:
        yield or_(columns[name].is_(None), columns[name] < dynamic("today"))
