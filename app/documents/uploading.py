"""Uploading: a new document, or a new version of one, from a form or from raw bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.documents.files import StoredFile, discard, discarded_on_error, store_file
from app.documents.schemas import EXISTING, FILE_PART, UPLOAD_PARTS
from app.documents.service import DOCUMENT, DOCUMENTS
from app.errors import Detail, ValidationError, naming, refuse_any, telling_all
from app.http.body_stream import maximum_upload, note_fingerprint
from app.http.json_body import parse_json
from app.http.multipart import Form, Part
from app.http.schema_fields import UNKNOWN
from app.writing.validation import read_properties


@dataclass(frozen=True, slots=True)
class Upload:
    """A form that was read: its file lies in the store."""

    file: StoredFile
    options: Mapping[str, Any]
    document_id: int | None


def read_upload(form: Form) -> Upload:
    """Read a form; its file goes into the store as it comes in.

    Raises: ValidationError, with every problem of the form and of what its options say; whatever
        ``store_file`` raises. Nothing is left in the store then.
    """
    file: StoredFile | None = None
    texts: dict[str, list[str]] = {}
    problems: list[Detail] = []
    try:
        for part in form.parts():
            try:
                if part.name == FILE_PART and file is None:
                    file = _store(part)
                else:
                    text = _text(part)
                    texts.setdefault(part.name, []).append(text)
            except ValidationError as error:
                problems += error.details
        note_fingerprint(form.fingerprint)
        options, unread = _read_options(texts)
        problems += unread
        if file is None and FILE_PART not in {problem.field for problem in problems}:
            problems.append(Detail(FILE_PART, "is required"))
        document_id = options.pop(EXISTING, None)
        with telling_all(lambda: _check(options, document_id)):
            refuse_any(problems)
    except Exception:
        if file is not None:
            discard(file)
        raise
    assert file is not None  # its absence was refused
    return Upload(file, options, document_id)


def _check(options: Mapping[str, Any], document_id: int | None) -> None:
    """Look at the options of a form that is refused.

    Raises: ValidationError.
    """
    values = read_properties(DOCUMENT, options)
    # A new document has its name from the file where the form gives none.
    settled = () if "name" in values else ("name",)
    is_change = document_id is not None
    refuse_any(DOCUMENTS.problems(values, partial=is_change, settled=settled, key=document_id))


def upload_document(upload: Upload) -> int:
    """Make the document of an upload, or a new version of the one that it names; its key.

    Raises: as ``DOCUMENTS.create`` and ``DOCUMENTS.add_file``.
    """
    with discarded_on_error(upload.file):
        values = read_properties(DOCUMENT, upload.options)
        if upload.document_id is None:
            key = DOCUMENTS.create({"name": upload.file.name, **values})
            DOCUMENTS.add_file(key, upload.file)
        else:
            key = upload.document_id
            with naming(EXISTING):
                if values:
                    DOCUMENTS.update(key, values)
                DOCUMENTS.add_file(key, upload.file)
    return key


def replace_file(
    key: int, chunks: Iterable[bytes], name: str | None, version: int | None = None
) -> None:
    """Give a document new bytes; those of before stay as an older version.

    Args:
        name: of the file; None keeps the one that it has.
        version: the row version that must still stand.
    Raises: NotFoundError; ForbiddenError; InvalidStateError, before anything is stored;
        PreconditionFailedError; whatever ``store_file`` raises.
    """
    document = DOCUMENTS.find_writable(key, version)
    file = store_file(chunks, name or document.file_name or document.name, maximum_upload())
    with discarded_on_error(file):
        DOCUMENTS.add_file(key, file, version)


def _store(part: Part) -> StoredFile:
    if part.file_name is None:
        raise ValidationError([(FILE_PART, "must be sent as a file: with a name, as forms do")])
    return store_file(part.chunks, part.file_name, maximum_upload())


def _text(part: Part) -> str:
    if part.file_name is not None or part.name == FILE_PART:
        problem = f"The form takes one file, in the field {FILE_PART}."
        raise ValidationError([(part.name or FILE_PART, problem)])
    return part.text()


def _read_options(texts: Mapping[str, list[str]]) -> tuple[dict[str, Any], list[Detail]]:
    """The options that could be read, and what is wrong with the others."""
    options: dict[str, Any] = {}
    problems = []
    for name, values in texts.items():
        if name not in UPLOAD_PARTS:
            problems.append(Detail(name, UNKNOWN))
        elif name == "tags":
            try:
                options[name] = _tags(values)
            except ValidationError as error:
                problems += error.details
        elif len(values) > 1:
            problems.append(Detail(name, "is there twice"))
        elif values[0] == "":
            continue  # a form sends the fields that were left empty, too
        elif UPLOAD_PARTS[name]["type"] == "integer":
            if not values[0].isascii() or not values[0].isdecimal() or len(values[0]) > 18:
                problems.append(Detail(name, "must be a whole number"))
            else:
                options[name] = int(values[0])
        else:
            options[name] = values[0]
    return options, problems


def _tags(values: list[str]) -> Any:
    """``["a", "b"]`` from two fields, from ``a, b`` in one, or from a JSON list in one."""
    if len(values) > 1:
        return values
    text = values[0].strip()
    if text.startswith("["):
        try:
            return parse_json(text.encode())
        except ValidationError as error:
            raise ValidationError([("tags", "is no JSON list")]) from error
    return [tag.strip() for tag in text.split(",") if tag.strip()]
