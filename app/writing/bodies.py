"""Parts of REST bodies that name properties of an entity: from the wire to attributes, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from app.errors import Detail, ValidationError
from app.writing.rules import RowRules
from app.writing.validation import UNKNOWN, validate


def read_properties(rules: RowRules, body: Mapping[str, Any]) -> dict[str, Any]:
    """``{"taxId": 1, "billingAddress": {"city": "x"}}`` by attribute; values are checked later.

    Raises: ValidationError, a name is no property of the entity; with all that is wrong.
    """
    values, problems = _read(rules, body)
    if problems:
        raise ValidationError([*problems, *validate(rules, values, partial=True)[1]])
    return values


def body_problems(rules: RowRules, body: Mapping[str, Any], *, partial: bool) -> list[Detail]:
    """Everything that is wrong with such a part of a body, names and values."""
    values, problems = _read(rules, body)
    return [*problems, *validate(rules, values, partial=partial)[1]]


def _read(rules: RowRules, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[Detail]]:
    attributes = {wire: attribute for attribute, wire in rules.names.items()}
    complex_names = {wire.partition(".")[0] for wire in attributes if "." in wire}
    values: dict[str, Any] = {}
    problems = []
    for name, value in _flat(body, complex_names):
        attribute = attributes.get(name)
        if attribute is None:
            problems.append(Detail(name, UNKNOWN))
        else:
            values[attribute] = value
    return values, problems


def _flat(body: Mapping[str, Any], complex_names: set[str]) -> Iterator[tuple[str, Any]]:
    for name, value in body.items():
        if name in complex_names and isinstance(value, Mapping):
            for inner, inner_value in value.items():
                yield f"{name}.{inner}", inner_value
        else:
            yield name, value


@contextmanager
def below(name: str) -> Iterator[None]:
    """Problems inside the block are those of the member ``name`` of the body."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError(
            [detail._replace(field=f"{name}.{detail.field}") for detail in error.details]
        ) from error
