"""The page of a public link: what it gives, or what is wrong with it; nothing on it runs."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from flask import Response
from sqlalchemy import select

from app.db import records
from app.documents.previews import picture_of
from app.documents.serving import FileRequest
from app.documents.sharing.visits import Visit
from app.documents.versions import FileVersion
from app.http.public_pages import public_page
from app.models.user import User
from app.settings import organisation

TEMPLATE = "share.html"


def wants_page(file_request: FileRequest, accept: Any) -> bool:
    """Whether somebody looks at the link with a browser; programs get the bytes."""
    return file_request.method in ("GET", "HEAD") and bool(
        accept.best_match(("application/octet-stream", "text/html")) == "text/html"
    )


def file_page(visit: Visit, file: FileVersion) -> Response:
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
    wanted = select(User.display_name).where(User.id == visit.share.created_by_id)
    with records.looking() as connection:
        person = connection.execute(wanted).scalar()
    company = organisation().seller.name
    return ", ".join(filter(None, (person, company)))


def _picture(file: FileVersion) -> str | None:
    picture = picture_of(file)
    return None if picture is None else b64encode(picture).decode("ascii")


def password_page(problem: str | None = None, status: int = 200) -> Response:
    """A field for the password; what lies behind the link is not said before."""
    return public_page(TEMPLATE, status, asks_password=True, problem=problem)


def problem_page(status: int, problem: str) -> Response:
    """What is wrong with the link."""
    return public_page(TEMPLATE, status, problem=problem)
