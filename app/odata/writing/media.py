"""The bytes of media entities and stream properties: made by POST, replaced and removed by
``$value``.
"""

from __future__ import annotations

from typing import Any

from flask import Response

from app.errors import (
    NotImplementedInServiceError,
)
from app.odata.model import edm
from app.odata.writing.answers import no_content
from app.odata.writing.conditions import version_to_match
from app.odata.writing.content import WriteRequest
from app.odata.writing.targets import Target


def create_media(request: WriteRequest, target: Target) -> Any:
    """Make a media entity of the body; returns its key."""
    service: Any = target.entity_set.service
    if not isinstance(service, edm.MediaService):
        raise NotImplementedInServiceError(
            f"The bytes of {target.entity_set.name} are not written through OData."
        )
    name = request.http.headers.get("Slug")
    return service.create_media(
        request.chunks(), request.http.headers.get("Content-Type", ""), name
    )


def write_bytes(request: WriteRequest, target: Target) -> Response:
    """Replace or remove the bytes of a media entity, or of a stream property."""
    service: Any = target.entity_set.service  # has the function, or the method is refused
    version = version_to_match(request, target.type, target.key)
    stream = () if target.prop is None else (target.prop.name,)
    if request.http.method == "DELETE":
        remove = service.delete_stream if stream else service.delete_media
        remove(target.key, *stream, version)
    else:
        content_type = request.http.headers.get("Content-Type", "application/octet-stream")
        replace = service.replace_stream if stream else service.replace_media
        replace(target.key, *stream, request.chunks(), content_type, version)
    return no_content(request.version)
