"""Documents as media entities: their bytes by ``Documents(1)/$value`` (Protocol 11.2.3, 11.4.7)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from flask import Response
from werkzeug.datastructures import Headers

from app.documents.files import store_file
from app.documents.service import DocumentService
from app.documents.serving import FileRequest, download_document
from app.documents.uploading import Upload, replace_file, upload_document
from app.http.body_stream import maximum_upload
from app.http.security import current_caller
from app.permissions import require

# What a file is called that came without a name.
UNNAMED = "document"


class MediaDocuments(DocumentService):
    """The writes of documents, and their bytes, whose type no header says but the content."""

    def read_media(self, key: int, method: str, headers: Headers) -> Response:
        """The bytes, as the download gives them."""
        return download_document(key, FileRequest(method, headers))

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> int:
        """A document of its bytes; ``name`` is the Slug, percent-encoded (RFC 5023, 9.7)."""
        require(current_caller(), self.rules.permissions["create"])
        file = store_file(content, unquote(name or UNNAMED), maximum_upload())
        return upload_document(Upload(file, {}, None))

    def replace_media(
        self, key: int, content: Iterable[bytes], content_type: str, version: int | None = None
    ) -> None:
        """A new version of the file."""
        replace_file(key, content, None, version)


MEDIA_DOCUMENTS = MediaDocuments()
