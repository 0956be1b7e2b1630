"""``/s/<token>``: a public link, as a page on which nothing runs and as bytes for programs."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from flask import Response, request
from sqlalchemy import select
from werkzeug.datastructures import Headers

from app.db import records
from app.documents.serving import FileRequest, picture_of
from app.documents.sharing.visits import (
    LinkPasswordError,
    Visit,
    check_password,
    download_link,
    file_behind,
    note_view,
    open_link,
)
from app.errors import ApiError, ValidationError, refuse_any
from app.http import schema_fields as fields
from app.http.areas import Area, LinkQuery, mailed, reads_body
from app.http.json_body import read_object
from app.http.public_pages import public_page
from app.http.schema_fields import UNKNOWN
from app.http.security import public
from app.models.document import DocumentVersion
from app.models.user import User
from app.settings import organisation

links = Area("links", __name__, description="Public links to documents: no credentials needed")
BYTES = {"type": "string", "format": "binary"}
# For programs: a password in the address would stand in logs.
PASSWORD_HEADER = "X-Share-Password"
PASSWORD_BODY: dict[str, Any] = {
    "content": {
        media_type: {
            "schema": {
                "type": "object",
                "properties": {"password": {"type": ["string", "null"]}},
                "additionalProperties": False,
            },
            "example": {"password": "given with the link"},
        }
        for media_type in ("application/x-www-form-urlencoded", "application/json")
    }
}


class LinkQuerySchema(LinkQuery):
    """Whether a browser wants the bytes, too."""

    download = fields.Boolean(load_default=False, description="The bytes, whatever `Accept` says.")


@links.get("/<token>")
@links.arguments(LinkQuerySchema, location="query", unknown=None)
@links.response(200, BYTES, content_type="*/*")
@links.alt_response(206, description="The part that `Range` asks for.", success=True)
@links.alt_response(302, description="Where the object store gives it out.", success=True)
@links.alt_response(304, description="It is as you know it.", success=True)
@links.alt_response(401, response="Error401")
@mailed
@public
def show_link(query: dict[str, Any], token: str) -> Response:
    """The file behind a link: a page where `Accept` prefers HTML, else the bytes.

    A link with a password takes it in the header `X-Share-Password`, or by `POST`. Where the
    number of downloads is limited, every one is of the whole file.
    """
    file_request = FileRequest(request.method, request.headers)
    is_page = wants_page(file_request, request.accept_mimetypes) and not query["download"]
    try:
        visit = open_link(token)
        if is_page and visit.asks_password:
            return password_page()
        check_password(visit, _header_password())
        if not is_page:
            return download_link(visit, file_request)
        file = file_behind(visit)
    except ApiError as error:
        if not _is_browser():
            raise
        if isinstance(error, LinkPasswordError):
            return password_page()
        return problem_page(error.status, error.message)
    note_view(visit)
    return file_page(visit, file)


@links.post("/<token>")
@links.doc(requestBody=PASSWORD_BODY)
@links.response(200, BYTES, content_type="*/*")
@links.alt_response(401, response="Error401")
@mailed
@reads_body
@public
def open_with_password(token: str) -> Response:
    """The file behind a link with a password, sent as a form or as JSON."""
    file_request = FileRequest(request.method, Headers())
    try:
        visit = open_link(token)
        check_password(visit, _password())
        return download_link(visit, file_request, by_form=True)
    except LinkPasswordError as error:
        if not _is_browser():
            raise
        answer = password_page(error.message, error.status)
        answer.headers["WWW-Authenticate"] = 'Form realm="shared file"'
        return answer
    except ApiError as error:
        if not _is_browser() or isinstance(error, ValidationError):
            raise
        answer = problem_page(error.status, error.message)
        answer.headers.extend(error.headers)
        return answer


def _header_password() -> str | None:
    """The password in the header, in UTF-8 or Latin-1; WSGI reads headers as Latin-1."""
    password = request.headers.get(PASSWORD_HEADER)
    try:
        return password.encode("latin-1").decode() if password else password
    except UnicodeDecodeError:
        return password


def _password() -> str | None:
    """The password of a form or of a JSON object."""
    if request.mimetype == "application/x-www-form-urlencoded":
        return request.form.get("password")
    body = read_object()
    problems = [(name, UNKNOWN) for name in body if name != "password"]
    password = body.get("password")
    if password is not None and not isinstance(password, str):
        problems.append(("password", "must be a string"))
    refuse_any(problems)
    return password


def _is_browser() -> bool:
    accept = request.accept_mimetypes
    return bool(accept.best_match(("application/json", "text/html")) == "text/html")


TEMPLATE = "share.html"


def wants_page(file_request: FileRequest, accept: Any) -> bool:
    """Whether somebody looks at the link with a browser; programs get the bytes."""
    return file_request.method in ("GET", "HEAD") and bool(
        accept.best_match(("application/octet-stream", "text/html")) == "text/html"
    )


def file_page(visit: Visit, file: DocumentVersion) -> Response:
    """What lies behind the link, who made it, and a button to save it.

    A link with a limit shows no picture: what is seen without a download is not counted.
    """
    most = visit.share.max_downloads
    left = None if most is None else most - visit.share.download_count
    return public_page(
        TEMPLATE, file=file, expires=visit.share.expires_at, left=left, sender=_sender(visit),
        picture=None if visit.is_limited else _picture(file),
    )  # fmt: skip


def _sender(visit: Visit) -> str:
    """Who made the link, and of which company; empty where nobody knows."""
    statement = select(User.display_name).where(User.id == visit.share.created_by_id)
    with records.looking() as connection:
        person = connection.execute(statement).scalar()
    company = organisation().seller.name
    return ", ".join(filter(None, (person, company)))


def _picture(file: DocumentVersion) -> str | None:
    picture = picture_of(file)
    return None if picture is None else b64encode(picture).decode("ascii")


def password_page(problem: str | None = None, status: int = 200) -> Response:
    """A field for the password; what lies behind the link is not said before."""
    return public_page(TEMPLATE, status, asks_password=True, problem=problem)


def problem_page(status: int, problem: str) -> Response:
    """What is wrong with the link."""
    return public_page(TEMPLATE, status, problem=problem)
