"""What may be done with a record: the buttons and forms that ``allowedActions`` stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.console import engine
from app.console.language import marked, translated, translated_as
from app.console.numbers import amount_text, number_text, typed_number
from app.console.property_kinds import INPUTS, Field, kind_of, kind_of_value
from app.console.typed import noted_at
from app.console.wording import label, words
from app.container.declared import DECLARED
from app.container.engine import ask
from app.container.model import container
from app.errors import NotFoundError
from app.http.schema_fields import Field as SchemaField
from app.localisation.catalogue import BUTTON
from app.money import digits, written
from app.operations.declaration import Operation
from app.operations.wire_types import edm_type, labels_of, members_of
from app.settings.days import today
from app.writing.fields import Choice

# Entity type, name in allowedActions -> the operation that the page offers for it.
OFFERED: Mapping[tuple[str, str], Operation] = {
    (operation.bound_to, operation.action): operation
    for operation in DECLARED
    if operation.bound_to is not None
    and operation.action is not None
    and operation.button is not None
}


@dataclass(frozen=True)
class StateStep:
    """A step to a state that has a name of its own, and what is asked for with it.

    ``asks`` are properties of the record, and whether each must have a value. ``done`` is what the
    record is then.
    """

    set_name: str
    label: str
    done: str
    asks: Mapping[str, bool]


# Name in allowedActions -> how the step is called wherever it is offered.
STATE_STEPS: Mapping[str, StateStep] = {
    "stage:ClosedWon": StateStep(
        "Opportunities", marked("Mark as won"), marked("Won"), {"amount": True}
    ),
    "stage:ClosedLost": StateStep(
        "Opportunities", marked("Mark as lost"), marked("Lost"),
        {"lostReason": True, "lostNotes": False},
    ),
    "status:Disqualified": StateStep(
        "Leads", marked("Disqualify"), marked("Disqualified"),
        {"disqualifyReason": True, "disqualifyNotes": False},
    ),
}  # fmt: skip
# Steps to a state that have an operation of their own.
_HAVE_OPERATIONS = frozenset(
    operation.button.instead_of for operation in OFFERED.values() if operation.button
)
# Adds what was said to a record; its form is a part of the page.
COMMENT = "comment"


@dataclass(frozen=True)
class Step:
    """A button; ``inputs`` are asked for before it is sent, or on a ``page`` of its own.

    ``amount`` is what it is about, which is said where it is done.
    """

    value: str
    words: str
    inputs: Sequence[Field] = ()
    dangerous: bool = False
    page: str = ""
    amount: str = ""

    @property
    def in_full(self) -> str:
        """``Credit 119.00 EUR``: what is done with how much."""
        return f"{self.words} {self.amount}".strip()

    @property
    def is_state(self) -> bool:
        """Whether it sets a state and asks for nothing: ``status:Qualified``."""
        return ":" in self.value and not self.inputs


def steps_of(
    entity: str, actions: Sequence[str], record: Mapping[str, Any] | None = None
) -> list[Step]:
    """The steps that a record's ``allowedActions`` offer, in that order, deletion last.

    Args:
        entity: its type, ``Client``.
        record: those that are about what is left of an amount are left out where nothing is.
    """
    steps = []
    for name in actions:
        if (entity, name) in OFFERED:
            step = step_of(OFFERED[entity, name], record)
            amounts = [each.filled_by for each in step.inputs if each.filled_by]
            if record is None or all(record.get(amount) for amount in amounts):
                steps.append(step)
        elif name in STATE_STEPS:
            steps.append(Step(name, step_words(name), _state_inputs(STATE_STEPS[name])))
        elif ":" in name and name not in _HAVE_OPERATIONS:
            steps.append(Step(name, step_words(name)))
    if "delete" in actions:
        steps.append(Step("delete", translated("Delete"), dangerous=True))
    return steps


def step_words(name: str) -> str:
    """What a step to a state is called: ``stage:ClosedWon`` -> ``Mark as won``."""
    step = STATE_STEPS.get(name)
    return words(name.partition(":")[2]) if step is None else translated(step.label)


def asked_of_many(name: str) -> list[Field]:
    """What a step to a state asks for where many records take it: what is not of each its own."""
    step = STATE_STEPS.get(name)
    return [] if step is None else [each for each in _state_inputs(step) if not each.filled_by]


def _state_inputs(step: StateStep) -> tuple[Field, ...]:
    properties = container().sets[step.set_name].type.properties
    return tuple(
        Field(
            name,
            label(name),
            INPUTS.get(kind_of(properties[name]), "text"),
            options=[(value, words(value)) for value in ("", *(properties[name].allowed or ()))],
            required=is_required,
            filled_by=name if kind_of(properties[name]) == "amount" else "",
        )
        for name, is_required in step.asks.items()
    )


def step_of(operation: Operation, record: Mapping[str, Any] | None = None) -> Step:
    """The button of an offered operation, and the form of the arguments that it asks for."""
    action, button = operation.action, operation.button
    assert action is not None and button is not None
    fields = {} if operation.arguments is None else members_of(operation.arguments)
    inputs = tuple(_input(name, fields[name], button.fills.get(name, "")) for name in button.asks)
    known = record or {}
    about = known.get(button.about)
    amount = "" if about is None else amount_text(about, known.get("currency"))
    return Step(
        action, translated_as(BUTTON, button.label), inputs, button.is_dangerous, button.page,
        amount,
    )  # fmt: skip


def _input(name: str, field: SchemaField, filled_by: str) -> Field:
    labels = labels_of(field)
    choices = field.allowed if isinstance(field, Choice) else tuple(labels)
    kind = INPUTS.get(kind_of_value(edm_type(name, field), choices), "text")
    return Field(
        name,
        translated(field.metadata.get("label", "")) or label(name),
        "password" if field.metadata.get("format") == "password" else kind,
        value=str(field.metadata.get("preset", "")),
        options=[
            (value, translated(labels[value]) if labels.get(value) else words(value))
            for value in choices
        ],
        required=field.required,
        hint=translated(field.metadata.get("hint", "")),
        filled_by=filled_by,
    )


def take(
    set_name: str,
    key: int,
    step: str,
    version: str | None,
    form: Mapping[str, str],
    besides: Mapping[str, Any] | None = None,
) -> Any:
    """Take a step that is not a deletion; returns what the API answers.

    Args:
        besides: what a step to a state changes along.

    Raises: an ApiError, as the API would answer; NotFoundError, there is no such step.
    """
    path = f"{set_name}({key})"
    attribute, separator, state = step.partition(":")
    if separator:
        inputs = _state_inputs(STATE_STEPS[step]) if step in STATE_STEPS else ()
        values, problems = _typed_arguments(set_name, key, inputs, form)
        body = {attribute: state, **values, **(besides or {})}
        return engine.write("PATCH", path, body, problems, version)
    if step == COMMENT:
        comment = {"body": form.get("body", ""), "isInternal": "isInternal" in form}
        return ask("POST", f"{path}/Comments", body=comment).body
    operation = _offered(set_name, step)
    if operation is not None:
        body, problems = _typed_arguments(set_name, key, step_of(operation).inputs, form)
        action = f"{path}/BusinessPlatform.{operation.name}"
        return engine.write("POST", action, body, problems)
    raise NotFoundError(translated("There is no such step."))


def _typed_arguments(
    set_name: str, key: int, inputs: Sequence[Field], form: Mapping[str, str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What was typed into a step's form, amounts with the decimals of the record's currency."""
    places = 0
    has_currency = "currency" in container().sets[set_name].type.properties
    if has_currency and any(each.kind == "number" for each in inputs):
        record = engine.read(f"{set_name}({key})", select="currency").body
        places = digits(record["currency"])
    return arguments(inputs, form, places)


