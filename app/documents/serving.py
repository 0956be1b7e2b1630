"""A file as the answer to a request: ranges, conditions, and headers that let nothing run.

Whatever the type, a browser saves the file and neither shows nor guesses it; memory does not grow
with its size (RFC 9110 sections 13 and 14). What is shown is a picture of its first page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Response, current_app
from sqlalchemy import select
from werkzeug.datastructures import Headers, Range
from werkzeug.http import http_date, is_resource_modified, parse_if_range_header, parse_range_header

from app.blobs import blobs
from app.db import records
from app.documents.inspection.pictures import has_picture
from app.documents.service import DOCUMENTS
from app.errors import (
    InvalidStateError,
    NotFoundError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
)
from app.http.dispositions import content_disposition
from app.http.security import current_caller
from app.models.document import Document, DocumentContent, DocumentVersion


def find_version(document: Document, number: int | None = None) -> DocumentVersion:
    """The current file of a document, or an earlier one; whoever asks.

    Raises: NotFoundError, there is no such version; InvalidStateError, the document waits for its
        file, or is quarantined.
    """
    require_open(document)
    version_number = document.file_version if number is None else number
    statement = select(DocumentVersion).where(
        DocumentVersion.document_id == document.id, DocumentVersion.number == version_number
    )
    with records.looking() as connection:
        file = records.find(statement, of=connection)
    if file is None:
        raise NotFoundError(
            f"Document {document.id} has no version {version_number}.",
            [("version", "is not there")],
        )
    return file


def require_open(document: Document) -> None:
    """Refuse a document whose bytes are not given out.

    Raises: InvalidStateError.
    """
    status = document.status
    if status == "Quarantined":
        raise InvalidStateError(
            "The document is quarantined: an administrator has to release it first.",
            [("status", "is Quarantined")],
        )
    if document.file_version == 0:
        raise InvalidStateError("The document has no file yet.", [("status", f"is {status}")])


# For a browser that shows it in spite of everything: no script, no frame, no origin.
POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
REDIRECT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class FileRequest:
    """What a request says about the file that it wants; no more is read of it."""

    method: str
    headers: Headers

    @property
    def conditions(self) -> dict[str, str]:
        """The conditional headers as a WSGI environment, which werkzeug reads."""
        names = ("If-None-Match", "If-Modified-Since")
        conditional = {
            name: value for name in names if (value := self.headers.get(name)) is not None
        }
        environ = {
            f"HTTP_{name.upper().replace('-', '_')}": text for name, text in conditional.items()
        }
        return {"REQUEST_METHOD": "GET", **environ}


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer, and whether it gives the file out from its beginning."""

    response: Response
    is_download: bool


def deliver(
    file: DocumentVersion,
    file_request: FileRequest,
    *,
    whole: bool = False,
    through_server: bool = False,
) -> Delivery:
    """The answer that gives a file out, or says that it is as it was.

    Args:
        whole: no ranges, no redirect: every answer counts against a limit.
        through_server: no redirect.
    Raises: PreconditionFailedError; RangeNotSatisfiableError; ServiceUnavailableError, the store
        is away.
    """
    _require_match(file, file_request)
    if not is_resource_modified(
        file_request.conditions, file.sha256, last_modified=file.created_at
    ):
        return Delivery(_with_validators(Response(status=304), file), is_download=False)
    span = None if whole else _span(file, file_request)
    start, end = span or (0, file.size)
    is_download = file_request.method != "HEAD" and start == 0
    may_redirect = not whole and not through_server and file_request.method != "HEAD"
    if may_redirect and (address := _address(file)) is not None:
        return Delivery(Response(status=302, headers={"Location": address}), is_download)
    # Opened before the answer begins, so that a store that is away is a 503.
    content = (
        () if file_request.method == "HEAD" else blobs.current.stream(file.blob_key, start, end)
    )
    response = Response(content, status=206 if span else 200, direct_passthrough=True)
    headers = response.headers
    headers["Content-Type"] = file.content_type
    headers["Content-Length"] = str(end - start)
    headers["Content-Disposition"] = content_disposition("attachment", file.file_name)
    headers["Content-Security-Policy"] = POLICY
    headers["Accept-Ranges"] = "none" if whole else "bytes"
    if span:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    return Delivery(_with_validators(response, file), is_download)


