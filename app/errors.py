"""Errors a caller can do something about, and the one JSON shape that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

from sqlalchemy.exc import DBAPIError

# A body of nothing but mistakes does not make an endless answer.
MOST_DETAILS = 100


class Detail(NamedTuple):
    """One problem: the field in wire spelling (``lineItems[0].quantity``), and the text."""

    field: str
    message: str
    code: str | None = None


class ApiError(Exception):
    """An error with an HTTP status and a machine code (contract section 11.4).

    ``usual`` is what is said where nobody knows more of it.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "INTERNAL_ERROR"
    usual: ClassVar[str] = ""

    def __init__(
        self,
        message: str = "",
        details: Iterable[tuple[str, str] | Detail] = (),
        *,
        headers: Mapping[str, str] | None = None,
        position: int | None = None,
    ) -> None:
        self.message = message or self.usual
        super().__init__(self.message)
        self.details = tuple(Detail(*detail) for detail in details)
        self.headers = dict(headers or {})
        self.position = position

    def to_dict(self) -> dict[str, Any]:
        """The body of a REST error."""
        details = [{"field": detail.field, "message": detail.message} for detail in self.details]
        return self._body(details)

    def to_odata(self) -> dict[str, Any]:
        """The body of an OData error: each detail has ``code`` and ``target`` besides."""
        details = [
            {
                "code": detail.code or self.code,
                "target": detail.field,
                "field": detail.field,
                "message": detail.message,
            }
            for detail in self.details
        ]
        return self._body(details)

    def _body(self, details: list[dict[str, str]]) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message, "details": details}
        if self.position is not None:
            error["position"] = self.position
        return {"error": error}


class ValidationError(ApiError):
    """A body or a parameter has problems, each with its field."""

    status, code = 400, "VALIDATION_ERROR"

    def __init__(
        self,
        details: Iterable[tuple[str, str] | Detail],
        message: str = "",
        *,
        position: int | None = None,
    ) -> None:
        problems = tuple(Detail(*detail) for detail in details)
        super().__init__(message or _summary(problems), problems[:MOST_DETAILS], position=position)


def gathered(*checks: Callable[[], object]) -> None:
    """Run several checks; what they refuse is told together.

    Raises: ValidationError.
    """
    details: list[Detail] = []
    for check in checks:
        try:
            check()
        except ValidationError as error:
            details += error.details
    if details:
        raise ValidationError(details)


class telling_all:  # stands in a with statement, as those of contextlib do
    """Add to a ValidationError what ``check`` refuses of other fields.

    A field is named once: not again where something is wrong with it, within it or around it.
    """

    __slots__ = ("_check",)

    def __init__(self, check: Callable[[], object]) -> None:
        self._check = check

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ValidationError) or not all(
            problem.field for problem in error.details
        ):
            return
        if _is_of_the_database(error):  # which looks last, and answers nothing more meanwhile
            return
        named = [_steps(detail.field) for detail in error.details]
        try:
            self._check()
        except ValidationError as refusal:
            more = [
                problem
                for problem in refusal.details
                if not _is_named(_steps(problem.field), named)
            ]
            if more:
                raise ValidationError([*error.details, *more]) from error


def _is_of_the_database(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, DBAPIError):
        error = error.__cause__
    return error is not None


def _steps(field: str) -> list[str]:
    return field.replace("[", ".[").split(".")


def _is_named(steps: list[str], named: Iterable[list[str]]) -> bool:
    return any(all(a == b for a, b in zip(steps, other, strict=False)) for other in named)


class InvalidQueryError(ApiError):
    """A query option or a path that cannot be understood; ``position`` is 0-based."""

    status, code = 400, "INVALID_QUERY"


class InvalidCredentialsError(ApiError):
    status, code = 401, "INVALID_CREDENTIALS"


class TokenMissingError(ApiError):
    status, code = 401, "TOKEN_MISSING"


class TokenExpiredError(ApiError):
    status, code = 401, "TOKEN_EXPIRED"


