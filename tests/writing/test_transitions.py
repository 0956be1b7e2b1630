"""Every pair of states: what contract section 10 lists works, everything else is a conflict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from app.clock import utc_now
from app.errors import ForbiddenError, InvalidStateError
from app.http.security import Caller, acting_as
from app.writing.states import require_step
from app.writing.transitions import MACHINES, StateMachine
from tests.factories import (
    MAKERS,
    event_names,
    make_issued_invoice,
    make_user,
    put,
    stored,
    update,
)

# Contract section 10 as a person reads it: state -> what a change of the attribute may lead to.
BY_PATCH: Mapping[str, Mapping[str, set[str]]] = {
    "Lead": {
        "New": {"Contacted", "Nurturing", "Qualified", "Disqualified"},
        "Contacted": {"New", "Nurturing", "Qualified", "Disqualified"},
        "Nurturing": {"New", "Contacted", "Qualified", "Disqualified"},
        "Qualified": {"New", "Contacted", "Nurturing", "Disqualified"},
        "Disqualified": {"New"},
        "Converted": set(),
    },
    "Opportunity": {
        "Prospecting": {"Qualification", "Proposal", "Negotiation", "ClosedWon", "ClosedLost"},
        "Qualification": {"Prospecting", "Proposal", "Negotiation", "ClosedWon", "ClosedLost"},
        "Proposal": {"Prospecting", "Qualification", "Negotiation", "ClosedWon", "ClosedLost"},
        "Negotiation": {"Prospecting", "Qualification", "Proposal", "ClosedWon", "ClosedLost"},
        "ClosedWon": {"Prospecting", "Qualification", "Proposal", "Negotiation"},
        "ClosedLost": {"Prospecting", "Qualification", "Proposal", "Negotiation"},
    },
    "Ticket": {
        "New": {"Open", "Pending", "OnHold", "Solved"},
        "Open": {"Pending", "OnHold", "Solved"},
        "Pending": {"Open"},
        "OnHold": {"Open"},
        "Solved": {"Open", "Closed"},
        "Closed": set(),
    },
    "Invoice": {
        "Draft": {"Sent"},
        "Sent": {"Uncollectible"},
        "PartiallyPaid": {"Uncollectible"},
        "Paid": set(),
        "Void": set(),
        "Uncollectible": set(),
    },
    "Task": {
        "Todo": {"InProgress", "Done", "Canceled"},
        "InProgress": {"Todo", "Blocked", "Done", "Canceled"},
        "Blocked": {"InProgress", "Done", "Canceled"},
        "Done": {"Todo", "InProgress", "Canceled"},
        "Canceled": {"Todo", "InProgress", "Done"},
    },
    "Project": {
        "Planned": {"Active", "Canceled"},
        "Active": {"OnHold", "Completed", "Canceled"},
        "OnHold": {"Active", "Canceled"},
        "Completed": {"Active"},
        "Canceled": set(),
    },
    "Document": {
        "Pending": set(),
        "Active": {"Archived"},
        "Archived": {"Active"},
        "Quarantined": {"Active"},
    },
    "KbArticle": {
        "Draft": {"InReview", "Published"},
        "InReview": {"Draft", "Published"},
        "Published": {"Draft", "Archived"},
        "Archived": {"Draft"},
    },
}
ALSO_STATES = {"Document": ("Deleted",)}
# What a step asks for besides, so that only the step itself is in question.
COMPANIONS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("Lead", "Disqualified"): {"disqualify_reason": "NoFit"},
    ("Opportunity", "ClosedLost"): {"lost_reason": "Price"},
}
PAIRS = [
    (entity, source, target)
    for entity, steps in BY_PATCH.items()
    for source in steps
    for target in (*steps, *ALSO_STATES.get(entity, ()))
    if source != target
]


def pair_id(value: tuple[str, str, str]) -> str:
    return f"{value[0]}: {value[1]} to {value[2]}"


def in_state(entity: str, state: str) -> int:
    """A record in a state, without the way to it."""
    is_issued = entity == "Invoice" and state != "Draft"
    key = make_issued_invoice() if is_issued else MAKERS[entity]()
    values: dict[str, Any] = {MACHINES[entity].attribute: state}
    if entity == "Lead" and state == "Disqualified":
        values["disqualify_reason"] = "Junk"
    if entity == "Opportunity" and state == "ClosedLost":
        values["lost_reason"] = "Price"
    if entity == "Ticket":
        values["assignee_id"] = None if state == "New" else stored(entity, key)["owner_id"]
        values["sla_paused_at"] = utc_now() if state in ("Pending", "OnHold") else None
        values["solved_at"] = utc_now() if state == "Solved" else None
    put(entity, key, **values)
    return key


def step(entity: str, source: str, target: str) -> int:
    """Try a step by a change of the attribute."""
    key = in_state(entity, source)
    companions = dict(COMPANIONS.get((entity, target), {}))
    if entity == "Ticket" and source == "New" and target in ("Open", "Solved"):
        companions["assignee_id"] = stored(entity, key)["owner_id"]
    update(entity, key, **{MACHINES[entity].attribute: target}, **companions)
    return key


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[2] in BY_PATCH[p[0]][p[1]]], ids=pair_id)
def test_a_listed_step_is_taken(admin: Caller, pair: tuple[str, str, str]) -> None:
    entity, source, target = pair
    key = step(entity, source, target)
    assert stored(entity, key)[MACHINES[entity].attribute] == target
    assert any(name.endswith((".updated", ".sent")) for name in event_names(entity, key))


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[2] not in BY_PATCH[p[0]][p[1]]],
                         ids=pair_id)  # fmt: skip
def test_any_other_step_is_a_conflict(admin: Caller, pair: tuple[str, str, str]) -> None:
    entity, source, target = pair
    with pytest.raises(InvalidStateError) as refused:
        step(entity, source, target)
    assert source in refused.value.message
    for possible in BY_PATCH[entity][source]:
        assert possible in refused.value.message
    assert refused.value.details


@pytest.mark.parametrize("machine", MACHINES.values(), ids=lambda machine: machine.entity)
def test_every_state_of_the_model_is_in_the_machine(machine: StateMachine) -> None:
    named = {state for pair in machine.steps for state in pair} | set(machine.initial)
    assert named == {*BY_PATCH[machine.entity], *ALSO_STATES.get(machine.entity, ())}


@pytest.mark.parametrize(
    ("entity", "state"),
    [("Lead", "Converted"), ("Lead", "Disqualified"), ("Invoice", "Sent"), ("Invoice", "Paid"),
     ("Document", "Active"), ("Ticket", "Closed"), ("Project", "Completed"),
     ("KbArticle", "Archived")],
)  # fmt: skip
def test_a_record_begins_in_a_first_state(admin: Caller, entity: str, state: str) -> None:
    with pytest.raises(InvalidStateError, match="cannot begin"):
        MAKERS[entity](status=state, **COMPANIONS.get((entity, state), {}))


@pytest.mark.parametrize(
    ("role", "entity", "source", "target"),
    [
        ("Sales", "Opportunity", "ClosedWon", "Proposal"),
        ("Support", "Ticket", "Solved", "Closed"),
        ("Support", "KbArticle", "Draft", "Published"),
        ("Support", "KbArticle", "InReview", "Draft"),
        ("Manager", "Document", "Quarantined", "Active"),
        ("Manager", "Invoice", "Sent", "Uncollectible"),
    ],
)
def test_some_steps_need_a_right_of_their_own(
    admin: Caller, role: str, entity: str, source: str, target: str
) -> None:
    key = in_state(entity, source)
    person = make_user(role)
    put(entity, key, owner_id=person.user_id)
    with acting_as(person), pytest.raises(ForbiddenError) as refused:
        update(entity, key, **{MACHINES[entity].attribute: target})
    assert refused.value.details[0].field == "permission"


# What operations other than a change of the attribute do, from which states (contract section 10).
BY_OPERATION: Mapping[tuple[str, str], Mapping[str, set[str]]] = {
    ("Lead", "convert"): {
        "Converted": {"New", "Contacted", "Nurturing", "Qualified"},
    },
    ("Ticket", "comment"): {"Open": {"New", "Pending", "OnHold", "Solved"}},
    ("Ticket", "merge"): {"Closed": {"New", "Open", "Pending", "OnHold", "Solved"}},
    ("Invoice", "send"): {"Sent": {"Draft"}},
    ("Invoice", "payment"): {
        "Sent": {"Draft"},
        "PartiallyPaid": {"Sent", "Uncollectible", "Paid"},
        "Paid": {"Draft", "Sent", "PartiallyPaid", "Uncollectible"},
    },
    ("Invoice", "reversal"): {
        "Sent": {"Paid", "PartiallyPaid"},
        "PartiallyPaid": {"Sent", "Uncollectible", "Paid"},
    },
    ("Invoice", "void"): {"Void": {"Sent", "Uncollectible"}},
    ("Invoice", "uncollectible"): {"Uncollectible": {"Sent", "PartiallyPaid"}},
    ("Document", "upload"): {"Active": {"Pending"}},
    ("Document", "scan"): {"Quarantined": {"Active"}},
    ("Document", "DELETE"): {"Deleted": {"Pending", "Active", "Archived", "Quarantined"}},
}


@pytest.mark.parametrize(("entity", "operation"), BY_OPERATION, ids=lambda value: str(value))
def test_an_operation_leads_from_the_listed_states_and_from_no_others(
    entity: str, operation: str
) -> None:
    machine = MACHINES[entity]
    states = {state for pair in machine.steps for state in pair}
    for target in states:
        listed = BY_OPERATION[entity, operation].get(target, set())
        sources = {source for source in states if machine.find(source, target, operation)}
        assert sources == listed, target


@pytest.mark.parametrize("entity", ["Lead", "Ticket"])
def test_a_step_that_only_an_operation_takes_names_it(admin: Caller, entity: str) -> None:
    source, target, operation = {
        "Lead": ("New", "Converted", "convert"), "Ticket": ("Open", "Closed", "merge"),
    }[entity]  # fmt: skip
    with pytest.raises(InvalidStateError, match=f"Only the operation {operation} leads to"):
        step(entity, source, target)


@pytest.mark.parametrize(
    ("entity", "source", "target", "operation", "possible"),
    [
        ("Lead", "Disqualified", "Converted", "convert", "New"),
        ("Invoice", "PartiallyPaid", "Void", "void", "Uncollectible"),
        ("Invoice", "Sent", "Draft", "void", "Void, Uncollectible"),
        ("Invoice", "Void", "Uncollectible", "uncollectible", "none"),
    ],
)
def test_what_an_operation_refuses_names_what_may_follow(
    entity: str, source: str, target: str, operation: str, possible: str
) -> None:
    with pytest.raises(InvalidStateError) as refused:
        require_step(MACHINES[entity], entity.lower(), source, target, operation)
    assert refused.value.message.endswith(f"allowed from here: {possible}.")
