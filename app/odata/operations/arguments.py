"""The values of an operation's parameters: from a body, or from the address of a function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from app.errors import InvalidQueryError, ValidationError, telling_all
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.operations.calls import Call
from app.odata.payload.values import Problems, typed_reader
from app.odata.syntax.literals import duration_text, literal_text
from app.odata.syntax.nodes import Alias, Collection, JsonObject, Literal, Node
from app.odata.syntax.options import OptionTexts, parse_aliases, parse_filter


def body_arguments(
    operation: edm.Operation, body: Any, *, text_numbers: bool = False
) -> dict[str, Any]:
    """The parameters of an action, as the body gives them.

    Raises: ValidationError, with every parameter that is wrong, unknown or missing.
    """
    if not isinstance(body, dict):
        raise ValidationError([("", "The body must be a JSON object with the parameters.")])
    body_values = {name: value for name, value in body.items() if "@" not in name}
    problems = Problems()
    known = {parameter.name for parameter in operation.parameters}
    for name in body_values:
        if name not in known:
            problems.add_unknown(name, name, known, operation.name)
    values = {
        parameter.name: _read(parameter, body_values[parameter.name], problems, text_numbers)
        for parameter in operation.parameters
        if parameter.name in body_values
    }
    for parameter in operation.parameters:
        if parameter.name not in body_values and not (parameter.nullable or parameter.optional):
            problems.add(parameter.name, "is required")
    if problems.details:
        # The check tells of the rest where it refuses something: what is wrong stays as it came.
        wrong = {re.split(r"[.[]", detail.field)[0] for detail in problems.details}
        read = {name: value for name, value in values.items() if name not in wrong}
        with telling_all(partial(operation.check or _nothing, body_values | read)):
            problems.raise_any()
    return values


def _nothing(_: Mapping[str, Any]) -> None:
    """The check of an operation that has none."""


def body_overload(call: Call, body: Any) -> edm.Operation:
    """The overload of an action that the names in a body mean; one alone is it in any case."""
    if len(call.overloads) == 1:
        return call.overloads[0]
    names = [name for name in body if "@" not in name] if isinstance(body, dict) else []
    try:
        return call.overload(names)
    except InvalidQueryError as error:
        raise ValidationError([("", error.message)]) from error


def url_arguments(call: Call, options: OptionTexts) -> tuple[edm.Operation, dict[str, Any]]:
    """The overload of a function and its parameters, as the address gives them.

    They stand in the parentheses; as ``@name`` or ``name`` in the query where there are none
    (Protocol 11.5.4.1.1).
    Raises: InvalidQueryError, no overload has these; ValidationError, a value is wrong.
    """
    nodes: dict[str, Node | str] = {}
    for argument in call.arguments or ():
        if argument.name is None:
            raise InvalidQueryError(
                f"Name the parameters of {call.name}.", position=argument.offset
            )
        if argument.name in nodes:
            raise InvalidQueryError(
                f"{argument.name} must not appear more than once.", position=argument.offset
            )
        nodes[argument.name] = argument.value
    aliases = parse_aliases(options)
    if not call.arguments:
        names = call.parameter_names
        nodes |= {name: node for name, node in aliases.items() if name in names}
        nodes |= {name: text for name, text in options.custom if name in names}
        strange = [name for name, _ in options.custom if name not in names]
        if strange and names:
            raise InvalidQueryError(f"{call.name} has no parameter {strange[0]}.", position=0)
        counts = Counter([*aliases, *(name for name, _ in options.custom)])
        for name in names:
            if counts[name] > 1:
                raise InvalidQueryError(f"{name} must not appear more than once.", position=0)
    overload = call.overload(nodes)
    problems = Problems()
    values = {}
    for parameter in overload.parameters:
        if parameter.name in nodes:
            value = _plain(nodes[parameter.name], parameter, aliases)
            if value is None and parameter.optional:
                continue  # as if it had been left out
            values[parameter.name] = _read(parameter, value, problems)
    problems.raise_any()
    return overload, values


def _read(
    parameter: edm.Parameter, value: Any, problems: Problems, text_numbers: bool = False
) -> Any:
    if value is None:
        if not parameter.nullable:
            problems.add(parameter.name, "must not be null")
        return None
    assert not isinstance(parameter.type, edm.EntityType)  # no operation of ours takes entities
    value_read = typed_reader(parameter.type, text_numbers)(value, parameter.name, problems)
    if (
        parameter.allowed is not None
        and isinstance(value_read, str)
        and value_read not in parameter.allowed
    ):
        problems.add(parameter.name, f"must be one of {', '.join(parameter.allowed)}")
    return value_read


def _plain(node: Node | str, parameter: edm.Parameter, aliases: Mapping[str, Node]) -> Any:
    """What is written in an address as JSON would have it."""
    if isinstance(node, str):
        node = _of_text(node, parameter)
    match node:
        case Alias(name=name):
            if name not in aliases:
                return None
            return _plain(aliases[name], parameter, {})
        case Collection(items=items):
            return [_plain(item, parameter, aliases) for item in items]
        case JsonObject(members=members):
            return {name: _plain(item, parameter, aliases) for name, item in members}
        case Literal():
            return _of_literal(node)
    raise InvalidQueryError(f"{parameter.name} must be a literal.", position=node.offset)


def _of_text(text: str, parameter: edm.Parameter) -> Node:
    """The value of a query option; a text may stand there without quotes."""
    if parameter.type == edm.STRING and not (len(text) > 1 and text[0] == text[-1] == "'"):
        return Literal(text, "string")
    try:
        return parse_filter(text)
    except QueryError as error:
        raise ValidationError([(parameter.name, error.message)]) from error


def _of_literal(literal: Literal) -> Any:
    value = literal.value
    match literal.kind:
        case "null" | "boolean" | "integer" | "decimal" | "string" | "enum":
            return value
        case "double":
            assert isinstance(value, float)
            finite = value - value == 0
            return Decimal(repr(value)) if finite else literal_text(value, "double")
        case "duration":
            assert isinstance(value, timedelta)
            return duration_text(value)
        case "binary":
            return literal_text(value, "binary")[len("binary'") : -1]
    return literal_text(value, literal.kind) if literal.kind != "geo" else value
