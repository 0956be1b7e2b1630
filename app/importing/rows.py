"""Importing a table: each row is created or changed by the service of its entity."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Table, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from app import audit
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
from app.writing.formats import fold_name
from app.writing.normal_forms import email_form
from app.writing.services import SERVICES
from app.writing.validation import validate

_log = structlog.get_logger(__name__)
MOST_LISTED = 200
# Rows that are shown.
PREVIEWED = 5
# Rows that are written together, and between two commits where bad ones are skipped or nothing is
# kept; slow ones are fewer.
CHUNK = 200
CHUNK_SECONDS = 0.25
# Rows between two pauses while a file is looked through.
LOOK = 5000
# SQLite lets one process write at a time, and those that wait look only every tenth of a second.
TURN_SECONDS = 0.15
Progress = Callable[[int], None]
Note = Callable[["Outcome"], None]
Keys = Sequence[int]
# Property -> what cells say -> the keys of what is called so, two at most.
NamedKeys = Mapping[str, Mapping[str, Keys]]


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
        message = f"Nothing was imported; problems: {self.problem_count}."
        details = [Detail(_position(problem), problem.message) for problem in self.problems]
        return ValidationError(details, message + (f" Not listed: {more}." if more else ""))


@dataclass(frozen=True, slots=True)
class Draft:
    """A row of the file, read and validated, which needs no database.

    ``values`` are by attribute, and ``unread`` says what is wrong with other cells. ``cleaned`` are
    the values as a record can have them, None where something is wrong; a row that does not ``fit``
    has more cells than the heading.
    """

    number: int
    values: dict[str, Any]
    unread: list[Detail]
    cleaned: dict[str, Any] | None
    fits: bool = True


@dataclass(frozen=True, slots=True)
class _Good:
    """A row with the values of its record, and the key of the one to change."""

    draft: Draft
    values: dict[str, Any]
    keys: Keys

    @property
    def is_new(self) -> bool:
        return not self.keys


class Import:
    """One import of one table by the current caller.

    Rows are written together: where the database refuses one of them, all of these are undone and
    written one by one.

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
        self._service = SERVICES[rules.name]
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

    def within_transaction(self) -> Outcome:
        """Import all rows in the running transaction; each bad one is undone by itself.

        All are read before the first one is written.
        """
        return self._write_all(list(self.read_rows()), lambda rows: None)

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
        rows = self.read_rows()
        while portion := _portion(rows):
            with transaction() as session:
                self._take_lock()
                self._write_portion(portion)
                if self._options.dry_run:
                    session.rollback()
                if note is not None:
                    note(self.outcome)
            progress(len(portion))
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
            if self._write_all(self.read_rows(), progress).problem_count:
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

    def read_rows(self) -> Iterator[Draft]:
        """The rows of the file, read and validated."""
        for number, cells in self._rows:
            if any(cell != "" for cell in cells[len(self._columns) :]):
                problem = Detail("", "has more cells than the heading")
                yield Draft(number, {}, [problem], None, fits=False)
                continue
            values, unread = self._plan.row_values(cells)
            own = {name: value for name, value in values.items() if name not in _NAMED}
            cleaned, problems = validate(self._rules, own, partial=True)
            is_good = not (problems or unread)
            yield Draft(number, values, _details(unread), cleaned if is_good else None)

    def _write_all(self, rows: Iterable[Draft], progress: Progress) -> Outcome:
        waiting = iter(rows)
        self._take_lock()
        while portion := list(islice(waiting, CHUNK)):
            self._write_portion(portion)
            progress(len(portion))
        self._record()
        return self.outcome

    def _write_portion(self, drafts: Sequence[Draft]) -> None:
        """Write the rows in their order: those that look good with few statements."""
        named = _named_keys(drafts)
        wanted = {value for draft in drafts if (value := self._update_value(draft)) is not None}
        present: dict[str, Keys | None] = {**self._find(wanted)}
        taken = self._taken_ids(drafts)
        together: list[_Good] = []
        for draft in drafts:
            self.outcome.rows += 1
            keys: Keys | None = ()
            if (value := self._update_value(draft)) is not None:
                keys = present.get(value, ())
                present[value] = None  # the next row with the same has to look for it
            external_id = draft.values.get("external_id")
            is_taken = external_id in taken and not keys
            if external_id is not None:
                taken.add(external_id)
            good = None if is_taken else self._good(draft, named, keys)
            if good is None or (together and together[-1].is_new != good.is_new):
                self._write_together(together, named)
                together = []
            if good is None:
                self._write_singly(draft, named, keys)
            else:
                together.append(good)
        self._write_together(together, named)

    def _good(self, draft: Draft, named: NamedKeys, keys: Keys | None) -> _Good | None:
        """The row, if it can be written with others: by itself it tells what is wrong with it."""
        if draft.cleaned is None or keys is None or len(keys) > 1:
            return None
        if self._is_twin(draft) or len(self.outcome.preview) < PREVIEWED:
            return None
        try:
            values = _resolve_named(draft.cleaned, draft.values, named)
        except ValidationError:
            return None
        if not keys and not values.keys() >= {*self._rules.required}:
            return None
        return _Good(draft, values, keys)

    def _write_together(self, rows: Sequence[_Good], named: NamedKeys) -> None:
        """Make or change records with few statements, or one by one if there is anything wrong."""
        if not rows:
            return
        is_new = rows[0].is_new
        savepoint = records.connection().begin_nested()
        try:
            if is_new:
                self._service.create_all(
                    [self._service.draft(row.values, problems=()) for row in rows]
                )
            else:
                revisions = [self._service.revision(row.keys[0], row.values) for row in rows]
                self._service.update_all(revisions)
        except Exception as error:
            if isinstance(error, SQLAlchemyError) and is_away(error):
                raise  # no row is to blame
            savepoint.rollback()
            for row in rows:
                self._write_singly(row.draft, named, row.keys)
            return
        savepoint.commit()
        for row in rows:
            self._note_id(row.draft)
            self._count(is_new)

    def _write_singly(self, draft: Draft, named: NamedKeys, keys: Keys | None) -> None:
        if not draft.fits:
            return self._skip(draft.number, draft.unread)
        preview = None
        if len(self.outcome.preview) < PREVIEWED:
            preview = self._plan.preview(draft.values)
            self.outcome.preview.append(preview)
        savepoint = records.connection().begin_nested()
        try:
            key, is_new = self._write(draft, named, keys)
            if preview is not None and not draft.unread:
                preview.update(self._plan.preview(self._stored(key)))
        except Exception as error:
            if isinstance(error, SQLAlchemyError) and is_away(error):
                raise  # no row is to blame
            savepoint.rollback()
            problems = [*draft.unread, *self._problems(draft.number, error)]
            return self._skip(draft.number, problems)
        if draft.unread:  # written to see what else is wrong
            savepoint.rollback()
            return self._skip(draft.number, draft.unread)
        savepoint.commit()
        self._count(is_new)
        return None

    def _count(self, is_new: bool) -> None:
        self.outcome.created += is_new
        self.outcome.updated += not is_new

    def _write(self, draft: Draft, named: NamedKeys, keys: Keys | None) -> tuple[int, bool]:
        """Make a record, or change the one there is; its key, and whether it is a new one."""
        values = _resolve_named(draft.values, draft.values, named)
        if self._is_twin(draft):
            raise ValidationError([("externalId", "stands in an earlier row, too")])
        self._note_id(draft)
        if keys is None:
            value = self._update_value(draft) or ""
            keys = self._find({value}).get(value, ())
        if len(keys) > 1:
            raise ValidationError([(self._options.update or "", f"is that of {len(keys)} records")])
        if not keys:
            return self._service.create(values), True
        self._service.update(keys[0], values)
        return keys[0], False

    def _record(self) -> None:
        """One line of the audit log for the whole, besides those of the records."""
        if not self._options.dry_run:
            counts = {"created": self.outcome.created, "updated": self.outcome.updated,
                      "skipped": self.outcome.skipped}  # fmt: skip
            audit.record("import.completed", self._rules.name, after=counts)

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

    def _is_twin(self, draft: Draft) -> bool:
        """A dry run undoes what it wrote, and has to remember the external ids of the file."""
        external_id = draft.values.get("external_id")
        return external_id is not None and hash(external_id) in self._seen

    def _note_id(self, draft: Draft) -> None:
        if self._options.dry_run and self._options.update is None:
            self._seen.add(hash(draft.values.get("external_id")))

    def _update_value(self, draft: Draft) -> str | None:
        """What the record to change is found by; None where one is to be made."""
        if self._options.update is None:
            return None
        attribute = UPDATE_BY[self._options.update]
        by_email = attribute == "email_form"
        value = draft.values.get("email" if by_email else attribute)
        return email_form(str(value)) if by_email and value is not None else value

    def _taken_ids(self, drafts: Sequence[Draft]) -> set[str]:
        """The external ids of the rows that records have."""
        column = self._rules.table.c.external_id
        ids = {each for draft in drafts if (each := draft.values.get("external_id")) is not None}
        if not ids:
            return set()
        return set(records.connection().scalars(select(column).where(column.in_(ids))))

    def _find(self, values: set[str]) -> Mapping[str, Keys]:
        """The records to change, by what they are found by."""
        if self._options.update is None:
            return {}
        attribute, permission = UPDATE_BY[self._options.update], self._rules.permissions["read"]
        return _find(self._rules.table, attribute, permission, values)


