"""``$metadata`` and the service document: made once for each form, then only sent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from flask import Response

from app.db.types import json_text
from app.odata.csdl.elements import imports, is_listed
from app.odata.csdl.json_form import csdl_json
from app.odata.csdl.xml_form import csdl_xml
from app.odata.model import edm
from app.odata.protocol.etags import parse_precondition
from app.odata.protocol.negotiation import Format, Version

# A model changes with a release only; a client asks again after this long, by its tag.
MAX_AGE_SECONDS = 300


@dataclass(frozen=True)
class Document:
    """A document as it is sent; ``etag`` is strong, because the bytes are always the same."""

    body: bytes
    content_type: str
    etag: str

    def answer(self, if_none_match: str | None) -> Response:
        """The document, or 304 where the client has it already."""
        known = parse_precondition(if_none_match)
        if known is not None and (known.any or self.etag.strip('"') in known.tags):
            response = Response(status=304)
        else:
            response = Response(self.body, content_type=self.content_type)
        response.headers["ETag"] = self.etag
        response.headers["Cache-Control"] = f"private, max-age={MAX_AGE_SECONDS}"
        return response


@lru_cache(maxsize=32)
def metadata(container: edm.EntityContainer, version: Version, *, as_json: bool) -> Document:
    """The model of the service (Protocol 11.1.2).

    Args:
        version: what ``OData-MaxVersion`` allows; 4.0 when the client sent none.
    """
    text = csdl_json(container, version) if as_json else csdl_xml(container, version)
    body = text.encode()
    digest = hashlib.sha256(body).hexdigest()[:32]
    media_type = "application/json" if as_json else "application/xml"
    return Document(body, media_type, f'"{digest}"')


def service_document(container: edm.EntityContainer, root: str, form: Format) -> bytes:
    """What the service has at its top: sets and singletons (Protocol 11.1.1; JSON Format 5).

    Args:
        root: the address of the service, with a slash at its end.
    """
    context = {form.control("context"): f"{root}$metadata"} if form.metadata != "none" else {}
    functions = [
        str(function.import_name)
        for function in imports(container)
        if is_listed(container, function)
    ]
    kinds = {
        "EntitySet": container.sets,
        "Singleton": container.singletons,
        "FunctionImport": functions,
    }
    value = [
        {"name": name, "kind": kind, "url": name} for kind, names in kinds.items() for name in names
    ]
    return json_text({**context, "value": value}).encode()
