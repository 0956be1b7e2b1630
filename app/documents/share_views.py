"""Views for the links of a document: make, list, revoke."""

from __future__ import annotations

from typing import Any

from flask import current_app, request

from app.documents.area import area
from app.documents.schemas import MadeShareSchema, ShareSchema
from app.documents.share_schemas import ShareBodySchema
from app.documents.sharing.shares import (
    ShareTerms,
    list_shares,
    revoke_share,
    share_document,
)
from app.http.links import service_root
from app.http.lists import Page
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires


@area.post("/<int:document_id>/share")
@area.arguments(ShareBodySchema)
@area.response(201, MadeShareSchema)
@requires("documents:share")
def share(body: dict[str, Any], document_id: int) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a public link; `token` and `url` are shown this once.

    It ends at `expiresAt` or after `expiresInDays` (7), after `maxDownloads`, when it is revoked,
    and when the document is archived or deleted.
    """
    link, token = share_document(document_id, ShareTerms(**body))
    root = service_root(request.environ, current_app.config["BASE_URL"])
    address = f"/api/v1/documents/{document_id}/shares"
    return {**link, "token": token, "url": f"{root}/s/{token}"}, 201, {"Location": address}


@area.get("/<int:document_id>/shares")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(ShareSchema))
@requires("documents:share")
def show_shares(query: dict[str, Any], document_id: int) -> Page:
    """The links of a document, the newest first, those that have ended too."""
    return list_shares(document_id, **query)


@area.delete("/<int:document_id>/shares/<int:share_id>")
@area.response(204)
@requires("documents:share")
def revoke(document_id: int, share_id: int) -> None:
    """End a link at once."""
    revoke_share(document_id, share_id)
