"""``/api/documents``: what is done with documents besides keeping their properties."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, request

from app.documents import serving, uploading
from app.documents.operations import OPERATIONS
from app.documents.schemas import (
    UPLOAD_BODY,
    DownloadQuerySchema,
    FileQuerySchema,
    ShareSchema,
    UploadedSchema,
)
from app.documents.serving import FileRequest
from app.documents.sharing import shares
from app.documents.uploading import read_upload
from app.events import entity_url, represent
from app.http.areas import Area
from app.http.body_stream import BodyStream, maximum_upload
from app.http.lists import Page
from app.http.multipart import read_form
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires, streamed
from app.operations.rest import publish

area = Area("documents", __name__, description="Documents: files, public links, previews, trash")
publish(area, *OPERATIONS)

BYTES = {"type": "string", "format": "binary"}
QUARANTINED = {"$ref": "#/components/responses/Error409"}
# Of the document that gets a new version, or the record that the file is filed with.
MISSING = {"$ref": "#/components/responses/Error404"}
RAW_BODY = {"content": {"application/octet-stream": {"schema": BYTES, "example": "bytes"}}}


@area.post("/upload")
@area.doc(requestBody=UPLOAD_BODY, responses={404: MISSING})
@area.response(201, UploadedSchema)
@requires("documents:create")
@streamed
def upload_document() -> Response:
    """Upload a file: a new document or, with `documentId`, a new version of one.

    The file goes to the store as it comes in. Its type is decided by its content; programs,
    scripts, and files that are not what their name says are 415. At most `MAX_UPLOAD_MB`.
    """
    stream = BodyStream(current_app.config["MAX_CONTENT_LENGTH"])
    form = read_form(stream, request.mimetype, request.mimetype_params)
    key = uploading.upload_document(read_upload(form))
    answer = _described(key)
    answer.status_code = 201
    answer.headers["Location"] = entity_url("Document", key)
    return answer


@area.put("/<int:document_id>/content")
@area.doc(requestBody=RAW_BODY)
@area.arguments(FileQuerySchema, location="query")
@area.response(200, UploadedSchema)
@requires("documents:update")
@streamed
def replace_file(query: dict[str, Any], document_id: int) -> Response:
    """Give a document a file, or a new version of its file, as the raw body."""
    uploading.replace_file(document_id, BodyStream(maximum_upload()), query.get("file_name"))
    return _described(document_id)


@area.get("/<int:document_id>/download")
@area.arguments(DownloadQuerySchema, location="query")
@area.response(200, BYTES, content_type="*/*")
@area.doc(responses={409: QUARANTINED})
@area.alt_response(206, description="The part that `Range` asks for.", success=True)
@area.alt_response(302, description="Where the object store gives it out.", success=True)
@area.alt_response(304, description="It is as you know it.", success=True)
@requires("documents:read")
def download_document(query: dict[str, Any], document_id: int) -> Response:
    """The bytes of a document, always to be saved and never shown.

    `Range`, `If-Range`, `If-None-Match` and `If-Modified-Since` work; the ETag is the SHA-256. A
    quarantined document is 409.
    """
    file_request = FileRequest(request.method, request.headers)
    return serving.download_document(document_id, file_request, query.get("version"))


@area.get("/<int:document_id>/preview")
@area.arguments(DownloadQuerySchema, location="query")
@area.response(200, BYTES, content_type="image/png")
@area.doc(responses={409: QUARANTINED})
@area.alt_response(304, description="It is as you know it.", success=True)
@requires("documents:read")
def preview_document(query: dict[str, Any], document_id: int) -> Response:
    """A picture of the first page, for PDF and pictures; at most 800 pixels wide and high.

    It is made soon after the upload; until then, and for other types, this is 404.
    """
    file_request = FileRequest(request.method, request.headers)
    return serving.preview_document(document_id, file_request, query.get("version"))


def _described(key: int) -> Response:
    """The document as OData shows it, and where its bytes are."""
    address = f"/api/v1/documents/{key}/download"
    body = f'{represent("Document", key)[:-1]},"downloadUrl":"{address}"}}'
    return Response(body, content_type="application/json")


@area.get("/<int:document_id>/shares")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(ShareSchema))
@requires("documents:share")
def list_shares(query: dict[str, Any], document_id: int) -> Page:
    """The links of a document, the newest first, those that have ended too."""
    return shares.list_shares(document_id, **query)


@area.delete("/<int:document_id>/shares/<int:share_id>")
@area.response(204)
@requires("documents:share")
def revoke_share(document_id: int, share_id: int) -> None:
    """End a link at once."""
    shares.revoke_share(document_id, share_id)
