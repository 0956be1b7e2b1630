"""Importing a table: each row is created or changed by the service of its entity."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from app import audit
from app.auth.lockout import fold_name
from app.db import records
from app.db.engines import transaction
from app.db.outages import is_away
from app.db.transactions import advisory_lock
from app.errors import ApiError, Detail, ValidationError
from app.extensions import db
from app.http.error_answers import from_database
from app.http.request_context import current_request_id
from app.http.security import current_caller
from app.importing.columns import (
    CLIENT_EXTERNAL_ID,
    CLIENT_NAME,
    OWNER_NAME,
    RULES,
    UPDATE_BY,
    Options,
    Plan,
)
from app.importing.limits import JOB
from app.importing.tables import FileTable, open_table
from app.importing.workbook import Row
from app.models.user import User
from app.permissions import OWNING_COLUMNS, allowed, require
from app.writing.deletion import services
from app.writing.normal_forms import email_form

_log = structlog.get_logger(__name__)
MOST_LISTED = 200
# Rows that are shown.
PREVIEWED = 5
# Rows between two commits, where bad rows are skipped or nothing is kept; slow ones are fewer.
CHUNK = 200
CHUNK_SECONDS = 0.25
# Rows between two pauses while a file is looked through.
LOOK = 5000
# SQLite lets one process write at a time, and those that wait look only every tenth of a second.
TURN_SECONDS = 0.15
Progress = Callable[[int], None]
Note = Callable[["Outcome"], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a cell; ``column`` is its heading, empty for the whole row."""

    row: int
    column: str
    field: str
    message: str


@dataclass
class Outcome:
    """What came of the rows so far; of the problems the first ones.

    ``columns`` says how those of numbers and dates were read, ``encoding`` is that of a text,
    ``preview`` the first rows as their records are (or as they were read, where one is refused),
    by property.
    """

    rows: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    columns: list[dict[str, Any]] = field(default_factory=list)
    encoding: str | None = None
    preview: list[dict[str, Any]] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        """Note a problem; past ``MOST_LISTED`` they are only counted."""
        self.problem_count += 1
        if len(self.problems) < MOST_LISTED:
            self.problems.append(problem)

    def refuse(self) -> ValidationError:
        """The error that lists the problems."""
        more = self.problem_count - len(self.problems)
        message = f"{self.problem_count} problems; nothing was imported."
        details = [Detail(_position(problem), problem.message) for problem in self.problems]
        return ValidationError(details, message + (f" {more} are not listed." if more else ""))


