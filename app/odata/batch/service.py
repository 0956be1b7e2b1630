"""``POST /$batch``: each unit in a savepoint of the request's transaction (docs/adr/0024).

What fails is undone to its savepoint, with its audit, events and numbers; the rest is committed
together at the end of the request. Reads take a connection of their own until something is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from flask import Response
from sqlalchemy import Connection, NestedTransaction
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from app.errors import (
    ApiError,
    FailedDependencyError,
    InvalidQueryError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.http.answer import drop_type_of_nothing
from app.http.body_stream import check_readable
from app.http.json_body import parse_json
from app.odata.batch.json_form import read_json_batch, write_json_batch
from app.odata.batch.multipart import read_multipart, write_multipart
from app.odata.batch.parts import Address, BatchEdge, Part, Result, Unit, address_of
from app.odata.batch.references import Outcome, References
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.protocol.negotiation import quality_of, version_of_error, version_spoken
from app.odata.protocol.preferences import Preferences, preferences_of
from app.odata.protocol.request import READ, Request, method_error
from app.odata.syntax.options import read_options
from app.odata.writing.locks import WriteText, locks_of_requests, take_locks

# What a request of a batch takes over from the batch unless it says otherwise.
_INHERITED = ("OData-Version", "OData-MaxVersion")


# The service's answer to any request.
AnswerRequest = Callable[[Request], Response]


def answer_batch(
    request: Request,
    container: edm.EntityContainer,
    answer: AnswerRequest,
    connection: Callable[[], Connection],
    edge: BatchEdge,
    holds: Callable[[str, bool], bool],
) -> Response:
    """Do a batch.

    Args:
        holds: whether a condition is true, as seen in the transaction or by itself.
    Raises: ValidationError, TooLargeError, UnsupportedMediaTypeError: it is refused as a whole;
        RateLimitedError, there are more requests in it than the caller has left.
    """
    if request.method != "POST":
        raise method_error(request.method, ("POST",), "A batch is sent by POST.")
    if read_options(request.query).system:
        raise InvalidQueryError("A batch has no query options.", position=0)
    headers = request.headers
    for name in ("If-Match", "If-None-Match"):  # Protocol 8.2.4, 8.2.5
        if name in headers:
            raise InvalidQueryError(f"{name} is of one request: send it with those of the batch.")
    version = version_spoken(headers.get("OData-MaxVersion"), headers.get("OData-Version"))
    units, is_json = _read(request, edge.most)
    preferences = preferences_of(headers)
    count = sum(len(unit.parts) for unit in units)
    if count > 1:
        edge.charge(count - 1)
    if preferences.return_ is not None:  # Protocol 8.2.8.7
        raise InvalidQueryError(
            "Prefer: return is of one request: send it with those of the batch."
        )
    chosen = preferences.continues_on_error
    runner = _Runner(request, preferences, container, answer, holds, connection, edge)
    # The two forms differ in what is done when nothing is said (11.7.7.4; JSON Format 19.5).
    results = runner.run(units, goes_on=is_json if chosen is None else chosen)
    as_json = _is_answered_as_json(headers, is_json, version)
    response = write_json_batch(results) if as_json else write_multipart(results)
    response.headers["OData-Version"] = version
    if chosen is not None:
        response.headers["Preference-Applied"] = preferences.applied("continue-on-error")
    return response


def _read(request: Request, most: int) -> tuple[list[Unit], bool]:
    """The units of the batch, and whether it came as JSON."""
    content_type = request.headers.get("Content-Type", "")
    media_type, options = parse_options_header(content_type)
    check_readable(request.headers, options.get("charset", "utf-8"))
    if media_type.lower() == "multipart/mixed":
        return read_multipart(request.body(), content_type, most), False
    if media_type.lower() != "application/json":
        raise UnsupportedMediaTypeError(
            "Send a batch with Content-Type: multipart/mixed, or application/json."
        )
    if request.headers.get("OData-MaxVersion", "").strip() == "4.0":
        raise ValidationError([("OData-MaxVersion", "must be 4.01: OData 4.0 has no JSON batch")])
    return read_json_batch(parse_json(request.body()), most), True


def _accepted_json(headers: Headers) -> str:
    """The formats of JSON that a request takes which names none itself (Protocol 8.2.1)."""
    ranges = [part.strip() for part in headers.get("Accept", "").split(",")]
    return ", ".join(range_ for range_ in ranges if range_.lower().startswith("application/json"))


def _is_answered_as_json(headers: Headers, is_json: bool, version: str) -> bool:
    """Whether the answer is JSON: what is accepted most, else as the request is (11.7.1).

    OData 4.0 has no batches in JSON: a client that sends multipart and does not say that it knows
    4.01 means the answers within by the JSON that it accepts.
    """
    if version == "4.0" and not is_json:
        return False
    accepted = headers.get("Accept", "")
    json = quality_of(accepted, "application/json")
    multipart = quality_of(accepted, "multipart/mixed")
    return is_json if json == multipart else json > multipart


@dataclass
class _Runner:
    """Does the units of one batch in their order."""

    request: Request
    preferences: Preferences
    container: edm.EntityContainer
    answer: AnswerRequest
    holds: Callable[[str, bool], bool]
    connection: Callable[[], Connection]
    edge: BatchEdge
    _has_written: bool = False
    _parts: Sequence[Part] = ()

    def __post_init__(self) -> None:
        self._references = References(self.container)
        self._roots = (self.request.root, *self.request.roots)
        self._accepted = _accepted_json(self.request.headers)

    def run(self, units: Sequence[Unit], *, goes_on: bool) -> list[Result]:
        """The results, in order.

        Args:
            goes_on: after a unit failed, the next are done, too; else the results end there, but
                for those units that depend on what failed.
        Raises: SQLAlchemyError, the transaction as a whole is lost.
        """
        results: list[Result] = []
        stopped = False
        self._parts = [part for unit in units for part in unit.parts]
        for unit in units:
            if stopped and not any(map(self._lacks, unit.parts)):
                continue  # those that lack something are answered 424
            result = self._single(unit) if unit.group is None else self._group(unit)
            results.append(result)
            stopped = stopped or (result.failed and not goes_on)
        return results

    def _single(self, unit: Unit) -> Result:
        (part,) = unit.parts
        if part.method in READ and not self._has_written:
            answer, url = self._tried(part)
        else:
            self._begin_writing()
            savepoint = self.connection().begin_nested()
            answer, url = self._tried(part, savepoint)
            if savepoint.is_active:
                savepoint.commit()
        self._references.note(part, Outcome(answer, url))
        return Result(unit, (answer,), failed=answer.status_code >= 400)

    def _group(self, unit: Unit) -> Result:
        """All of a group, or nothing of it; the others of a failed one are answered 424."""
        self._begin_writing()
        savepoint = self.connection().begin_nested()
        answers: list[Response] = []
        for part in unit.parts:
            answer, url = self._tried(part, savepoint)
            self._references.note(part, Outcome(answer, url))
            answers.append(answer)
            if answer.status_code >= 400:
                break
        failed = not savepoint.is_active
        cause = len(answers) - 1
        if failed:
            self._references.forget(unit.parts)
            reason = FailedDependencyError("Another request of the group failed: nothing was done.")
            answers = [
                answers[cause] if index == cause else self._refused(reason, part)
                for index, part in enumerate(unit.parts)
            ]
        else:
            savepoint.commit()
        if unit.group:
            self._references.note_group(unit.group, failed=failed)
        return Result(unit, tuple(answers), failed, cause)

    def _begin_writing(self) -> None:
        if not self._has_written:
            self._has_written = True
            take_locks(lambda: locks_of_requests(self.container, self._written()))

    def _written(self) -> Iterator[WriteText]:
        for part in self._parts:
            if part.method not in READ and part.problem is None:
                with suppress(QueryError, ApiError):  # it is refused in its place
                    address = address_of(part, self._roots, self.edge)
                    yield WriteText(part.method, address.path, address.query, part.body)

    def _tried(
        self, part: Part, savepoint: NestedTransaction | None = None
    ) -> tuple[Response, str]:
        """The answer to a part and its URL; what raised is undone before it is answered.

        Raises: SQLAlchemyError, it cannot be undone: the transaction as a whole is lost.
        """
        url = part.url
        try:
            if part.problem is not None:
                raise part.problem
            self._check_dependencies(part, in_transaction=savepoint is not None)
            resolved = self._references.resolved(part)
            address = address_of(resolved, self._roots, self.edge)
            url = address.path
            in_transaction = savepoint is not None
            answer = self.answer(self._request(resolved, address, in_transaction))
            if answer.status_code >= 400 and savepoint is not None:
                savepoint.rollback()
        except Exception as error:
            if savepoint is not None:
                _undo(savepoint, error)
            answer = self._refused(error, part)
        answer.direct_passthrough = False
        drop_type_of_nothing(answer)
        return answer, url

    def _request(self, part: Part, address: Address, in_transaction: bool) -> Request:
        """A part as the service takes it, with what the batch says of all."""
        batch, headers = self.request, Headers(part.headers)
        for name in _INHERITED:
            if name in batch.headers and name not in headers:
                headers.set(name, batch.headers[name])
        if self._accepted and "Accept" not in headers:
            headers.set("Accept", self._accepted)
        if self.preferences.include_annotations is not None:  # of two the first counts
            headers.add("Prefer", self.preferences.applied("include-annotations"))
        return Request(
            part.method, address.path, address.query, headers, lambda: part.body, batch.root,
            batch.roots, self._references.urls(), in_transaction=in_transaction,
        )  # fmt: skip

    def _refused(self, error: Exception, part: Part) -> Response:
        if isinstance(error, QueryError):
            error = InvalidQueryError(str(error), position=error.offset)
        answer = self.edge.refused(error, part.method, part.url)
        if "OData-MaxVersion" in part.headers:
            answer.headers["OData-Version"] = version_of_error(part.headers["OData-MaxVersion"])
        return answer

    def _lacks(self, part: Part) -> list[str]:
        """What a part without a condition needs, and that failed."""
        names = part.depends_on if part.condition is None else ()
        return [name for name in names if self._references.has_failed(name)]

    def _check_dependencies(self, part: Part, *, in_transaction: bool) -> None:
        """Raise FailedDependencyError unless the part may be tried."""
        if failed := self._lacks(part):
            raise FailedDependencyError(f"{failed[0]!r}, which this request needs, failed.")
        condition = part.condition
        if condition and not self.holds(self._references.in_expression(condition), in_transaction):
            raise FailedDependencyError("The condition of this request does not hold.")


def _undo(savepoint: NestedTransaction, error: Exception) -> None:
    """Raise ``error``, if there is nothing to go back to: SQLite undoes all when a disk is full."""
    try:
        savepoint.rollback()
    except SQLAlchemyError:
        raise error from None