def _resolve_named(
    values: Mapping[str, Any], read: Mapping[str, Any], named: NamedKeys
) -> dict[str, Any]:
    """``clientExternalId`` or ``clientName`` -> the client, ``ownerName`` -> the owner.

    Args:
        values: those of a record; ``read`` are those of the row that it comes from.
    Raises: ValidationError, there is none that the caller may read, or there are several.
    """
    resolved = {name: value for name, value in values.items() if name not in _NAMED}
    for name, (attribute, _) in _NAMED.items():
        text = read.get(name)
        if text is None:
            continue
        keys = named[name].get(text, ())
        if not keys:
            raise ValidationError([(name, f"there is no such record: {text}")])
        if len(keys) > 1:
            raise ValidationError([(name, f"there are several such records: {text}")])
        if resolved.setdefault(attribute, keys[0]) != keys[0]:
            raise ValidationError([(name, "is another record than the row names besides")])
    return resolved


def _named_keys(drafts: Sequence[Draft]) -> NamedKeys:
    """Those of all records that the rows name."""
    named: dict[str, Mapping[str, Keys]] = {}
    for name, (_, keys_of) in _NAMED.items():
        texts = {draft.values[name] for draft in drafts if name in draft.values}
        named[name] = keys_of(texts) if texts else {}
    return named


