"""Addresses of entities: made for answers, and read in bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urljoin

from app.errors import InvalidQueryError, MethodNotAllowedError
from app.odata.errors import QueryError
from app.odata.key_values import parts_of
from app.odata.model import edm
from app.odata.syntax.literals import literal_text
from app.odata.syntax.path import parse_path
from app.odata.writing.targets import Target, resolve_target

# What stands in a key predicate as it is (RFC 3986, 3.3: sub-delims and more).
_SAFE = "()',=:@!$*;-._~"


def entity_path(collection: str, type_: edm.EntityType, key: Any) -> str:
    """``Clients(1)``, ``Translations(bookId=1,language='de')``: relative to the service root."""
    texts = [quote(literal_text(part, "string"), safe=_SAFE) for part in parts_of(key)]
    if len(type_.key) == 1:
        return f"{collection}({texts[0]})"
    pairs = ",".join(f"{name}={text}" for name, text in zip(type_.key, texts, strict=True))
    return f"{collection}({pairs})"


def find_url(
    container: edm.EntityContainer,
    url: str,
    roots: tuple[str, ...],
    path: str,
    references: Mapping[str, str],
) -> Target:
    """The entity that a URL in a body points at; one that an alternate key names need not be there.

    Args:
        roots: the addresses of the service, absolute or path-absolute, each with a slash at its
            end; other URLs are relative to the first of them.
        path: of the request below the service root: a URL that begins with ``./`` or ``../`` is
            relative to it (URL Conventions 4.4).
        references: Content-ID -> URL, for ``$1``.
    Raises: InvalidQueryError, it is no URL of an entity of this service; NotFoundError.
    """
    if url.startswith("$") and url[1:] in references:
        url = references[url[1:]]
    relative = _relative(url, roots, path)
    try:
        target = resolve_target(container, parse_path(relative), {})
    except (QueryError, MethodNotAllowedError) as error:
        raise InvalidQueryError(f"{url!r} is no URL of an entity: {error.message}") from error
    if target.is_collection or target.prop is not None or target.ending is not None:
        raise InvalidQueryError(f"{url!r} is no URL of an entity.")
    return target


def _relative(url: str, roots: tuple[str, ...], path: str) -> str:
    if url.startswith(("./", "../")):
        url = urljoin(roots[0] + path, url)
    for root in roots:
        if url.startswith(root):
            return url[len(root) :]
    if url.startswith("/") or "://" in url or "?" in url or "#" in url:
        raise InvalidQueryError(f"{unquote(url)!r} is no URL of an entity of this service.")
    return url
