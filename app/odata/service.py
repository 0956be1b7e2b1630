"""An OData service over one container: requests to answers, whatever the verb.

It knows Flask's ``Response`` and not its ``request``: a part of a batch comes in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable
from urllib.parse import quote

from flask import Response
from sqlalchemy import Connection
from werkzeug.datastructures import Headers

from app.errors import (
    InvalidQueryError,
    MethodNotAllowedError,
    NotFoundError,
    NotImplementedInServiceError,
    PreconditionFailedError,
    TooLargeError,
    UnsupportedMediaTypeError,
)
from app.extensions import Extension
from app.http.page_sizes import ODATA, PageSize
from app.http.security import current_caller
from app.odata.batch.parts import BatchEdge
from app.odata.batch.service import answer_batch
from app.odata.csdl.document import metadata, service_document
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.operations.calls import Call, Operations
from app.odata.operations.service import Surroundings, call_action, call_function, refuse_method
from app.odata.protocol.etags import unconditional
from app.odata.protocol.negotiation import (
    VARY,
    form_for,
    metadata_as_json,
    refusal,
    takes,
    version_spoken,
)
from app.odata.protocol.preferences import preferences_of, showing_nulls
from app.odata.protocol.request import READ, ReadRequest, Request, allow, method_error
from app.odata.reading.all_entities import read_all
from app.odata.reading.query import SecretKey
from app.odata.reading.reader import Reader
from app.odata.reading.representation import Representations
from app.odata.reading.resource import resource_at
from app.odata.syntax.lexer import Limits
from app.odata.syntax.nodes import Node, ResourcePath
from app.odata.syntax.options import (
    METADATA_OPTIONS,
    OptionTexts,
    parse_aliases,
    read_options,
    refuse_others,
)
from app.odata.syntax.path import ALL, IN_PATH, parse_path
from app.odata.tracking import Tracker
from app.odata.writing.answers import no_content, note_shown
from app.odata.writing.collections import each_target, is_each
from app.odata.writing.content import WriteRequest
from app.odata.writing.methods import allowed_methods, each_methods
from app.odata.writing.service import write
from app.odata.writing.targets import entity_path, resolve_target

_QUERY = "/$query"
_ENTITY = "$entity"
_CAST = f"{_ENTITY}/"
# Both write the options as an address does.
_QUERY_TYPES = ("text/plain", "application/x-www-form-urlencoded")
# Of a query in a body: far more than an address may have, and read in little time.
MOST_QUERY_CHARACTERS = 131_072


@runtime_checkable
class MediaSource(Protocol):
    """What the service of a set has where its entities have bytes (Protocol 11.2.3)."""

    def read_media(self, key: Any, method: str, headers: Headers) -> Response:
        """The bytes of an entity that the caller may read, with their own headers.

        ``headers`` are those of the request: ranges and conditions are the service's to know.
        """


@runtime_checkable
class StreamSource(Protocol):
    """What the service of a set has where a property of its entities is a stream."""

    def read_stream(self, key: Any, name: str) -> Response:
        """The bytes of the property ``name`` of an entity that the caller may read."""


@dataclass(frozen=True)
class Connections:
    """Where statements run: reads by themselves, or inside the transaction of a change."""

    reading: Callable[[], AbstractContextManager[Connection]]
    writing: Callable[[], Connection]

    def of(self, in_transaction: bool) -> AbstractContextManager[Connection]:
        """A connection that sees what the running transaction has changed, or one of its own."""
        return nullcontext(self.writing()) if in_transaction else self.reading()


class ODataService:
    def __init__(
        self, container: edm.EntityContainer, connections: Connections, secret_key: SecretKey,
        *, limits: Limits, max_depth: int, edge: BatchEdge, page_sizes: PageSize = ODATA,
    ) -> None:  # fmt: skip
        if container.expand_levels != max_depth:  # $metadata says what is true
            container = replace(container, expand_levels=max_depth)
        self.container = container
        self.reader = Reader(
            container, secret_key, limits=limits, max_depth=max_depth, page_sizes=page_sizes
        )
        self._operations = Operations(container)
        self._tracker = Tracker(container, secret_key, connections.reading)
        self._representations = Representations(container)
        self._connections = connections
        self._limits = limits
        self._max_depth = max_depth
        self._edge = edge

    def representations(self, entity: str, keys: Sequence[int]) -> Mapping[int, str]:
        """Key -> the JSON text of an entity as the running transaction leaves it.

        Raises: KeyError, there is none with the one key.
        """
        connection = self._connections.writing()
        if len(keys) > 1:
            return self._representations.read_many(entity, keys, connection)
        record = self._representations.read(entity, keys[0], connection)
        note_shown(record)
        return {keys[0]: record.text}

    def address(self, entity: str, key: Any) -> str:
        """The path of an entity below the service root; empty for one without a set."""
        home = self.container.set_of_type.get(entity)
        return "" if home is None else entity_path(home.name, home.type, key)

    def answer(self, request: Request) -> Response:
        """The answer to a request.

        Raises: an ApiError.
        """
        try:
            response = self._answer(request)
        except QueryError as error:
            raise InvalidQueryError(str(error), position=error.offset) from error
        response.headers.add("Vary", VARY)
        return response

    def _answer(self, request: Request) -> Response:
        """The answer to a request, which may be one of a batch.

        Raises: an ApiError; QueryError.
        """
        if request.headers.get("Isolation", request.headers.get("OData-Isolation")) is not None:
            raise PreconditionFailedError("Isolation is not offered.")
        path = request.path.strip("/")
        if request.method == "OPTIONS":
            return self._answer_options(request, path)
        if path in ("", "$metadata"):
            return self._document(request, path)
        if path == "$batch":
            return answer_batch(
                request, self.container, self._answer, self._connections.writing, self._edge,
                self._holds,
            )  # fmt: skip
        if path.endswith(_QUERY):
            return self._query(request)
        if (call := self._operations.find(path)) is not None:
            return self._call(request, call)
        if request.method in READ and not is_each(path):
            if path == _ENTITY or path.startswith(_CAST):
                return self._resolved(request, path.removeprefix(_CAST))
            if Tracker.concerns(request):
                return self._tracked(request)
            return self._read(request, request.path, request.query)
        return write(self._write_request(request, self._options(request)))

    def _options(self, request: Request, parameters: Collection[str] = ()) -> OptionTexts:
        """The options of a request, as ``read_options`` has them.

        Raises: QueryError; NotFoundError, they ask for another version of the schema.
        """
        options = read_options(request.query, parameters=parameters)
        self.reader.check_schema_version(options)
        return options

    def _tracked(self, request: Request) -> Response:
        headers = unconditional(request.headers)
        query = request.query.lower()
        if "deltatoken" in query and "skiptoken" not in query:
            headers = showing_nulls(headers)
        plain = replace(request, headers=headers)
        return self._tracker.answer(request, lambda path, query: self._read(plain, path, query))

    # --- ``OPTIONS``: the methods of any address, without doing anything

    def _answer_options(self, request: Request, path: str) -> Response:
        """204 with ``Allow``.

        Raises: NotFoundError and QueryError, as a GET of an address that is none.
        """
        methods = self._methods(path, parse_aliases(read_options(request.query)))
        response = no_content(version_spoken(request.headers.get("OData-MaxVersion")))
        response.headers.update(allow(methods))
        return response

    def _methods(self, path: str, aliases: Mapping[str, Node]) -> tuple[str, ...]:
        if path in ("", "$metadata", _ENTITY) or path.startswith((ALL, _CAST)):
            return READ
        if path == "$batch":
            return ("POST",)
        if path.endswith(_QUERY):
            resource_at(self.container, path, aliases)
            return ("POST",)
        if (call := self._operations.find(path)) is not None:
            return self._methods_of_call(call, aliases)
        if is_each(path):
            target = each_target(self.container, path.removesuffix("/$each"), aliases)
            return each_methods(target.entity_set)
        resource_path = parse_path(path)
        resource_at(self.container, resource_path, aliases)
        try:
            target = resolve_target(self.container, resource_path, aliases)
        except MethodNotAllowedError:
            return READ
        return allowed_methods(self.container, target)

    def _methods_of_call(self, call: Call, aliases: Mapping[str, Node]) -> tuple[str, ...]:
        if call.bound_path:
            on_each = call.is_on_each
            segments = call.bound_to.segments[:-1] if on_each else call.bound_to.segments
            resource = resource_at(self.container, ResourcePath(segments), aliases)
            if resource.kind == "value" or resource.ending:
                raise NotFoundError(f"{call.name} cannot be called on this.")
            is_collection = resource.kind == "collection" and not on_each
            call = call.bound(resource.scope.type, is_collection=is_collection)
        return ("POST",) if call.is_action else READ

    # --- operations

    def _call(self, request: Request, call: Call) -> Response:
        """An action or a function."""
        if call.is_action != (request.method == "POST") or request.method not in ("POST", *READ):
            raise refuse_method(call, request.method)
        headers = unconditional(request.headers)
        headers.remove("Prefer")  # a page of a result would have no address
        in_transaction = request.in_transaction or call.is_action
        reading = replace(
            request, method="GET", query="", headers=headers, in_transaction=in_transaction
        )
        try:
            options = self._options(request, call.parameter_names)
            is_own = not call.rest  # what follows has a form of its own
            wanted = options.system.get("format") if is_own else None
            namespace = self.container.namespace
            form = form_for(headers, wanted, accept=is_own, namespace=namespace)
            read = partial(self._read, reading)
            around = Surroundings(self.container, request.root, form, options, read)
            if call.is_action:
                return call_action(self._write_request(request, options), call, around)
            return call_function(call, around)
        except UnsupportedError as error:
            raise NotImplementedInServiceError(str(error), position=error.offset) from error

    # --- reads

    def _read(self, request: Request, path: str, query: str | OptionTexts) -> Response:
        headers = request.headers
        read_request = ReadRequest(path, query, request.root, headers, preferences_of(headers))
        caller = current_caller()
        read = self.reader.read if not path.startswith(ALL) else partial(read_all, self.reader)
        with self._connections.of(request.in_transaction) as connection:
            answer = read(read_request, caller, connection)
        if answer.media is None:
            return Response(answer.body, answer.status, answer.headers)
        name, key, stream = answer.media
        home = self.container.sets.get(name) or self.container.singletons[name]
        source: Any = home.service
        if stream is not None and isinstance(source, StreamSource):
            response = source.read_stream(key, stream)
        elif stream is None and isinstance(source, MediaSource):
            response = source.read_media(key, request.method, request.headers)
        else:
            raise NotImplementedInServiceError(f"The bytes of {name} are not read through OData.")
        media_type = response.mimetype or ""
        if answer.wanted is not None and not takes(answer.wanted, media_type):
            response.close()
            raise refusal(answer.wanted, media_type)
        return response

    def _holds(self, condition: str, in_transaction: bool) -> bool:
        """Whether the condition of a request of a batch is true."""
        with self._connections.of(in_transaction) as connection:
            return self.reader.holds(condition, current_caller(), connection)

    def _query(self, request: Request) -> Response:
        """``POST Clients/$query``: the query string in the body (URL Conventions 5)."""
        if request.method != "POST":
            raise method_error(request.method, ("POST",))
        media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media_type not in _QUERY_TYPES:
            raise UnsupportedMediaTypeError(
                f"Send the query options with Content-Type: {_QUERY_TYPES[0]}."
            )
        try:
            text = request.body().decode().strip()
            if len(text) > MOST_QUERY_CHARACTERS:
                raise TooLargeError(f"A query has {MOST_QUERY_CHARACTERS} characters at most.")
        except UnicodeDecodeError:
            raise InvalidQueryError("The query options are not UTF-8.") from None
        query = "&".join(part for part in (request.query, text) if part)
        path = request.path.strip("/").removesuffix(_QUERY)
        return self._read(request, path, query)

    def _resolved(self, request: Request, cast: str) -> Response:
        """``$entity?$id=...``: an entity by its id, or as a type (URL Conventions 4.11, 4.13).

        Args:
            cast: ``Namespace.Type``; ``$entity`` for none.
        """
        texts = read_options(request.query)
        url = texts.system.get("id", "")
        for root in (request.root, *request.roots):
            url = url.removeprefix(root)
        if not url or url.startswith(("$", "/")) or "://" in url:
            raise InvalidQueryError("$id is the id of an entity of this service.", position=0)
        address = quote(url, safe=IN_PATH)
        if not self._is_entity(address):
            raise InvalidQueryError("$id is the id of one entity.", position=0)
        if cast != _ENTITY:
            address = f"{address}/{cast}"
        return self._read(request, address, texts.without("id"))

    def _is_entity(self, address: str) -> bool:
        """Whether a path leads to one entity, be it there or not."""
        try:
            resource = resource_at(self.container, address)
        except QueryError as error:
            raise InvalidQueryError(
                f"$id is the id of an entity: {error}", position=error.offset
            ) from error
        return resource.kind == "entity" and not resource.ending

    def _document(self, request: Request, path: str) -> Response:
        """The service document, or ``$metadata``."""
        if request.method not in READ:
            raise method_error(request.method, READ)
        options = self._options(request)
        refuse_others(options, METADATA_OPTIONS)
        wanted = options.system.get("format")
        headers = request.headers
        if path == "$metadata":
            version, as_json = metadata_as_json(headers, wanted)
            document = metadata(self.container, version, as_json=as_json)
            response = document.answer(headers.get("If-None-Match"))
        else:
            form = form_for(headers, wanted)
            version = form.version
            body = service_document(self.container, request.root, form)
            response = Response(body, content_type=form.content_type)
        response.headers["OData-Version"] = version
        return response

    # --- writes

    def _write_request(self, request: Request, options: OptionTexts) -> WriteRequest:
        return WriteRequest(
            self.container,
            request,
            options,
            lambda path, options: self._written(request, path, options),
            version=version_spoken(request.headers.get("OData-MaxVersion")),
            max_depth=self._max_depth,
        )

    def _written(self, request: Request, path: str, options: OptionTexts) -> Response:
        """What a write made of an entity, read in its transaction; conditions are behind it."""
        headers = unconditional(request.headers)
        if request.method in ("PATCH", "PUT"):
            headers = showing_nulls(headers)
        reading = Request(
            "GET", path, "", headers, request.body, request.root, request.roots, in_transaction=True
        )
        return self._read(reading, path, options)


odata_service = Extension[ODataService]("odata")
