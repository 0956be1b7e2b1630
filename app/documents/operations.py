"""The operations on documents."""

from __future__ import annotations

from typing import Any

from flask import current_app, request

from app.documents.file_search import search_documents
from app.documents.schemas import (
    FoundDocumentsSchema,
    MadeShareSchema,
    RestoredSchema,
    SearchQuerySchema,
    ShareBodySchema,
)
from app.documents.service import DOCUMENTS
from app.documents.sharing.shares import share_document
from app.http.links import service_root
from app.http.schema_parts import answer_body
from app.operations.declaration import Button, Operation


def describe_restored(document_id: int) -> dict[str, Any]:
    """The document as the answer shows it."""
    return answer_body(RestoredSchema, DOCUMENTS.stored(document_id))


def describe_new_share(new: tuple[dict[str, Any], str]) -> dict[str, Any]:
    """A new link with its token, and where it leads."""
    share, token = new
    root = service_root(request.environ, current_app.config["BASE_URL"])
    return {**share, "token": token, "url": f"{root}/s/{token}"}


def describe_trial(new: tuple[dict[str, Any], str]) -> dict[str, Any]:
    """The link of a dry run, whose token would open nothing."""
    share, _ = new
    return {**share, "token": None, "url": None}


SHARE = Operation(
    name="Share",
    bound_to="Document",
    action="share",
    path="/<int:document_id>/share",
    permissions=("documents:share",),
    description="""Make a public link; `token` and `url` are shown this once.

    It ends at `expiresAt` or after `expiresInDays` (7), after `maxDownloads`, when it is revoked,
    and when the document is archived or deleted.""",
    arguments=ShareBodySchema,
    run=share_document,
    answer=describe_new_share,
    answer_of_trial=describe_trial,
    answers=MadeShareSchema,
    location="/api/v1/documents/{documentId}/shares",
    button=Button(
        label="Links",
        page="shares",
        asks=("expiresInDays", "maxDownloads", "password", "recipientEmail", "note"),
    ),
    proposed=False,
)
RESTORE = Operation(
    name="Restore",
    bound_to="Document",
    path="/<int:document_id>/restore",
    permissions=("settings:update",),
    description="Bring a document back that was deleted within the last 30 days.",
    run=DOCUMENTS.restore,
    answer=describe_restored,
    answers=RestoredSchema,
    returns="Document",
    binds_hidden=True,
    asked_by=("undelete", "bring back", "stelle wieder", "restaure", "restaura", "ripristina"),
)
DOCUMENT_SEARCH = Operation(
    name="DocumentSearch",
    changes=False,
    path="/search",
    permissions=("documents:read",),
    description="""Find documents by words in their name and in the text of their file.

    Every word must be there, at least inside another; case, accents and punctuation do not
    matter. Only documents that you may read are found and counted.""",
    arguments=SearchQuerySchema,
    run=search_documents,
    answers=FoundDocumentsSchema,
)
OPERATIONS = (SHARE, RESTORE, DOCUMENT_SEARCH)
