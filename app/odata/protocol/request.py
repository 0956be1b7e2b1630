"""A request as the service takes it, whether it came alone or in a batch; and the methods of its
address, as OPTIONS and a 405 tell them (RFC 9110, 9.3.7 and 15.5.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from werkzeug.datastructures import Headers

from app.errors import MethodNotAllowedError
from app.odata.protocol.preferences import NO_PREFERENCES, Preferences
from app.odata.syntax.options import OptionTexts

READ = ("GET", "HEAD")


def allow(methods: Iterable[str]) -> dict[str, str]:
    """The header ``Allow`` of an address that takes these methods, and OPTIONS like all."""
    return {"Allow": ", ".join((*methods, "OPTIONS"))}


def method_error(method: str, methods: Iterable[str], message: str = "") -> MethodNotAllowedError:
    """The error for a method that an address does not take.

    Args:
        methods: those that it takes.
        message: why; by default only that it does not.
    """
    return MethodNotAllowedError(
        message or f"This address does not take {method}.", headers=allow(methods)
    )


@dataclass(slots=True)  # not frozen, which costs more: one a request
class Request:
    """A request below the service root.

    ``path`` and ``query`` are percent-encoded. ``root`` is the address of the service with a slash
    at its end; ``roots`` are others that mean it too. ``references`` are the entities that earlier
    requests of a batch made: id -> URL.
    """

    method: str
    path: str
    query: str
    headers: Headers
    body: Callable[[], bytes]
    root: str
    roots: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    # The bytes of a media entity as they come in; None where the body has been read already.
    stream: Callable[[], Iterable[bytes]] | None = None
    in_transaction: bool = False  # reads see what the running transaction has changed


@dataclass(frozen=True)
class ReadRequest:
    """A GET as the engine sees it.

    ``path`` is percent-encoded and begins after the service root; ``query`` likewise, without the
    question mark, or sorted already. ``root`` is the address of the service, a slash at its end.
    ``headers`` are looked up by their usual spelling. ``mixed`` as in ``Format``. The page
    size that is preferred is that of expanded collections, too, unless ``pages_alone``.
    """

    path: str
    query: str | OptionTexts
    root: str
    headers: Headers | Mapping[str, str] = field(default_factory=dict)
    preferences: Preferences = NO_PREFERENCES
    mixed: bool = False
    pages_alone: bool = False