def _require_match(file: DocumentVersion, file_request: FileRequest) -> None:
    if_match = file_request.headers.get("If-Match")
    if if_match is None or if_match.strip() == "*":
        return
    if f'"{file.sha256}"' not in [tag.strip() for tag in if_match.split(",")]:
        raise PreconditionFailedError("The file is another one now.")


def _span(file: DocumentVersion, file_request: FileRequest) -> tuple[int, int] | None:
    """First byte and the one behind the last; None for all: no range, or more than one."""
    asked_range: Range | None = parse_range_header(file_request.headers.get("Range"))
    if asked_range is None or asked_range.units != "bytes" or len(asked_range.ranges) != 1:
        return None
    if not _is_still(file, file_request.headers.get("If-Range")):
        return None
    start, end = asked_range.ranges[0]
    if start < 0:  # the last bytes; all of them where there are not so many
        start, end = max(0, file.size + start), None
    if start >= file.size:
        raise RangeNotSatisfiableError(
            f"The file has {file.size} bytes.", headers={"Content-Range": f"bytes */{file.size}"}
        )
    return start, file.size if end is None else min(end, file.size)


def _is_still(file: DocumentVersion, text: str | None) -> bool:
    """Whether the rest that is asked for belongs to this file (RFC 9110, 13.1.5)."""
    if not text:
        return True
    condition = parse_if_range_header(text)
    if condition.date is not None:
        return condition.date == file.created_at.replace(microsecond=0)
    return condition.etag == file.sha256 and not text.startswith("W/")


def _address(file: DocumentVersion) -> str | None:
    if not current_app.config["STORAGE_REDIRECT"]:
        return None
    return blobs.current.sign(file.blob_key, REDIRECT_SECONDS)


def _with_validators(response: Response, file: DocumentVersion) -> Response:
    response.set_etag(file.sha256)
    response.headers["Last-Modified"] = http_date(file.created_at)
    if response.status_code == 304:
        del response.headers["Content-Type"]
    return response


def download_document(key: int, file_request: FileRequest, version: int | None = None) -> Response:
    """The bytes of a document that the caller may read; a whole download is counted.

    Args:
        version: number of the file; None for the current one.
    Raises: NotFoundError; InvalidStateError, it waits for its file or is quarantined; as
        ``deliver``.
    """
    document = DOCUMENTS.readable_document(key, current_caller())
    file = find_version(document, version)
    delivery = deliver(file, file_request)
    if delivery.is_download:
        DOCUMENTS.count_download(key)
    return delivery.response


def preview_document(key: int, file_request: FileRequest, version: int | None = None) -> Response:
    """The picture, as PNG.

    Raises: NotFoundError, no such document, or there is no picture of it (yet);
        InvalidStateError, it waits for its file or is quarantined.
    """
    document = DOCUMENTS.readable_document(key, current_caller())
    file = find_version(document, version)
    content = _content(file)
    if content is None or content.preview_key is None:
        waits = (
            content is not None and content.state == "Waiting" and has_picture(file.content_type)
        )
        raise NotFoundError(
            "The picture is being made: ask again in a moment."
            if waits
            else f"There are no pictures of {file.content_type}."
        )
    etag = f"{file.sha256}-preview"
    if not is_resource_modified(file_request.conditions, etag):
        response = Response(status=304)
    else:
        content_stream = (
            () if file_request.method == "HEAD" else blobs.current.stream(content.preview_key)
        )
        response = Response(content_stream, mimetype="image/png", direct_passthrough=True)
        response.headers["Content-Disposition"] = "inline"
        response.headers["Content-Security-Policy"] = POLICY
    response.set_etag(etag)
    return response


def picture_of(file: DocumentVersion) -> bytes | None:
    """The picture of a file, as PNG; None where there is none (yet)."""
    content = _content(file)
    if content is None or content.preview_key is None:
        return None
    return b"".join(blobs.current.stream(content.preview_key))


def _content(file: DocumentVersion) -> Any:
    statement = select(DocumentContent.preview_key, DocumentContent.state)
    with records.looking() as connection:
        return connection.execute(statement.where(DocumentContent.version_id == file.id)).first()
