"""The picture of the first page of a document, for whoever may read it."""

from __future__ import annotations

from typing import Any

from flask import Response
from sqlalchemy import select
from werkzeug.http import is_resource_modified

from app.blobs import blobs
from app.db import records
from app.documents.inspection.pictures import has_picture
from app.documents.service import DOCUMENTS
from app.documents.serving import POLICY, FileRequest
from app.documents.versions import FileVersion, find_version
from app.errors import NotFoundError
from app.http.security import current_caller
from app.models.document import DocumentContent


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
        del response.headers["Content-Type"]
    else:
        content_stream = (
            () if file_request.method == "HEAD" else blobs.current.stream(content.preview_key)
        )
        response = Response(content_stream, mimetype="image/png", direct_passthrough=True)
        response.headers["Content-Disposition"] = "inline"
        response.headers["Content-Security-Policy"] = POLICY
    response.set_etag(etag)
    return response


def picture_of(file: FileVersion) -> bytes | None:
    """The picture of a file, as PNG; None where there is none (yet)."""
    content = _content(file)
    if content is None or content.preview_key is None:
        return None
    return b"".join(blobs.current.stream(content.preview_key))


def _content(file: FileVersion) -> Any:
    wanted = select(DocumentContent.preview_key, DocumentContent.state)
    with records.looking() as connection:
        return connection.execute(wanted.where(DocumentContent.version_id == file.id)).first()
