"""Functions bound to a collection whose value is an aggregate over its rows, called by address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import literal, select

from app.odata.binding.values import Scope
from app.odata.model import edm
from app.odata.writing.rows import run


def aggregate_of_rows(
    operation: edm.Operation, scope: Scope, arguments: Mapping[str, Any]
) -> object:
    """The value of ``operation`` for the rows of a path: all of a set, related ones, those that
    ``/$filter(...)`` leaves.
    """
    assert operation.expression is not None
    literals = {name: literal(value) for name, value in arguments.items()}
    value = operation.expression(scope.columns, literals)
    statement = select(value).select_from(scope.from_clause()).where(*scope.conditions)
    rows = run(statement, scope.context.container)
    aggregate: object = rows[0][0]
    return aggregate