class TokenRevokedError(ApiError):
    status, code = 401, "TOKEN_REVOKED"


class TokenReusedError(ApiError):
    status, code = 401, "TOKEN_REUSED"


class ApiKeyInvalidError(ApiError):
    status, code = 401, "API_KEY_INVALID"


class ForbiddenError(ApiError):
    """The caller's role does not have the permission; the detail names it."""

    status, code = 403, "FORBIDDEN"


class InsufficientScopeError(ForbiddenError):
    """The API key's role has the permission, its scopes do not."""

    status, code = 403, "INSUFFICIENT_SCOPE"


class NotFoundError(ApiError):
    status, code = 404, "NOT_FOUND"
    usual = "There is nothing at this address."


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Say of a NotFoundError which field of the body names what is not there."""
    try:
        yield
    except NotFoundError as error:
        error.details = error.details or (Detail(field, error.message),)
        raise


class MethodNotAllowedError(ApiError):
    status, code = 405, "METHOD_NOT_ALLOWED"
    usual = "This address does not take this method."


class NotAcceptableError(ApiError):
    status, code = 406, "NOT_ACCEPTABLE"
    usual = "This format is not offered: ask for application/json."


class InvalidStateError(ApiError):
    """A transition that the state machine does not have; names the state and what is possible."""

    status, code = 409, "INVALID_STATE"


class AlreadyConvertedError(ApiError):
    status, code = 409, "ALREADY_CONVERTED"


class DuplicateError(ApiError):
    status, code = 409, "DUPLICATE"


class OverpaymentError(ApiError):
    status, code = 409, "OVERPAYMENT"


class InUseError(ApiError):
    """The record cannot go, because others need it."""

    status, code = 409, "IN_USE"


class IdempotencyConflictError(ApiError):
    status, code = 409, "IDEMPOTENCY_CONFLICT"


class GoneError(ApiError):
    """What the address leads to was there, and is kept no longer."""

    status, code = 410, "GONE"


class PreconditionFailedError(ApiError):
    status, code = 412, "PRECONDITION_FAILED"
    usual = "The record was changed meanwhile."


class TooLargeError(ApiError):
    """A body, a file or a URL over its limit."""

    status, code = 413, "FILE_TOO_LARGE"
    usual = "The body is larger than this address takes."


class UriTooLongError(ApiError):
    status, code = 414, "URI_TOO_LONG"


class UnsupportedMediaTypeError(ApiError):
    status, code = 415, "UNSUPPORTED_MEDIA_TYPE"
    usual = "Send the body as application/json."


class RangeNotSatisfiableError(ApiError):
    """The bytes asked for lie behind the end of the file."""

    status, code = 416, "RANGE_NOT_SATISFIABLE"


class AccountLockedError(ApiError):
    status, code = 423, "ACCOUNT_LOCKED"


class FailedDependencyError(ApiError):
    """A request of a batch that was not tried, because one that it needs failed."""

    status, code = 424, "FAILED_DEPENDENCY"


class RateLimitedError(ApiError):
    status, code = 429, "RATE_LIMITED"


class NotImplementedInServiceError(ApiError):
    """A part of OData that this set does not support."""

    status, code = 501, "NOT_IMPLEMENTED"


class AiUnavailableError(ApiError):
    """The assistant has no place for another reader, or its provider does not answer."""

    status, code = 503, "AI_UNAVAILABLE"


class ServiceUnavailableError(ApiError):
    """The database or another part is away; comes with ``Retry-After``."""

    status, code = 503, "SERVICE_UNAVAILABLE"
    usual = "The service is not available for a moment; try again."


def refuse_any(details: Iterable[tuple[str, str] | Detail]) -> None:
    """Raise ValidationError where there are problems."""
    problems = [Detail(*detail) for detail in details]
    if problems:
        raise ValidationError(problems)


def _summary(details: tuple[Detail, ...]) -> str:
    if len(details) == 1:
        return (
            f"{details[0].field}: {details[0].message}" if details[0].field else details[0].message
        )
    return f"{len(details)} fields have problems."
