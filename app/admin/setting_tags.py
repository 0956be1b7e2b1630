"""ETags of the settings: who sends one back in ``If-Match`` overwrites nobody's change."""

from __future__ import annotations

import hashlib
from typing import Any

from flask import Response, jsonify, request

from app.errors import PreconditionFailedError
from app.http.dry_run import undo_if_dry
from app.settings import organisation
from app.settings.groups import NAMES
from app.settings.store import version_of

# For the description of the API.
IF_MATCH: dict[str, Any] = {
    "in": "header",
    "name": "If-Match",
    "schema": {"type": "string"},
    "description": "The ETag that was read, or `*`: 412 when it is another by now.",
    "example": "*",
}


def required_version(group: str) -> str | None:
    """The version of the group that ``If-Match`` asks for; None where it asks for none.

    Raises: PreconditionFailedError, the group is another by now.
    """
    return _required(version_of(group, organisation()))


def require_all() -> None:
    """Refuse when ``If-Match`` asks for other settings than those there are.

    Raises: PreconditionFailedError.
    """
    _required(_version_of_all())


def show_tagged(group: str | None, body: dict[str, Any]) -> Response:
    """``body`` with the ETag of the group, or of all; 304 where the caller has it."""
    answer = jsonify(body)
    answer.set_etag(version_of(group, organisation()) if group else _version_of_all())
    if request.method in ("GET", "HEAD"):
        answer.make_conditional(request)
    return answer


def answer_tagged(query: dict[str, Any], group: str | None, body: dict[str, Any]) -> Response:
    """The same after a change; after a dry run nothing has a version."""
    answer = show_tagged(group, body)
    if undo_if_dry(query):
        del answer.headers["ETag"]
    return answer


def _required(version: str) -> str | None:
    wanted = request.if_match
    if "If-Match" not in request.headers or wanted.star_tag:
        return None
    if not wanted.contains(version):
        raise PreconditionFailedError("These settings were changed by somebody else meanwhile.")
    return version


def _version_of_all() -> str:
    settings = organisation()
    parts = " ".join(version_of(group, settings) for group in NAMES)
    return hashlib.sha256(f"{parts} {settings.logo.sha256}".encode()).hexdigest()[:32]
