"""The bytes of media entities: made by POST, replaced and removed through ``$value``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from flask import Response

from app.errors import NotFoundError, NotImplementedInServiceError
from app.odata.model import edm
from app.odata.writing.answers import no_content
from app.odata.writing.conditions import version_to_match
from app.odata.writing.content import WriteRequest
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
    service = _service(target.entity_set)
    name = request.headers.get("Slug")
    return service.create_media(request.chunks(), request.headers.get("Content-Type", ""), name)


def write_media(request: WriteRequest, target: Target) -> Response:
    """Replace or remove the bytes of a media entity."""
    if target.key is None:
        raise NotFoundError(f"There is no such {target.type.name}.")
    service = _service(target.entity_set)
    version = version_to_match(request, target.type, target.key)
    if request.method == "DELETE":
        assert isinstance(service, ErasableMedia)  # or the method is refused
        service.delete_media(target.key, version)
    else:
        content_type = request.headers.get("Content-Type", "application/octet-stream")
        service.replace_media(target.key, request.chunks(), content_type, version)
    return no_content(request)


def write_stream(request: WriteRequest, target: Target) -> Response:
    """Replace or remove the bytes of a stream property."""
    assert target.prop is not None
    service: Any = target.entity_set.service
    assert isinstance(service, StreamService)  # or the method is refused
    if target.key is None:
        raise NotFoundError(f"There is no such {target.type.name}.")
    version = version_to_match(request, target.type, target.key)
    if request.method == "DELETE":
        service.delete_stream(target.key, target.prop.name, version)
    else:
        content_type = request.headers.get("Content-Type", "application/octet-stream")
        content = request.chunks()
        service.replace_stream(target.key, target.prop.name, content, content_type, version)
    return no_content(request)


def _service(entity_set: edm.EntitySet) -> MediaService:
    service: Any = entity_set.service
    if not isinstance(service, MediaService):
        raise NotImplementedInServiceError(
            f"The bytes of {entity_set.name} are not written through OData."
        )
    return service
