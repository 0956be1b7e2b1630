"""Errors of a service, told with the place in the body that the client sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import (
    ApiError,
    Detail,
    InvalidQueryError,
    MethodNotAllowedError,
    NotFoundError,
    ValidationError,
)
from app.odata.model import edm
from app.odata.payload.problems import join_path

_FIRST_STEP = re.compile(r"\w+")


class at_place:  # stands in a with statement, as those of contextlib do
    """Put ``path`` before the fields of an error, and spell navigation as the body does.

    A service calls the lines of an invoice ``lineItems[0]``; the body has ``LineItems``.
    """

    __slots__ = ("_path", "_type")

    def __init__(self, type_: edm.EntityType, path: str) -> None:
        self._type = type_
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValidationError):
            raise ValidationError(_moved(self._type, self._path, error.details)) from error
        if isinstance(error, ApiError) and any(
            detail.field != "permission" for detail in error.details
        ):
            error.details = _moved(self._type, self._path, error.details)


@contextmanager
def as_bad_reference(path: str) -> Iterator[None]:
    """An entity that a body points at and that is not there is a mistake in the body.

    Raises: ValidationError, in place of NotFoundError, of what is wrong with the URL, and of
        MethodNotAllowedError, for the address of the request is another.
    """
    try:
        yield
    except NotFoundError as error:
        raise ValidationError([(path, "points at an entity that does not exist")]) from error
    except MethodNotAllowedError as error:
        raise ValidationError([(path, error.message)]) from error
    except InvalidQueryError as error:
        raise ValidationError([(path, f"must be the URL of an entity: {error.message}")]) from error


def _moved(type_: edm.EntityType, path: str, details: tuple[Detail, ...]) -> tuple[Detail, ...]:
    return tuple(
        detail._replace(field=join_path(path, _declared(type_, detail.field))) for detail in details
    )


def _declared(type_: edm.EntityType, field: str) -> str:
    first = _FIRST_STEP.match(field)
    if first is None or first[0] in type_.properties:
        return field
    return type_.folded.get(first[0].lower(), first[0]) + field[first.end() :]
