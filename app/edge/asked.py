"""The request as Flask gives it to the views, with headers that are found in one step."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flask import Request
from werkzeug.datastructures import EnvironHeaders


class AskedHeaders(EnvironHeaders):
    """The headers of a WSGI environment, which has each of them once.

    A read looks for a dozen, most of which did not come; Werkzeug makes the name of the variable
    anew for each, and looks through all of them where one may be there several times.
    """

    def _get_key(self, key: str) -> str:
        value: str = self.environ[_variable(key)]
        return value

    def get(self, key: str, default: Any = None, type: Any = None) -> Any:  # type: ignore[override]
        """The value, or ``default``."""
        if type is not None:
            return super().get(key, default, type)
        return self.environ.get(_variable(key), default)

    def getlist(self, key: str, type: Any = None) -> list[Any]:
        """The value in a list, which is empty where it did not come."""
        if type is not None:
            return super().getlist(key, type)
        value = self.environ.get(_variable(key))
        return [] if value is None else [value]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and _variable(key) in self.environ


class AskedRequest(Request):
    """A request with such headers."""

    def __init__(self, environ: dict[str, Any], *args: Any, **options: Any) -> None:
        super().__init__(environ, *args, **options)
        self.headers = AskedHeaders(environ)


@lru_cache(maxsize=256)
def _variable(header: str) -> str:
    """``HTTP_IF_MATCH`` of ``If-Match`` (PEP 3333)."""
    name = header.upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
