"""Checking the values of a body: every problem is found, each with its name on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.errors import Detail
from app.odata.payload_values import BadValueError
from app.writing.rules import ChildRules, RowRules

REQUIRED = "is required"
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
    cleaned = _clean(rules, "", values, problems, partial=partial)
    for attribute, child_rules in rules.children.items():
        if attribute in values:
            name = rules.wire(attribute)
            cleaned[attribute] = _clean_list(child_rules, name, values[attribute], problems)
    return cleaned, problems


def _clean(
    rules: RowRules, prefix: str, values: Mapping[str, Any], problems: Problems, *, partial: bool
) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    cleaners = rules.cleaners
    for attribute, value in values.items():
        clean = cleaners.get(attribute)
        if clean is not None:
            try:
                cleaned[attribute] = clean(value)
            except BadValueError as problem:
                problems.append(Detail(prefix + rules.wire(attribute), str(problem)))
        elif attribute not in rules.known:
            problems.append(Detail(prefix + rules.wire(attribute), UNKNOWN))
    if not partial:
        for attribute in rules.required:
            if attribute not in values:
                problems.append(Detail(prefix + rules.wire(attribute), REQUIRED))
    return cleaned


def _clean_list(
    rules: ChildRules, name: str, rows: Any, problems: Problems
) -> list[dict[str, Any]]:
    if not isinstance(rows, list | tuple):
        problems.append(Detail(name, "must be a list"))
        return []
    if len(rows) > MAXIMUM_CHILDREN:
        problems.append(Detail(name, f"must have at most {MAXIMUM_CHILDREN:,} entries"))
        return []
    cleaned = []
    for place, row in enumerate(rows):
        if isinstance(row, Mapping):
            prefix = f"{name}[{place}]."
            cleaned.append(_clean(rules, prefix, row, problems, partial=False))
        else:
            cleaned.append({})
            problems.append(Detail(f"{name}[{place}]", "must be an object"))
    return cleaned
