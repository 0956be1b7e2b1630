"""Doing a batch: each unit in a savepoint of the request's transaction (docs/adr/0024).

What fails is undone to its savepoint, with its audit, events and numbers; the rest is committed
together at the end of the request. Reads take a connection of their own until something is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from flask import Response
from sqlalchemy import Connection, NestedTransaction
from sqlalchemy.exc import SQLAlchemyError

from app.errors import ApiError, FailedDependencyError, InvalidQueryError
from app.odata.batch.parts import Address, BatchEdge, Part, Result, Unit, address_of
from app.odata.batch.references import Outcome, References
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.writing.locks import WriteText, locks_of_requests, take_locks

_READS = ("GET", "HEAD")


class AnswerPart(Protocol):
    """The answer to a request of a batch; ``urls`` are the entities made before, by id."""

    def __call__(
        self, part: Part, address: Address, references: References, *, in_transaction: bool
    ) -> Response: ...


@dataclass
class BatchRunner:
    """Does the units of one batch in their order."""

    container: edm.EntityContainer
    answer: AnswerPart
    holds: Callable[[str, bool], bool]  # whether a condition is true, in the transaction or not
    connection: Callable[[], Connection]
    edge: BatchEdge
    roots: tuple[str, ...]
    _has_written: bool = False
    _parts: Sequence[Part] = ()

    def __post_init__(self) -> None:
        self._references = References(self.container)

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
            result = self._unit(unit)
            results.append(result)
            stopped = stopped or (result.failed and not goes_on)
        return results

    def _unit(self, unit: Unit) -> Result:
        if unit.group is None:
            part = unit.parts[0]
            answer = self._single(part)
            return Result(unit, (answer,), failed=answer.status_code >= 400)
        return self._group(unit)

    def _single(self, part: Part) -> Response:
        if part.method in _READS and not self._has_written:
            answer, url = self._tried(part)
        else:
            self._begin_writing()
            savepoint = self.connection().begin_nested()
            answer, url = self._tried(part, savepoint)
            if savepoint.is_active:
                savepoint.commit()
        self._references.note(part, Outcome(answer, url))
        return answer

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
            if part.method not in _READS and part.problem is None:
                with suppress(QueryError, ApiError):  # it is refused in its place
                    address = address_of(part, self.roots, self.edge)
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
            address = address_of(resolved, self.roots, self.edge)
            url = address.path
            answer = self.answer(
                resolved, address, self._references, in_transaction=savepoint is not None
            )
            if answer.status_code >= 400 and savepoint is not None:
                savepoint.rollback()
        except Exception as error:
            if savepoint is not None:
                _undo(savepoint, error)
            answer = self._refused(error, part)
        answer.direct_passthrough = False
        return answer, url

    def _refused(self, error: Exception, part: Part) -> Response:
        if isinstance(error, QueryError):
            error = InvalidQueryError(str(error), position=error.offset)
        answer = self.edge.refused(error, part.method, part.url)
        if "OData-MaxVersion" in part.headers:
            newest = part.headers["OData-MaxVersion"].strip() == "4.01"
            answer.headers["OData-Version"] = "4.01" if newest else "4.0"
        return answer

    def _lacks(self, part: Part) -> bool:
        return part.condition is None and any(map(self._references.has_failed, part.depends_on))

    def _check_dependencies(self, part: Part, *, in_transaction: bool) -> None:
        """Raise FailedDependencyError unless the part may be tried."""
        if part.condition is None:
            failed = [name for name in part.depends_on if self._references.has_failed(name)]
            if failed:
                raise FailedDependencyError(f"{failed[0]!r}, which this request needs, failed.")
            return
        if not self.holds(self._references.in_expression(part.condition), in_transaction):
            raise FailedDependencyError("The condition of this request does not hold.")


def _undo(savepoint: NestedTransaction, error: Exception) -> None:
    """Raise ``error``, if there is nothing to go back to: SQLite undoes all when a disk is full."""
    try:
        savepoint.rollback()
    except SQLAlchemyError:
        raise error from None