def _offered(set_name: str, step: str) -> Operation | None:
    return OFFERED.get((container().sets[set_name].type.name, step))


def step_message(set_name: str, record: str, step: str, answer: Any) -> str:
    """What is said when a step was taken, with the amount that was stored: ``Lead: Qualified.``"""
    if step in STATE_STEPS:
        message = f"{record}: {translated(STATE_STEPS[step].done)}"
        if answer.get("amount") is None:
            return f"{message}."
        return f"{message}, {amount_text(Decimal(str(answer['amount'])), answer['currency'])}."
    _, separator, state = step.partition(":")
    if separator:
        return f"{record}: {words(state)}."
    operation = _offered(set_name, step)
    button = None if operation is None else operation.button
    if button is None:
        return translated("Added.")
    if not button.tells or not isinstance(answer, Mapping) or answer.get(button.tells) is None:
        return translated(button.done)
    amount = amount_text(answer[button.tells], answer.get("currency"))
    return f"{translated(button.done).removesuffix('.')}: {amount}."


def arguments(
    inputs: Sequence[Field], form: Mapping[str, str], places: int
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The fields of a step's form as the parameters of its action, and what is no number.

    Args:
        places: decimals that amounts of the record have.
    """
    values: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for each in inputs:
        if each.kind == "check":
            values[each.name] = each.name in form
            continue
        text = form.get(each.name, "")
        if each.kind != "password":  # its spaces are a part of it
            text = text.strip()
        if each.kind != "number" or not (text or each.required):
            values[each.name] = text or None
            continue
        with noted_at(each.name, problems):
            values[each.name] = typed_number(text, places)
    return values, problems


def preset(each: Field, record: Mapping[str, Any]) -> str:
    """What a field has at first: what is declared, today, or an amount of the record."""
    if each.kind == "date":
        return today().isoformat()
    amount = record.get(each.filled_by)
    if amount is None:
        return str(each.value)
    return number_text(written(Decimal(str(amount)), record["currency"]))


@dataclass(frozen=True)
class Offered:
    """The steps of a record: the one that comes next, other states, the others, the menu's."""

    main: Step | None
    states: list[Step]
    others: list[Step]
    menu: list[Step]


def arranged(next_step: str | None, steps: Sequence[Step]) -> Offered:
    """Steps by how likely they are and what they cost: what is hard to undo is in the menu."""
    main = next((step for step in steps if step.value == next_step), None)
    rest = [step for step in steps if step is not main and step.value != "delete"]
    return Offered(
        main,
        [step for step in rest if step.is_state],
        [step for step in rest if not step.is_state and not step.dangerous],
        [step for step in rest if not step.is_state and step.dangerous],
    )
