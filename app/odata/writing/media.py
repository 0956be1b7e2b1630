"""The bytes of media entities: made by POST, replaced and removed through ``$value``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from flask import Response

from app.errors import NotImplementedInServiceError
from app.odata.writing.answers import no_content
from app.odata.writing.content import WriteRequest, version_to_match
from app.odata.writing.targets import Target


@runtime_checkable
class MediaService(Protocol):
    """What a service has besides where its entities have bytes (Protocol 11.4.7)."""

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> Any:
        """Make an entity of its bytes; returns its key. ``name`` is that of the file."""

    def replace_media(
        self, key: Any, content: Iterable[bytes], content_type: str, version: int | None = None
    ) -> None:
        """Give an entity other bytes."""


@runtime_checkable
class ErasableMedia(Protocol):
    """What a ``MediaService`` has besides where an entity can be without its bytes."""

    def delete_media(self, key: Any, version: int | None = None) -> None:
        """Take the bytes away; the entity stays."""


@runtime_checkable
class StreamService(Protocol):
    """What a service has besides where a property of its entities is a stream (11.4.8)."""

    def replace_stream(
        self,
        key: Any,
        name: str,
        content: Iterable[bytes],
        content_type: str,
        version: int | None = None,
    ) -> None:
        """Give the property ``name`` of an entity other bytes."""

    def delete_stream(self, key: Any, name: str, version: int | None = None) -> None:
        """Take the bytes of a property away."""


def create_media(request: WriteRequest, target: Target) -> Any:
    """Make a media entity of the body; returns its key."""
    service: Any = target.entity_set.service
    if not isinstance(service, MediaService):
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
