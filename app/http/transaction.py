"""One request, one transaction: services flush, only the edge commits."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy.exc import SQLAlchemyError

from app import audit
from app.db.transactions import has_begun
from app.errors import ApiError
from app.extensions import db
from app.http import idempotency
from app.http.error_answers import error_response
from app.http.request_context import Exchange


def end_transaction(response: Response, environ: dict[str, Any], exchange: Exchange) -> Response:
    """Commit when the answer is a success, else roll back; before the answer leaves.

    Returns: ``response``; the stored answer, when a twin with the same Idempotency-Key was first;
        an error answer when the database refuses the commit.
    """
    is_keyed = idempotency.VARIABLE in environ
    if not has_begun() and not is_keyed and exchange.denied is None:
        return response  # nothing was written or locked
    try:
        if response.status_code >= 400:
            db.session.rollback()
            audit_denial(exchange, request.method, request.path)
        if is_keyed:
            response = idempotency.store(response)
        db.session.commit()
    except (SQLAlchemyError, ApiError) as error:
        db.session.rollback()
        return error_response(error)
    return response


def audit_denial(exchange: Exchange, method: str, path: str) -> None:
    """A refusal is part of the audit log though everything else of the request is undone."""
    denied, exchange.denied = exchange.denied, None
    if denied is not None:
        target = {"method": method, "path": path[:500]}
        audit.record(denied.pop("action"), after={**target, **denied})
