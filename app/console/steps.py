"""What may be done with a record: the buttons and forms that ``allowedActions`` stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.console import engine
from app.console.numbers import amount_text, number_text, typed_number
from app.console.wording import words
from app.errors import NotFoundError, ValidationError
from app.models.invoice import PAYMENT_METHODS
from app.money import digits, written
from app.settings.days import today
from app.written.numbers import NoNumberError


@dataclass(frozen=True)
class Input:
    """A field of a step's form."""

    name: str
    words: str
    kind: str = "text"
    options: Sequence[str] = ()
    required: bool = True


@dataclass(frozen=True)
class Operation:
    """An action of the API as a step: its name, the words of the button, what it asks for.

    ``page`` is below that of the record: what is asked for there is shown before it is done.
    """

    action: str
    words: str
    inputs: Sequence[Input] = ()
    dangerous: bool = False
    page: str = ""


# Name in allowedActions -> how the page offers it.
OPERATIONS: Mapping[str, Operation] = {
    "convert": Operation("Convert", "Convert to client", page="convert"),
    "send": Operation("Send", "Send by e-mail", page="send"),
    "payment": Operation(
        "RegisterPayment",
        "Register payment",
        (
            Input("amount", "Amount", "number"),
            Input("date", "Day", "date"),
            Input("method", "Method", "choice", PAYMENT_METHODS),
            Input("reference", "Reference", required=False),
            Input("allowOverpayment", "Keep what is too much as credit", "check", required=False),
        ),
    ),
    "credit": Operation(
        "CreateCreditNote", "Credit", (Input("notes", "Notes", required=False),), dangerous=True
    ),
    "void": Operation("Void", "Void", (Input("reason", "Reason"),), dangerous=True),
    "uncollectible": Operation("MarkUncollectible", "Write off", dangerous=True),
}
# Adds what was said to a record; its form is a part of the page.
COMMENT = "comment"
# What is said when they are done.
_DONE = {
    "payment": "Payment registered.",
    "credit": "Credit note made.",
    "void": "Invoice is void.",
    "uncollectible": "Invoice written off.",
    "convert": "Lead converted.",
    "send": "Invoice sent.",
    COMMENT: "Added.",
}
# The amount in the answer that is told.
_AMOUNTS = {"payment": "amount", "credit": "total"}
# Steps to a state that have an operation of their own.
_HAVE_OPERATIONS = ("status:Uncollectible",)


@dataclass(frozen=True)
class Step:
    """A button; ``inputs`` are asked for before it is sent, or on a ``page`` of its own."""

    value: str
    words: str
    inputs: Sequence[Input] = ()
    dangerous: bool = False
    page: str = ""

    @property
    def is_state(self) -> bool:
        """Whether it sets a state and asks for nothing: ``status:Qualified``."""
        return ":" in self.value


def steps_of(actions: Sequence[str]) -> list[Step]:
    """The steps that a record's ``allowedActions`` offer, in that order, deletion last."""
    steps = []
    for name in actions:
        if name in OPERATIONS:
            operation = OPERATIONS[name]
            steps.append(
                Step(name, operation.words, operation.inputs, operation.dangerous, operation.page)
            )
        elif ":" in name and name not in _HAVE_OPERATIONS:
            steps.append(Step(name, words(name.partition(":")[2])))
    if "delete" in actions:
        steps.append(Step("delete", "Delete", dangerous=True))
    return steps


def take(set_name: str, key: int, step: str, version: str | None, form: Mapping[str, str]) -> Any:
    """Take a step that is not a deletion; returns what the API answers.

    Raises: an ApiError, as the API would answer; NotFoundError, there is no such step.
    """
    path = f"{set_name}({key})"
    attribute, separator, state = step.partition(":")
    if separator:
        return engine.send("PATCH", path, {attribute: state}, version).body
    if step == COMMENT:
        said = {"body": form.get("body", ""), "isInternal": "isInternal" in form}
        return engine.send("POST", f"{path}/Comments", said).body
    if step in OPERATIONS:
        operation = OPERATIONS[step]
        places = 0
        if any(each.kind == "number" for each in operation.inputs):
            currency = engine.read(path, select="currency").body["currency"]
            places = digits(currency)
        body = arguments(operation.inputs, form, places)
        return engine.send("POST", f"{path}/BusinessPlatform.{operation.action}", body).body
    raise NotFoundError("There is no such step.")


def told(one: str, step: str, answer: Any) -> str:
    """What is said when a step was taken, with the amount that was stored: ``Lead: Qualified.``"""
    _, separator, state = step.partition(":")
    if separator:
        return f"{one}: {words(state)}."
    text = _DONE.get(step, "Done.")
    name = _AMOUNTS.get(step)
    if name is None or not isinstance(answer, Mapping) or answer.get(name) is None:
        return text
    amount = amount_text(answer[name], answer.get("currency"))
    return f"{text.removesuffix('.')}: {amount}."


def arguments(inputs: Sequence[Input], form: Mapping[str, str], places: int) -> dict[str, Any]:
    """The fields of a step's form as the parameters of its action.

    Args:
        places: decimals that amounts of the record have.

    Raises: ValidationError, an amount that is no number.
    """
    given: dict[str, Any] = {}
    for each in inputs:
        if each.kind == "check":
            given[each.name] = each.name in form
            continue
        text = form.get(each.name, "").strip()
        if each.kind != "number":
            given[each.name] = text or None
            continue
        try:
            given[each.name] = typed_number(text, places)
        except NoNumberError as error:
            raise ValidationError([(each.name, str(error))]) from None
    return given


def preset(each: Input, record: Mapping[str, Any]) -> str:
    """What a field has at first: today, and what is due."""
    if each.kind == "date":
        return today().isoformat()
    due = record.get("amountDue") if each.name == "amount" else None
    return "" if due is None else number_text(written(Decimal(str(due)), record["currency"]))
