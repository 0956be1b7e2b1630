"""Refusals of the database, turned into errors that name the field.

The rules find nearly everything beforehand. What is left is what only the database can decide:
a value that another record has, and the races between two requests.
"""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError

from app.db.constraint_refusals import FOREIGN_KEY, UNIQUE, read_refusal
from app.errors import ApiError, Detail, DuplicateError, InUseError, ValidationError
from app.models.columns import Entity
from app.writing.rules import EntityRules


class named_refusals:  # stands in a with statement, as those of contextlib do
    """Raise ``DuplicateError``, ``InUseError`` or ``ValidationError`` for an IntegrityError."""

    __slots__ = ("_deleting", "_rules")

    def __init__(self, rules: EntityRules[Entity], *, deleting: bool = False) -> None:
        self._rules = rules
        self._deleting = deleting

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, IntegrityError):
            raise _named(self._rules, error, self._deleting) from error


def _named(rules: EntityRules[Entity], error: IntegrityError, deleting: bool) -> ApiError:
    refusal = read_refusal(error)
    fields = [rules.wire(name) for name in refusal.columns]
    if refusal.kind == FOREIGN_KEY and deleting:
        return InUseError(f"Other records need this {rules.title}.")
    if refusal.kind == UNIQUE:
        return DuplicateError(
            f"There is another {rules.title} with the same {' and '.join(fields) or 'key'}.",
            [Detail(field, "is taken by another record") for field in fields],
        )
    message = "is not allowed together with the other values"
    if refusal.kind == FOREIGN_KEY:
        message = "refers to a record that was deleted meanwhile"
    return ValidationError([Detail(field, message) for field in fields or [""]])
