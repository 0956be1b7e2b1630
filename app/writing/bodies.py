"""Parts of REST bodies that name properties of an entity: from the wire to attributes, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from app.errors import Detail, ValidationError
from app.writing.rules import RowRules
from app.writing.validation import UNKNOWN, validate


def read_properties(rules: RowRules, body: Mapping[str, Any]) -> dict[str, Any]:
    """``{"taxId": 1, "billingAddress": {"city": "x"}}`` by attribute; values are checked later.

    Raises: ValidationError, a name is no property of the entity; with all that is wrong.
    """
    values, problems = by_attribute(rules, body)
    if problems:
        raise ValidationError([*problems, *validate(rules, values, partial=True)[1]])
    return values


def body_problems(rules: RowRules, body: Mapping[str, Any], *, partial: bool) -> list[Detail]:
    """Everything that is wrong with such a part of a body, names and values."""
    values, problems = by_attribute(rules, body)
    return [*problems, *validate(rules, values, partial=partial)[1]]


def by_attribute(rules: RowRules, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[Detail]]:
    """The values of a body under the names of attributes, and the names in it that are none."""
    attributes, objects = _attributes(rules)
    values: dict[str, Any] = {}
    problems = []
    flat: dict[str, Any] = {}
    for name, value in body.items():
        if name in objects and isinstance(value, Mapping):
            flat |= {f"{name}.{part}": inner for part, inner in value.items()}
        elif value is not None or name not in objects:  # no object, no values
            flat[name] = value
    for name, value in flat.items():
        if name in attributes:
            values[attributes[name]] = value
        else:
            problems.append(Detail(name, UNKNOWN))
    return values, problems


@cache
def _attributes(rules: RowRules) -> tuple[Mapping[str, str], frozenset[str]]:
    """Name on the wire -> attribute, and the names of objects such as ``billingAddress``."""
    names = {wire: attribute for attribute, wire in rules.names.items()}
    return names, frozenset(name.partition(".")[0] for name in names if "." in name)


@contextmanager
def below(name: str) -> Iterator[None]:
    """Problems inside the block are those of the member ``name`` of the body."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError(
            [detail._replace(field=f"{name}.{detail.field}") for detail in error.details]
        ) from error
