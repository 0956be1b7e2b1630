"""Downloading by somebody who may read the document."""

from __future__ import annotations

from flask import Response

from app.documents.service import DOCUMENTS
from app.documents.serving import Asked, deliver
from app.documents.versions import find_version
from app.http.security import current_caller


def download_document(key: int, asked: Asked, version: int | None = None) -> Response:
    """The bytes of a document that the caller may read; a whole download is counted.

    Args:
        version: number of the file; None for the current one.
    Raises: NotFoundError; InvalidStateError, it waits for its file or is quarantined; as
        ``deliver``.
    """
    document = DOCUMENTS.found(key, current_caller())
    file = find_version(document, version)
    delivery = deliver(file, asked)
    if delivery.is_download:
        DOCUMENTS.count_download(key)
    return delivery.response