def _users(texts: set[str]) -> dict[str, Keys]:
    """The people with an account in use that are called so."""
    keys = {}
    for text in texts:
        called = or_(
            User.username_key == fold_name(text),
            func.lower(User.email) == text.lower(),
            User.display_name == text,
        )
        wanted = select(User.id).where(User.kind == "person", User.status == "active", called)
        keys[text] = records.connection().scalars(wanted.order_by(User.id).limit(2)).all()
    return keys


def _find(table: Table, attribute: str, permission: str, values: set[str]) -> Mapping[str, Keys]:
    """Value -> the keys of rows with it that the caller may read, two at most."""
    column = table.c[attribute]
    owning = [table.c[name] for name in OWNING_COLUMNS if name in table.c]
    statement = select(column.label("value"), table.c.id, *owning).where(column.in_(values))
    keys: dict[str, list[int]] = {}
    caller = current_caller()
    for row in records.connection().execute(statement.order_by(table.c.id)):
        readable = keys.setdefault(row.value, [])
        if len(readable) < 2 and allowed(caller, permission, row):
            readable.append(row.id)
    return keys


_find_clients = partial(_find, RULES["client"].table)
# What a file names otherwise than by its key: property -> attribute of the key, the keys.
_NAMED: Mapping[str, tuple[str, Callable[[set[str]], Mapping[str, Keys]]]] = {
    CLIENT_EXTERNAL_ID: ("client_id", partial(_find_clients, "external_id", "clients:read")),
    CLIENT_NAME: ("client_id", partial(_find_clients, "name", "clients:read")),
    OWNER_NAME: ("owner_id", _users),
}


def _portion(rows: Iterator[Draft]) -> list[Draft]:
    """The next rows, as many as a portion may have and are read in its time."""
    end = time.monotonic() + CHUNK_SECONDS
    portion = []
    for draft in islice(rows, CHUNK):
        portion.append(draft)
        if time.monotonic() > end:
            break
    return portion


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


def _details(problems: Iterable[tuple[str, str]]) -> list[Detail]:
    return [Detail(field, message) for field, message in problems]


def _position(problem: Problem) -> str:
    name = problem.column or problem.field
    return f"row {problem.row}" + (f", {name}" if name else "")
