"""The request of a write as the protocol sees it: media type, version, preconditions, preference.

It does not know where the request came from: an HTTP request and a part of a batch look the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flask import Response
from werkzeug.http import parse_options_header

from app.errors import (
    NotFoundError,
    PreconditionFailedError,
    UnsupportedMediaTypeError,
    ValidationError,
    refuse_any,
    telling_all,
)
from app.http.body_stream import check_readable
from app.http.json_body import parse_json
from app.http.schema_bounds import is_blank
from app.odata.model import edm
from app.odata.payload.reader import BodyReader, EntityBody
from app.odata.payload.values import join_path
from app.odata.protocol.etags import Precondition, parse_precondition, refuse_stale
from app.odata.protocol.negotiation import VERSIONS, Version
from app.odata.protocol.preferences import Preferences, preferences_of
from app.odata.protocol.request import Request
from app.odata.syntax.options import OptionTexts
from app.odata.writing.deep import DeepWriter
from app.odata.writing.problems import Kind, entity_problems
from app.odata.writing.rows import find_key_locked, find_version, require_entity
from app.odata.writing.targets import Target, find_url

# The answer to a GET of a path below the service root, read in the running transaction.
ReadPath = Callable[[str, OptionTexts], Response]


@dataclass(slots=True)  # not frozen, which costs more: one a request
class WriteRequest:
    """A request that changes something; ``version`` is the one that the answer speaks."""

    container: edm.EntityContainer
    http: Request
    options: OptionTexts  # of its query
    read: ReadPath
    version: Version = "4.0"
    max_depth: int = 5
    # What several ask for: preferences, the version that the body speaks, and its media type.
    preferences: Preferences = field(init=False)
    _spoken: str | None = field(default=None, init=False)
    _content: tuple[str, Mapping[str, str]] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.preferences = preferences_of(self.http.headers)

    def chunks(self) -> Iterable[bytes]:
        """The body as it comes in: what a media entity may have goes beyond what JSON may."""
        return (self.http.body(),) if self.http.stream is None else self.http.stream()

    @property
    def writer(self) -> DeepWriter:
        """Writes entities; the URLs of bodies are resolved against this request."""
        return DeepWriter(self.container, self.entity_at)

    def entity_at(self, url: str) -> Target:
        """The entity that a URL in the body points at.

        Raises: as ``find_url``; NotFoundError, it is not there.
        """
        target = self.address_at(url)
        if target.key is None:
            raise NotFoundError(f"There is no entity {url}.")
        return target

    def address_at(self, url: str) -> Target:
        """What a URL in the body points at, see ``find_url``."""
        roots = (self.http.root, *self.http.roots)
        return find_url(self.container, url, roots, self.http.path, self.http.references)

    @property
    def if_match(self) -> Precondition | None:
        """The versions that may be overwritten."""
        return parse_precondition(self.http.headers.get("If-Match"))

    @property
    def if_none_match(self) -> Precondition | None:
        """The versions that may not; ``*`` means that there is none yet."""
        return parse_precondition(self.http.headers.get("If-None-Match"))

    @property
    def media_type(self) -> str:
        """The media type of the body, without its parameters."""
        return self._content_type[0]

    @property
    def odata_version(self) -> str:
        """The version that the body speaks: the highest one unless the client says otherwise.

        Raises: ValidationError, there is no such version (Protocol 8.1.5).
        """
        if self._spoken is None:
            version = self.http.headers.get("OData-Version")
            if version and version not in VERSIONS:
                raise ValidationError([("OData-Version", "must be 4.0 or 4.01")])
            version = version or self.http.headers.get("OData-MaxVersion")
            self._spoken = "4.0" if version == "4.0" else "4.01"
        return self._spoken

    def json(self) -> Any:
        """The body as JSON.

        Raises: UnsupportedMediaTypeError; ValidationError, it is no JSON.
        """
        self.check_json()
        return parse_json(self.http.body())

    def refuse_others(self, body: Mapping[str, Any], *known: str, of: str, path: str = "") -> None:
        """Refuse members that are neither ``known`` nor annotations, unless told to be lenient.

        Args:
            of: what the body is; ``path`` is where in the whole body.
        Raises: ValidationError, with every such member.
        """
        strange = [name for name in body if name not in known and "@" not in name]
        if strange and self.preferences.handling != "lenient":
            raise ValidationError(
                [(join_path(path, name), f"is not part of {of}") for name in strange]
            )

    def check_json(self) -> None:
        """Refuse a body that is announced as anything but JSON in UTF-8."""
        if self.media_type != "application/json":
            sent = f", not {self.media_type}" if self.media_type else ""
            raise UnsupportedMediaTypeError(
                f"Send the body with Content-Type: application/json{sent}."
            )
        check_readable(self.http.headers, self._content_type[1].get("charset", "utf-8"))

    @contextmanager
    def entity(
        self, target: Target, kind: Kind, settled: Collection[str] = ()
    ) -> Iterator[EntityBody]:
        """The body as an entity of the target's type; within it, and here, a refusal of the body
        tells all that is wrong with it.

        Args:
            kind: what is done with the entity.
            settled: the attributes that the place of the request gives.
        Raises: as ``json``; ValidationError, with every value that is wrong.
        """
        reader = self.body_reader
        body = reader.entity(self.json(), target.type)
        container, home, key = self.container, target.entity_set, target.key
        with telling_all(
            lambda: refuse_any(entity_problems(container, home, body, kind, settled, key))
        ):
            reader.problems.raise_any()
            yield body

    @property
    def body_reader(self) -> BodyReader:
        """What reads the body, as the request wants it read."""
        handling = self.preferences.handling
        is_old = self.http.headers.get("OData-Version") == "4.0"
        return BodyReader(self.container, self.text_numbers, self.max_depth, handling, is_old)

    @property
    def text_numbers(self) -> bool:
        """Whether the body has Int64 and Decimal as strings (JSON Format 3.2)."""
        return self._content_type[1].get("ieee754compatible", "").lower() == "true"

    @property
    def _content_type(self) -> tuple[str, Mapping[str, str]]:
        """The media type and its parameters, names in lower case and without ``odata.``."""
        if self._content is None:
            self._content = _parse_media_type(self.http.headers.get("Content-Type", ""))
        return self._content


@lru_cache(maxsize=256)
def _parse_media_type(text: str) -> tuple[str, Mapping[str, str]]:
    media_type, parameters = parse_options_header(text)
    return media_type.lower(), {
        name.lower().removeprefix("odata."): value for name, value in parameters.items()
    }


# --- ``If-Match`` and ``If-None-Match`` before a write (Protocol 8.2.4, 8.2.5, 11.4.1.1)


def version_to_match(request: WriteRequest, type_: edm.EntityType, key: Any | None) -> int | None:
    """The row version that the service must find; None when any will do.

    Raises: PreconditionFailedError; NotFoundError, there is no entity, or a condition names
        versions of nothing.
    """
    if key is None:
        raise NotFoundError(f"There is no such {type_.name}.")
    unless, only = request.if_none_match, request.if_match
    if unless is not None:
        exists, version = find_version(request.container, type_, key)
        if exists and unless.matches(version):
            raise PreconditionFailedError("There is such a record already.")
    if only is None or only.any:
        return None
    if type_.etag is not None and only.version is not None:
        return only.version
    version = require_entity(request.container, type_, key)
    refuse_stale(only, version)
    return version


def require_current(request: WriteRequest, type_: edm.EntityType, key: Any | None) -> None:
    """Check that an entity is there and fulfils the conditions, before something else is changed.

    Raises: NotFoundError; PreconditionFailedError.
    """
    version = require_entity(request.container, type_, key)
    refuse_stale(request.if_match, version)
    if (unless := request.if_none_match) is not None and unless.matches(version):
        raise PreconditionFailedError(f"The {type_.name} is the one that If-None-Match names.")


def is_upsert(request: WriteRequest, target: Target) -> bool:
    """Whether a PATCH or PUT makes the entity that it addresses (Protocol 11.4.4).

    It does where the client gives the key, and no entity has it. A key that the service gives
    cannot be made up. What somebody else makes in this moment is changed: ``target`` then has
    its key.
    Raises: NotFoundError; PreconditionFailedError, only an existing entity was to be changed.
    """
    may_create = may_be_made(target)
    if not target.is_missing and (
        not may_create or find_version(request.container, target.type, target.key)[0]
    ):
        return False
    if not may_create:
        raise NotFoundError(f"There is no such {target.type.name}.")
    if (
        made_meanwhile := find_key_locked(request.container, target.type, target.values)
    ) is not None:
        target.key = made_meanwhile
        return False
    if request.if_match is not None:
        raise PreconditionFailedError(f"There is no such {target.type.name} to change.")
    return True


def may_be_made(target: Target) -> bool:
    """Whether an entity is addressed by a key that its clients give; a blank text is none."""
    if any(is_blank(str(value)) for value in target.values.values()):
        return False
    return frozenset(target.values) in _given_keys(target.type)


def refuse_other_key(body: EntityBody) -> None:
    """Raise ValidationError where a new entity would not be found at the address it is sent to.

    One that exists can be given another alternate key; with the next change it has a new address.
    """
    refuse_any(
        (
            join_path(body.path, body.type.by_attribute[attribute].name),
            "must be the one of the address, or left out",
        )
        for attribute, value in body.address.items()
        if body.values.get(attribute, value) != value
    )


@lru_cache(maxsize=256)
def _given_keys(type_: edm.EntityType) -> frozenset[frozenset[str]]:
    """The attributes of each key that clients give."""
    return frozenset(
        frozenset(type_.properties[name].attribute for name in names) for names in type_.upsert_keys
    )
