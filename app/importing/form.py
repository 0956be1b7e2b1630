"""The form of an import: a file and options, read as they come in."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.errors import TooLargeError, ValidationError
from app.http.body_stream import note_fingerprint
from app.http.json_body import parse_json
from app.http.multipart import Form
from app.importing.columns import (
    ALL_OR_NOTHING,
    SIGNS,
    SKIP_BAD,
    TYPES,
    UNKNOWN_COLUMNS,
    UPDATE_BY,
    Options,
)
from app.importing.tables import ENCODINGS
from app.odata.payload.reader import snake
from app.written.dates import ORDERS

FILE_PART = "file"
_BOOLEANS = {"true": True, "false": False, "": False}
# What a field may say; blank is what is usual.
_CHOICES: Mapping[str, Collection[str]] = {
    "type": TYPES,
    "mode": (ALL_OR_NOTHING, SKIP_BAD),
    "update": (*UPDATE_BY, ""),
    "dryRun": tuple(_BOOLEANS),
    "decimalSign": (*SIGNS, ""),
    "dateOrder": (*ORDERS, ""),
    "encoding": (*ENCODINGS, ""),
    "unknownColumns": (*UNKNOWN_COLUMNS, ""),
}


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
    for name in (*fields, *problems):
        if name not in (*_CHOICES, "mapping"):
            problems[name] = "is no field of this form"
    if not has_file:
        problems[FILE_PART] = "is required"
    if "type" not in fields:
        problems.setdefault("type", "is required")
    for name, known in _CHOICES.items():
        if name in fields and fields[name] not in known:
            allowed = ", ".join(value for value in known if value)
            problems[name] = f"must be one of {allowed}"
    mapping: dict[str, Any] = {}
    try:
        mapping = _mapping(fields.get("mapping") or "{}")
    except (ValidationError, ValueError):
        message = 'must be a JSON object such as {"Company": "name", "Rank": null}'
        problems["mapping"] = message
    if problems:
        raise ValidationError(problems.items())
    values: dict[str, Any] = {snake(name): text for name, text in fields.items() if text}
    dry_run = _BOOLEANS[fields.get("dryRun", "")]
    return Options(**{**values, "mapping": mapping, "dry_run": dry_run})


def _mapping(text: str) -> dict[str, Any]:
    mapping = parse_json(text.encode())
    if not isinstance(mapping, dict) or len(mapping) > 500:
        raise ValueError("no object")
    if not all(value is None or isinstance(value, str) for value in mapping.values()):
        raise ValueError("no names")
    return mapping
