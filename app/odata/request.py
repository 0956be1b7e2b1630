"""A request as the service takes it, whether it came alone or in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from werkzeug.datastructures import Headers


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
