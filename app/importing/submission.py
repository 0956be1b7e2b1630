"""A file that somebody sends: imported at once, or left to the worker when it is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from marshmallow import ValidationError as SchemaError

from app.errors import TooLargeError, ValidationError
from app.extensions import db
from app.http.areas import field_problems
from app.http.body_stream import note_fingerprint
from app.http.multipart import Form
from app.http.security import current_caller
from app.importing.columns import RULES, SKIP_BAD, Options
from app.importing.jobs import queue_import
from app.importing.limits import REQUEST, TooMuchError
from app.importing.rows import Import, Outcome
from app.importing.schemas import ImportOptionsSchema
from app.importing.tables import open_table
from app.jobs.scratch import scratch_folder
from app.permissions import require

FILE_PART = "file"


@contextmanager
def read_import(form: Form, maximum_bytes: int) -> Iterator[tuple[Path, str, Options]]:
    """The file, its name and the options of an import; the file is gone at the end.

    Raises: ValidationError, with every problem; TooLargeError.
    """
    with scratch_folder("import-") as folder:
        path = Path(folder) / "table"
        name, fields, problems = _read(form, path, maximum_bytes)
        note_fingerprint(form.fingerprint)
        yield path, name, _options(fields, problems, has_file=path.exists())


def _read(form: Form, path: Path, maximum_bytes: int) -> tuple[str, dict[str, str], dict[str, str]]:
    """The name of the file, the fields, and what is wrong with those that could not be read."""
    name, fields, problems = "", {}, {}
    for part in form.parts():
        if part.name == FILE_PART and part.file_name is not None and not path.exists():
            name = part.file_name[:255]
            _save(part.chunks, path, maximum_bytes)
            continue
        try:
            fields[part.name] = part.text()
        except ValidationError as error:
            problems[part.name] = error.details[0].message
    return name, fields, problems


def _save(chunks: Iterator[bytes], path: Path, maximum_bytes: int) -> None:
    size = 0
    with path.open("wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > maximum_bytes:
                raise TooLargeError(f"The file has more than {maximum_bytes} bytes.")
            file.write(chunk)


def _options(fields: dict[str, str], problems: dict[str, str], *, has_file: bool) -> Options:
    """What the fields say; where one may be left out, a blank one is."""
    schema = ImportOptionsSchema()
    optional = {field.data_key for field in schema.fields.values() if not field.required}
    values: Any = {}
    try:
        values = schema.load({
            name: text for name, text in fields.items() if text or name not in optional
        })  # fmt: skip
    except SchemaError as error:
        problems = {**dict(field_problems(error.messages)), **problems}
    if not has_file:
        problems[FILE_PART] = "is required"
    if problems:
        raise ValidationError(problems.items())
    return Options(**values)


# More rows than a request may take the time for.
MOST_AT_ONCE = 1000


def import_file(
    path: Path,
    name: str,
    options: Options,
    begin: Callable[[Sequence[str], Options], Options] = lambda headings, options: options,
) -> Outcome | int:
    """Import a file; returns what came of it or, for a long one, the key of its job.

    What is too much to be read in a request is left to the worker unread. A dry run leaves nothing
    behind, and its outcome has the problems.

    Args:
        begin: is told the headings, and returns the options to go on with.
    Raises: ValidationError, with the problems, when all or nothing was wanted; ForbiddenError;
        what ``open_table`` raises.
    """
    try:
        with open_table(path, REQUEST, options.encoding) as table:
            options = begin(table.headings, options)
            first = list(islice(table.rows, MOST_AT_ONCE + 1))
            running = Import(replace(table, rows=chain(first, table.rows)), options)
            if len(first) > MOST_AT_ONCE:
                return queue_import(path, name, options)
            running.look(first)
            outcome = running.within_transaction()
    except TooMuchError:
        require(current_caller(), RULES[options.type].permissions["create"])
        return queue_import(path, name, options)
    if options.dry_run:
        db.session.rollback()
    elif outcome.problem_count and options.mode != SKIP_BAD:
        raise outcome.refuse()
    return outcome
