"""Refusals of the database, turned into errors that name the field.

The rules find nearly everything beforehand. What is left is what only the database can decide:
a value that another record has, and the races between two requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlalchemy.exc import IntegrityError

from app.errors import ApiError, Detail, DuplicateError, InUseError, ValidationError
from app.writing.rules import EntityRules, RowRules

_FOREIGN_KEY = ("23503", "SQLITE_CONSTRAINT_FOREIGNKEY")
_UNIQUE = ("23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")


@contextmanager
def named_refusals(rules: EntityRules, *, deleting: bool = False) -> Iterator[None]:
    """Raise ``DuplicateError``, ``InUseError`` or ``ValidationError`` for an IntegrityError."""
    try:
        yield
    except IntegrityError as error:
        raise _refusal(rules, error, deleting) from error


def _refusal(rules: EntityRules, error: IntegrityError, deleting: bool) -> ApiError:
    text = str(error.orig)
    # PostgreSQL's SQLSTATE, or the name of SQLite's extended code; texts may be translated.
    code = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", "")
    diagnosis = getattr(error.orig, "diag", None)
    constraint = getattr(diagnosis, "constraint_name", None)
    if code in _FOREIGN_KEY:
        return _foreign_key(rules, constraint, deleting)
    if code in _UNIQUE:
        fields = [rules.wire(name) for name in _unique_columns(rules, constraint, text)]
        details = [Detail(name, "is taken by another record") for name in fields]
        return DuplicateError(
            f"There is another {rules.title} with the same {' and '.join(fields) or 'key'}.",
            details,
        )
    column = getattr(diagnosis, "column_name", None) or _checked_column(rules, constraint, text)
    field = rules.wire(column)
    return ValidationError([Detail(field, "is not allowed together with the other values")])


def _foreign_key(rules: EntityRules, constraint: str | None, deleting: bool) -> ApiError:
    if deleting:
        return InUseError(f"Other records need this {rules.title}.")
    # SQLite does not say which; the row was there when the references were checked.
    field = next(
        (
            rules.wire(column.name)
            for column in rules.columns.c
            for key in column.foreign_keys
            if key.constraint is not None and key.constraint.name == constraint
        ),
        "",
    )
    return ValidationError([Detail(field, "refers to a record that was deleted meanwhile")])


def _unique_columns(rules: RowRules, constraint: str | None, text: str) -> list[str]:
    """PostgreSQL names the constraint, SQLite the columns ("... failed: clients.external_id")."""
    table = rules.columns
    if constraint is None:
        listed = text.partition("failed:")[2].split(",")
        names = (entry.strip().rpartition(".")[2] for entry in listed)
        return [name for name in names if name in table.c]
    for known in table.constraints:
        if isinstance(known, UniqueConstraint) and known.name == constraint:
            return [column.name for column in known.columns]
    for index in table.indexes:
        if index.name == constraint:
            return [column.name for column in index.columns]
    return []


def _checked_column(rules: RowRules, constraint: str | None, text: str) -> str:
    """The column that a CHECK or NOT NULL is about; the table's own checks name none."""
    named = constraint or text.rpartition(":")[2].strip()
    for column in rules.columns.c:
        if named.startswith(f"ck_{rules.columns.name}_{column.name}") or named.endswith(
            f".{column.name}"
        ):
            return column.name
    for known in rules.columns.constraints:
        if isinstance(known, CheckConstraint) and known.name == named:
            text_of = str(known.sqltext)
            return next((c.name for c in rules.columns.c if c.name in text_of), "")
    return ""
