"""A condition about no rows: ``if`` of a request in a JSON batch (JSON Format 4.01, 19.1)."""

from __future__ import annotations

from sqlalchemy import Connection, case, literal, select

from app.http.security import Caller
from app.odata.binding.context import Context
from app.odata.binding.translator import Translator
from app.odata.binding.values import Scope
from app.odata.model import edm
from app.odata.reading.statement import Run, Statement
from app.odata.syntax.lexer import Limits
from app.odata.syntax.options import parse_filter

# What an expression may name beside it is by ``$root``.
_NOTHING = edm.EntityType(
    name="if", table=select(literal(1).label("row")).subquery(), key=(), properties={}
)


def holds(
    text: str,
    container: edm.EntityContainer,
    caller: Caller,
    connection: Connection,
    limits: Limits,
) -> bool:
    """Whether a condition is true, by the rules of ``$filter``.

    Raises: QueryError, it is no condition; ForbiddenError; sqlalchemy.exc.DBAPIError.
    """
    scope = Scope(Context(container, caller), _NOTHING)
    condition = Translator(scope.context, scope).condition(parse_filter(text, limits=limits))
    statement = Statement(scope.select(case((condition, 1), else_=0)), connection.dialect, {})
    ((truth,),) = statement.rows(connection, Run((), caller.user_id, container=container))
    return bool(truth)