class Import:
    """One import of one table by the current caller.

    Raises: ForbiddenError, the caller may not create (or, to update, change) records of the type;
        ValidationError, a heading is no property.
    """

    def __init__(self, table: FileTable, options: Options, plan: Plan | None = None) -> None:
        """``plan``: that of a look through the whole file; else ``look`` comes before the rows."""
        rules = RULES[options.type]
        caller = current_caller()
        require(caller, rules.permissions["create"])
        if options.update is not None:
            require(caller, rules.permissions["update"])
            if UPDATE_BY[options.update] not in rules.table.c:
                raise ValidationError([("update", f"is no property of a {rules.title}")])
        self._options = options
        self._rules = rules
        self._rows = table.rows
        self._plan = plan or Plan(table.headings, options)
        self._columns = self._plan.columns
        self._seen: set[int] = set()
        self.outcome = Outcome(columns=self._plan.described(), encoding=table.encoding)

    def look(self, rows: Iterable[Row]) -> None:
        """See rows that are imported later: how their columns are written."""
        for _, cells in rows:
            self._plan.see(cells)
        self.outcome.columns = self._plan.described()

    def within_transaction(self, progress: Progress = lambda rows: None) -> Outcome:
        """Import all rows in the running transaction; each bad one is undone by itself."""
        self._take_lock()
        for first in self._rows:
            progress(self._import_chunk(first))
        self._record()
        return self.outcome

    def resume(self, outcome: Outcome) -> None:
        """Go on behind the rows that an earlier run has done."""
        self.outcome = replace(
            outcome, columns=self.outcome.columns, encoding=self.outcome.encoding
        )
        for _ in islice(self._rows, outcome.rows):
            pass

    def in_chunks(self, progress: Progress, note: Note | None = None) -> Outcome:
        """Import in transactions of up to ``CHUNK`` rows; a dry run undoes each of them.

        Others write between two of them.

        Args:
            note: keeps what was done so far, in the same transaction.
        """
        for first in self._rows:
            with transaction() as session:
                self._take_lock()
                count = self._import_chunk(first)
                if self._options.dry_run:
                    session.rollback()
                if note is not None:
                    note(self.outcome)
            progress(count)
            if db.engine.dialect.name == "sqlite":
                time.sleep(TURN_SECONDS)
        with transaction():
            self._record()
        return self.outcome

    def in_one_transaction(self, progress: Progress, note: Note | None = None) -> Outcome:
        """Import everything or, when there is a problem, nothing.

        Args:
            note: keeps what was done, at the end and in the same transaction.
        Raises: ValidationError, with the problems.
        """
        with transaction():
            if self.within_transaction(progress).problem_count:
                raise self.outcome.refuse()
            if note is not None:
                note(self.outcome)
        return self.outcome

    def _take_lock(self) -> None:
        """Wait for others that change records of the type by a file, in the running transaction.

        What two look for at once neither finds: both would make it.
        """
        if self._options.update is not None:
            advisory_lock(f"import {self._rules.name}")

    def _import_chunk(self, first: Row) -> int:
        """Import ``first`` and rows behind it, as many as one turn has time for; how many."""
        end = time.monotonic() + CHUNK_SECONDS
        count = 0
        for row in chain((first,), islice(self._rows, CHUNK - 1)):
            self._import(row)
            count += 1
            if time.monotonic() > end:
                break
        return count

    def _record(self) -> None:
        """One line of the audit log for the whole, besides those of the records."""
        if not self._options.dry_run:
            counts = {"created": self.outcome.created, "updated": self.outcome.updated,
                      "skipped": self.outcome.skipped}  # fmt: skip
            audit.record("import.completed", self._rules.name, after=counts)

    def _import(self, row: Row) -> None:
        number, cells = row
        self.outcome.rows += 1
        if any(cell != "" for cell in cells[len(self._columns) :]):
            return self._skip(number, [Detail("", "has more cells than the heading")])
        values, unread = self._plan.row_values(cells)
        preview = self._plan.preview(values) if len(self.outcome.preview) < PREVIEWED else None
        if preview is not None:
            self.outcome.preview.append(preview)
        savepoint = records.connection().begin_nested()
        try:
            key, is_new = self._write(values)
            if preview is not None and not unread:
                preview.update(self._plan.preview(self._stored(key)))
        except Exception as error:
            if isinstance(error, SQLAlchemyError) and is_away(error):
                raise  # no row is to blame
            savepoint.rollback()
            problems = [*_details(unread), *self._problems(number, error)]
            return self._skip(number, problems)
        if unread:  # written to see what else is wrong
            savepoint.rollback()
            return self._skip(number, _details(unread))
        savepoint.commit()
        self.outcome.created += is_new
        self.outcome.updated += not is_new
        return None

    def _write(self, values: dict[str, Any]) -> tuple[int, bool]:
        """Make a record, or change the one there is; its key, and whether it is a new one."""
        _resolve_named(values)
        self._refuse_twins(values)
        service = services.current[self._rules.name]
        existing = self._existing(values)
        if existing is None:
            return service.create(values), True
        service.update(existing, values)
        return existing, False

    def _stored(self, key: int) -> Mapping[str, Any]:
        """The columns of a record as they are now."""
        table = self._rules.table
        wanted = select(table).where(table.c.id == key)
        return dict(records.connection().execute(wanted).mappings().one())

    def _skip(self, number: int, details: Iterable[Detail]) -> None:
        self.outcome.skipped += 1
        headings = {column.target: column.heading for column in self._columns}
        places = {target: at for at, target in enumerate(headings)}
        for detail in sorted(details, key=lambda each: places.get(each.field, len(places))):
            heading = headings.get(detail.field, "")
            self.outcome.add(Problem(number, heading, detail.field, detail.message))

    def _problems(self, number: int, error: Exception) -> Sequence[Detail]:
        """What an error says of a row; of one that nobody expected the log says more."""
        known = from_database(error, "POST") if isinstance(error, SQLAlchemyError) else error
        if isinstance(known, ApiError):
            return known.details or (Detail("", known.message),)
        _log.error("row of an import failed", row=number, type=self._options.type, exc_info=error)
        request_id = current_request_id()
        where = f"in the log of request {request_id}" if request_id else "in the log"
        return (Detail("", f"could not be imported: an unexpected error, which is {where}"),)

    def _refuse_twins(self, values: Mapping[str, Any]) -> None:
        """A dry run undoes what it wrote, and has to remember the external ids of the file."""
        external_id = values.get("external_id")
        if external_id is None or not self._options.dry_run or self._options.update is not None:
            return
        if hash(external_id) in self._seen:
            raise ValidationError([("externalId", "stands in an earlier row, too")])
        self._seen.add(hash(external_id))

    def _existing(self, values: Mapping[str, Any]) -> int | None:
        """The record to change; None where one is to be made.

        Raises: ValidationError, there are several.
        """
        if self._options.update is None:
            return None
        attribute = UPDATE_BY[self._options.update]
        by_email = attribute == "email_form"
        value = values.get("email" if by_email else attribute)
        if value is None:
            return None
        value = email_form(str(value)) if by_email else value
        keys = _find(self._rules.table, attribute, value, self._rules.permissions["read"])
        if len(keys) > 1:
            raise ValidationError([(self._options.update, f"is that of {len(keys)} records")])
        return keys[0] if keys else None


