"""The form of an import: a file and options, read as they come in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from marshmallow import ValidationError as SchemaError

from app.errors import TooLargeError, ValidationError
from app.http.areas import field_problems
from app.http.body_stream import note_fingerprint
from app.http.multipart import Form
from app.importing.columns import Options
from app.importing.schemas import ImportOptionsSchema

FILE_PART = "file"


@contextmanager
def read_import(form: Form, maximum_bytes: int) -> Iterator[tuple[Path, str, Options]]:
    """The file, its name and the options of an import; the file is gone at the end.

    Raises: ValidationError, with every problem; TooLargeError.
    """
    with tempfile.TemporaryDirectory(prefix="import-") as folder:
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
