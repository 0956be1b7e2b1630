"""``OPTIONS``: the methods of any address of the service, without doing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response

from app.errors import MethodNotAllowedError, NotFoundError
from app.odata.model import edm
from app.odata.operations.calls import Call, Operations
from app.odata.protocol.methods import READ, allow
from app.odata.protocol.negotiation import version_spoken
from app.odata.protocol.request import Request
from app.odata.reading.resource import Resource, resource_at
from app.odata.syntax.nodes import Node, ResourcePath
from app.odata.syntax.options import parse_aliases, read_options
from app.odata.syntax.path import ALL, parse_path
from app.odata.writing.answers import no_content
from app.odata.writing.collections import each_target, is_each
from app.odata.writing.methods import allowed_methods, each_methods
from app.odata.writing.targets import resolve_target

QUERY = "/$query"
_ENTITY = "$entity"


def answer_options(
    container: edm.EntityContainer, operations: Operations, request: Request
) -> Response:
    """204 with ``Allow``.

    Raises: NotFoundError and QueryError, as a GET of an address that is none.
    """
    aliases = parse_aliases(read_options(request.query))
    offered = _Offered(container, operations, aliases)
    response = no_content(version_spoken(request.headers.get("OData-MaxVersion")))
    response.headers.update(allow(offered.methods(request.path.strip("/"))))
    return response


@dataclass(frozen=True)
class _Offered:
    """The methods of paths, percent-encoded."""

    container: edm.EntityContainer
    operations: Operations
    aliases: Mapping[str, Node]

    def methods(self, path: str) -> tuple[str, ...]:
        if path in ("", "$metadata", _ENTITY) or path.startswith((ALL, f"{_ENTITY}/")):
            return READ
        if path == "$batch":
            return ("POST",)
        if path.endswith(QUERY):
            self._resolve(path)
            return ("POST",)
        if (call := self.operations.find(path)) is not None:
            return self._of_call(call)
        if is_each(path):
            target = each_target(self.container, path.removesuffix("/$each"), self.aliases)
            return each_methods(target.entity_set)
        return self._of_resource(parse_path(path))

    def _of_call(self, call: Call) -> tuple[str, ...]:
        if call.bound_path:
            on_each = call.is_on_each
            segments = call.bound_to.segments[:-1] if on_each else call.bound_to.segments
            resource = self._resolve(ResourcePath(segments))
            if resource.kind == "value" or resource.ending:
                raise NotFoundError(f"{call.name} cannot be called on this.")
            is_collection = resource.kind == "collection" and not on_each
            call = call.bound(resource.scope.type, is_collection=is_collection)
        return ("POST",) if call.is_action else READ

    def _of_resource(self, path: ResourcePath) -> tuple[str, ...]:
        self._resolve(path)
        try:
            target = resolve_target(self.container, path, self.aliases)
        except MethodNotAllowedError:
            return READ
        return allowed_methods(self.container, target)

    def _resolve(self, path: ResourcePath | str) -> Resource:
        return resource_at(self.container, path, self.aliases)
