"""The answer to a write out of what its event says: the entity is read once for both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flask import Response

from app.db import transactions
from app.db.types import json_text
from app.http.security import current_caller
from app.odata.etags import format_etag
from app.odata.model import edm
from app.odata.reading.negotiation import form_for
from app.odata.reading.representation import Representation
from app.odata.writing.content import WriteRequest
from app.odata.writing.targets import Target
from app.permissions import ALL

_NOTE = "shown entity"


def note_shown(representation: Representation) -> None:
    """Remember an entity until something is written that it may show."""
    transactions.note(_NOTE, representation)


def shown_answer(request: WriteRequest, target: Target, key: Any) -> Response | None:
    """The entity as a GET without options shows it; None where it must be read for that."""
    noted: Representation | None = transactions.noted(_NOTE)
    type_ = target.type
    if (
        noted is None
        or noted.key != key
        or noted.entity != type_.name
        or noted.version is None
        or target.link is not None
        or target.is_singleton
        or request.options.system
        or request.options.aliases
        or request.options.custom
        or "Prefer" in request.headers
        or not is_plain(request.container, type_)
        or current_caller().rights.get(f"{type_.resource}:read") != ALL
    ):
        return None
    form = form_for(request.headers)
    if form.metadata != "minimal" or form.ieee754:
        return None
    context = json_text(f"{request.root}$metadata#{target.entity_set.name}/$entity")
    body = (
        f'{{"{form.control("context")}":{context},'
        f'"{form.control("etag")}":"W/\\"{noted.version}\\"",{noted.text[1:]}'
    )
    return Response(
        body.encode(),
        200,
        [
            ("Content-Type", form.content_type),
            ("OData-Version", form.version),
            ("ETag", format_etag(noted.version)),
        ],
    )


@lru_cache(maxsize=64)
def is_plain(container: edm.EntityContainer, type_: edm.EntityType) -> bool:
    """Whether all who may read entities of the type see the same, with the tag and no more."""
    return (
        type_.etag is not None
        and type_.resource is not None
        and type_.visible is None
        and not type_.has_stream
        and not container.derived(type_)
        and all(prop.expression is None or prop.on_request for prop in type_.properties.values())
    )
