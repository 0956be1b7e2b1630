"""Files: uploaded, given out, shown as a picture, shared by links, brought back from the trash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, request
from sqlalchemy import select

from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import translated
from app.console.steps import preset, step_of, take
from app.console.typed import key_in
from app.console.uploads import PageForm
from app.console.wording import saved
from app.container.engine import read_one
from app.db.engines import primary_engine
from app.documents.operations import SHARE
from app.documents.service import DOCUMENTS, list_trash
from app.documents.serving import FileRequest, download_document, preview_document
from app.documents.sharing import shares
from app.documents.uploading import read_upload, upload_document
from app.errors import ApiError, ForbiddenError, NotFoundError
from app.http.body_stream import maximum_upload
from app.http.security import requires, streamed
from app.models.document import (
    DOCUMENT_CATEGORIES,
    ENTITY_TYPES,
    DocumentContent,
    DocumentVersion,
)

ADDRESS = f"{session.ROOT}/documents"


@console.get("/documents/upload")
@console.get("/documents/new")
@requires("documents:create")
def show_upload(
    problem: ApiError | None = None, typed: Mapping[str, str] | None = None
) -> Response:
    """The form for a file: a document begins with it."""
    typed_before = request.args if typed is None else typed
    return page(
        "upload.html",
        categories=DOCUMENT_CATEGORIES,
        megabytes=maximum_upload() // 1024 // 1024,
        entity=typed_before.get("entityType", "")
        if typed_before.get("entityType") in ENTITY_TYPES
        else "",
        entity_id=typed_before.get("entityId", ""),
        client_id=typed_before.get("clientId", ""),
        document_id=typed_before.get("documentId", ""),
        typed=typed or {},
        problem=problem,
    )


@console.post("/documents/upload")
@requires("documents:create")
@streamed
def upload() -> Response:
    """Take a file: a new document, or a new version of the one that the form names."""
    form = PageForm()
    try:
        key = upload_document(read_upload(form))
    except (ForbiddenError, NotFoundError):
        raise
    except ApiError as error:
        return show_upload(error, form.typed)
    return see_other(f"{ADDRESS}/{key}", saved(translated("Document")))


@console.get("/documents/<int:key>/download")
@requires("documents:read")
def download(key: int) -> Response:
    return download_document(key, FileRequest(request.method, request.headers), _version())


@console.get("/documents/<int:key>/preview")
@requires("documents:read")
def show_preview(key: int) -> Response:
    return preview_document(key, FileRequest(request.method, request.headers), _version())


@console.get("/documents/trash")
@requires("settings:update")
def show_trash(problem: ApiError | None = None, **_restored: int) -> Response:
    documents = list_trash(**page_asked())
    return page(
        "trash.html",
        documents=documents["items"],
        links=page_links(documents["total"]),
        problem=problem,
    )


@console.post("/documents/<int:key>/restore")
@requires("settings:update")
@refused_on(show_trash)
def restore(key: int) -> Response:
    DOCUMENTS.restore(key)
    return see_other(f"{ADDRESS}/{key}", translated("Document restored."))


@console.get("/documents/<int:key>/shares")
@requires("documents:share")
def show_shares(
    key: int,
    problem: ApiError | None = None,
    link: str | None = None,
    new_share: dict[str, Any] | None = None,
) -> Response:
    """The links of a document, and the form for another."""
    links = shares.list_shares(key, **page_asked())
    step = step_of(SHARE)
    return page(
        "shares.html",
        document=_named(key),
        shares=[*([new_share] if new_share else []), *links["items"]],
        links=page_links(links["total"]),
        link=link,
        step=step,
        typed=request.form if problem else {each.name: preset(each, {}) for each in step.inputs},
        problem=problem,
    )


@console.post("/documents/<int:key>/shares")
@requires("documents:share")
@refused_on(show_shares)
def share(key: int) -> Response:
    new_share = take("Documents", key, "share", None, request.form)
    return show_shares(key, link=new_share["url"], new_share=new_share)


@console.get("/documents/<int:key>/shares/<int:share_id>")
@requires("documents:share")
def show_accesses(key: int, share_id: int) -> Response:
    accesses = shares.list_accesses(key, share_id, **page_asked())
    return page(
        "accesses.html",
        document=_named(key),
        share_id=share_id,
        accesses=accesses["items"],
        links=page_links(accesses["total"]),
    )


@console.post("/documents/<int:key>/shares/<int:share_id>/revoke")
@requires("documents:share")
def revoke(key: int, share_id: int) -> Response:
    shares.revoke_share(key, share_id)
    return see_other(f"{ADDRESS}/{key}/shares", translated("Link revoked."))


def files_of(record: dict[str, Any]) -> dict[str, Any]:
    """What the page of a document shows besides: whether there is a picture, and who may what."""
    actions = record.get("allowedActions") or []
    with primary_engine().connect() as connection:
        picture = connection.execute(
            select(DocumentContent.preview_key)
            .join(DocumentVersion, DocumentVersion.id == DocumentContent.version_id)
            .where(
                DocumentVersion.document_id == record["id"],
                DocumentVersion.number == record["version"],
            )
        ).scalar()
    return {
        "has_file": bool(record["version"]) and record["status"] != "Quarantined",
        "has_picture": bool(picture) and record["status"] != "Quarantined",
        "takes_files": "update" in actions and record["status"] in ("Pending", "Active"),
        "megabytes": maximum_upload() // 1024 // 1024,
    }


def _named(key: int) -> dict[str, Any]:
    return read_one(f"Documents({key})", select="id,name,status")


def _version() -> int | None:
    return key_in(request.args.get("version", ""))
