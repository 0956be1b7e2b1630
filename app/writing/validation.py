"""Checking the values of a body: every problem is found, each with its name on the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from marshmallow import ValidationError as SchemaError

from app.errors import Detail, ValidationError
from app.models.columns import Entity
from app.money import is_whole, too_fine
from app.writing.change import Change
from app.writing.rules import ChildRules, RowRules

UNKNOWN = "is not a property of this record"
MAXIMUM_CHILDREN = 1000
Problems = list[Detail]


def validate(
    rules: RowRules, values: Mapping[str, Any], *, partial: bool
) -> tuple[dict[str, Any], Problems]:
    """The values that may be written, by attribute, and what is wrong with the others.

    Args:
        values: by attribute; what is known but not writable is left out silently, because a
            client may send back what it read (contract P8).
        partial: a change; required attributes may then be absent.
    """
    problems: Problems = []
    cleaned = _load(rules, "", values, problems, partial=partial)
    for attribute, child_rules in rules.children.items():
        if attribute in values:
            name = rules.wire(attribute)
            cleaned[attribute] = _load_list(child_rules, name, values[attribute], problems)
    return cleaned, problems


def _load(
    rules: RowRules, prefix: str, values: Mapping[str, Any], problems: Problems, *, partial: bool
) -> dict[str, Any]:
    cleaned: Any
    messages: Any
    try:
        # Of a field that may be missing the schema then says nothing, instead of asking it.
        missing = partial or rules.optional
        cleaned, messages = rules.schema.load(values, partial=missing), {}
    except SchemaError as error:
        cleaned, messages = error.valid_data, error.messages
    if messages or not values.keys() <= rules.known:
        messages = messages | {name: [UNKNOWN] for name in values if name not in rules.known}
        for attribute in (*values, *(messages.keys() - values.keys())):
            for message in messages.get(attribute, ()):
                problems.append(Detail(prefix + rules.wire(attribute), message))
    return cleaned  # type: ignore[no-any-return]  # of a dictionary, a dictionary


def too_many(count: int) -> str:
    """What is wrong with a list of so many entries; empty where nothing is."""
    if count <= MAXIMUM_CHILDREN:
        return ""
    most = MAXIMUM_CHILDREN
    return f"must have at most {most:,} entries, not {count:,}: divide them among several"


def _load_list(rules: ChildRules, name: str, rows: Any, problems: Problems) -> list[dict[str, Any]]:
    if not isinstance(rows, list | tuple):
        problems.append(Detail(name, "must be a list"))
        return []
    if refusal := too_many(len(rows)):
        problems.append(Detail(name, refusal))
        return []
    cleaned = []
    for index, row in enumerate(rows):
        if isinstance(row, Mapping):
            prefix = f"{name}[{index}]."
            cleaned.append(_load(rules, prefix, row, problems, partial=False))
        else:
            cleaned.append({})
            problems.append(Detail(f"{name}[{index}]", "must be an object"))
    return cleaned


def check_amounts(change: Change[Entity], currency: str) -> None:
    """Note the amounts that are given, or kept beside a new currency, and are too fine for it."""
    for name in change.rules.amounts:
        if not change.concerns(name, "currency"):
            continue
        amount = change.get(name)
        if amount is not None and not is_whole(amount, currency):
            change.refuse(name, too_fine(currency))
    for attribute, rules in change.rules.children.items():
        for index, row in enumerate(change.values.get(attribute) or () if rules.amounts else ()):
            for name in rules.amounts:
                if row.get(name) is not None and not is_whole(row[name], currency):
                    path = f"{change.rules.wire(attribute)}[{index}].{rules.wire(name)}"
                    change.refuse_field(path, too_fine(currency))


# --- parts of REST bodies that name properties of an entity


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
