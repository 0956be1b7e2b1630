"""The request as Flask gives it to the views, with headers that are found in one step."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from flask import Request
from werkzeug.datastructures import EnvironHeaders
from werkzeug.exceptions import ClientDisconnected


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


# Up to here a body is read in one step.
_SMALL_DIGITS = 5


class AskedRequest(Request):
    """A request with such headers, and with a small body that is read in one step.

    Werkzeug puts streams around it that count and stop, where the server has done so.
    """

    _cached_data: bytes | None = None  # type: ignore[assignment]  # what Werkzeug keeps it in

    def __init__(
        self, environ: dict[str, Any], populate_request: bool = True, shallow: bool = False
    ) -> None:
        path: str = environ.get("PATH_INFO") or ""
        if not path.isascii() or environ.get("SCRIPT_NAME"):
            super().__init__(environ, populate_request, shallow)
            self.headers = AskedHeaders(environ)
            return
        # What Werkzeug makes of it, without taking apart what needs no decoding.
        self.method = environ.get("REQUEST_METHOD", "GET").upper()
        self.scheme = environ.get("wsgi.url_scheme", "http")
        self.root_path = ""
        self.path = "/" + path.lstrip("/")
        self.query_string = environ.get("QUERY_STRING", "").encode("latin1")
        self.headers = AskedHeaders(environ)
        self.remote_addr = environ.get("REMOTE_ADDR")
        self.environ = environ
        self.shallow = shallow
        if populate_request and not shallow:
            environ["werkzeug.request"] = self

    @cached_property
    def server(self) -> tuple[str, int | None] | None:  # type: ignore[override]
        """Host and port that the server listens at."""
        return Request(self.environ, populate_request=False).server

    def close(self) -> None:
        """Close the files that came with a form, if somebody looked for any."""
        if "files" in self.__dict__:
            super().close()

    def get_data(  # type: ignore[override]
        self, cache: bool = True, as_text: bool = False, parse_form_data: bool = False
    ) -> bytes | str:
        """As Werkzeug's."""
        kept = self._cached_data
        if kept is not None and not as_text and not parse_form_data:
            return kept
        environ = self.environ
        length: str = environ.get("CONTENT_LENGTH", "")
        if (
            not cache
            or as_text
            or parse_form_data
            or "stream" in self.__dict__
            or not length.isdecimal()
            or len(length) > _SMALL_DIGITS
            or "HTTP_TRANSFER_ENCODING" in environ
        ):
            return super().get_data(cache, as_text, parse_form_data)  # type: ignore[call-overload,no-any-return]
        try:
            body: bytes = environ["wsgi.input"].read(int(length))
        except (OSError, ValueError) as error:
            raise ClientDisconnected from error
        if len(body) < int(length):
            raise ClientDisconnected
        self._cached_data = body
        return body


@lru_cache(maxsize=256)
def _variable(header: str) -> str:
    """``HTTP_IF_MATCH`` of ``If-Match`` (PEP 3333)."""
    name = header.upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
