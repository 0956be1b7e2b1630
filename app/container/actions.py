"""``allowedActions``: what the caller may do with a record as it stands (docs/adr/0049).

It is made by the database from the tables that a request is checked by: the state machines, for
what a PATCH may do, and the operations (app/writing/operations.py). What depends on more than the
record's own row (a client with invoices, a task still open) is not looked at: the action itself
says why it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, case, or_

from app.container.declared import DECLARED
from app.db.late_values import dynamic
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Template
from app.permissions import ALL, OWN, OWNING_COLUMNS
from app.writing.operations import Condition, conditions_of
from app.writing.transitions import MACHINES, PATCH, StateMachine


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


def actions_of(entity: str, resource: str) -> Iterator[Condition]:
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
    for action in listed:
        yield replace(action, rights=action.rights or declared[action.name])
    conditional = {action.name for action in listed}
    for name, rights in declared.items():
        if name not in conditional:
            yield Condition(name=name, rights=rights)


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


def _steps(machine: StateMachine, resource: str) -> Iterator[Condition]:
    """The values that a PATCH may set the state to."""
    actions: dict[str, Condition] = {}
    for step in machine.transitions:
        if PATCH not in step.by:
            continue
        name = f"{machine.attribute}:{step.target}"
        own = () if step.permission is None else (step.permission,)
        action = Condition(
            name=name, rights=(f"{resource}:update", *own), states=step.sources,
            everywhere=step.everywhere, record_type=step.type,
        )  # fmt: skip
        known = actions.get(name, action)
        states = dict.fromkeys((*(known.states or ()), *step.sources))
        actions[name] = replace(known, states=tuple(states))
    yield from actions.values()


def _condition(
    action: Condition, columns: Any, rights: Mapping[str, str], state: str
) -> ColumnElement[bool] | None:
    """When the action is possible; None where the caller may never do it."""
    conditions: list[ColumnElement[bool]] = []
    if action.states is not None:
        conditions.append(columns[state].in_(action.states))
    if action.record_type is not None:
        conditions.append(columns["type"] == action.record_type)
    conditions.extend(columns[name] == 0 for name in action.zero)
    conditions.extend(columns[name] > 0 for name in action.positive)
    for column in (columns[name] for name in action.ended):
        conditions.append(or_(column.is_(None), column < dynamic("today")))
    for right in action.rights:
        scope = rights.get(right)
        if scope == OWN and not action.everywhere:
            owning = [columns[name] for name in OWNING_COLUMNS if name in columns]
            conditions.append(or_(*(column == dynamic("caller_id") for column in owning)))
        elif scope != ALL:
            return None
    return and_(columns.id.is_not(None), *conditions)
