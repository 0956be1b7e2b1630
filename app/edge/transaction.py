"""One request, one transaction: services flush, only the edge commits."""

from __future__ import annotations

from flask import Response
from sqlalchemy.exc import SQLAlchemyError

from app.edge.errors import error_response
from app.extensions import db


def end_transaction(response: Response) -> Response:
    """Commit when the answer is a success, else roll back; before the answer leaves.

    Returns: ``response``, or an error answer when the database refuses the commit.
    """
    if not db.session.registry.has():  # nothing was written or locked
        return response
    if response.status_code >= 400:
        db.session.rollback()
        return response
    try:
        db.session.commit()
    except SQLAlchemyError as error:
        db.session.rollback()
        return error_response(error)
    return response