def _resolve_named(values: dict[str, Any]) -> None:
    """``clientExternalId`` or ``clientName`` -> the client, ``ownerName`` -> the owner.

    Raises: ValidationError, there is none that the caller may read, or there are several.
    """
    for name, attribute, keys_of in _NAMED:
        text = values.pop(name, None)
        if text is None:
            continue
        keys = keys_of(text)
        if not keys:
            raise ValidationError([(name, f"there is no such record: {text}")])
        if len(keys) > 1:
            raise ValidationError([(name, f"there are several such records: {text}")])
        if values.setdefault(attribute, keys[0]) != keys[0]:
            raise ValidationError([(name, "is another record than the row names besides")])


def _clients(attribute: str, text: str) -> list[int]:
    return _find(RULES["client"].table, attribute, text, "clients:read")


def _users(text: str) -> list[int]:
    """The people with an account in use that are called so; two at most."""
    called = or_(
        User.username_key == fold_name(text),
        func.lower(User.email) == text.lower(),
        User.display_name == text,
    )
    wanted = select(User.id).where(User.kind == "person", User.status == "active", called)
    return list(records.connection().scalars(wanted.order_by(User.id).limit(2)))


# What a file names otherwise than by its key: property, attribute of the key, the keys.
_NAMED: Sequence[tuple[str, str, Callable[[str], list[int]]]] = (
    (CLIENT_EXTERNAL_ID, "client_id", partial(_clients, "external_id")),
    (CLIENT_NAME, "client_id", partial(_clients, "name")),
    (OWNER_NAME, "owner_id", _users),
)


def look_through(path: Path, options: Options, pause: Progress) -> Plan:
    """The plan for a file, once all of its rows were seen.

    Args:
        pause: called with the rows since the last call.
    Raises: ValidationError, a heading is no property; what ``open_table`` raises.
    """
    with open_table(path, JOB, options.encoding) as table:
        plan = Plan(table.headings, options)
        if plan.needs_look:
            for number, (_, cells) in enumerate(table.rows, start=1):
                plan.see(cells)
                if number % LOOK == 0:
                    pause(LOOK)
    return plan


def _find(table: Any, attribute: str, value: Any, permission: str) -> list[int]:
    """The keys of rows with a value that the caller may read; two at most."""
    owning = [table.c[name] for name in OWNING_COLUMNS if name in table.c]
    statement = select(table.c.id, *owning).where(table.c[attribute] == str(value))
    rows = records.connection().execute(statement.order_by(table.c.id))
    caller = current_caller()
    return list(islice((row.id for row in rows if allowed(caller, permission, row)), 2))


def _details(problems: Iterable[tuple[str, str]]) -> list[Detail]:
    return [Detail(field, message) for field, message in problems]


def _position(problem: Problem) -> str:
    name = problem.column or problem.field
    return f"row {problem.row}" + (f", {name}" if name else "")
