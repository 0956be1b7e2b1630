"""Addresses are text: no database takes NUL, and nobody bad UTF-8."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_to_bytes

from app.errors import InvalidQueryError, ValidationError

# Escapes that need not be text: of NUL, and of bytes beyond ASCII.
_UNCLEAR = re.compile(r"%(?:00|[89A-Fa-f])|[^\x01-\x7f]")
# RFC 9110, 7.2, and RFC 3986, 3.2.2: a name or an address, and perhaps a port; it may be empty.
_HOST = re.compile(r"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?", re.ASCII | re.I)
_BAD_UTF8, _HAS_NUL = "is not valid UTF-8", "has the character U+0000"


def check_host(environ: dict[str, Any]) -> None:
    """Raise ValidationError unless the head says whom it is for (RFC 9112, 3.2)."""
    host: str | None = environ.get("HTTP_HOST")
    if host is None and environ.get("SERVER_PROTOCOL") in ("HTTP/1.0", "HTTP/0.9"):
        return
    if host is None or not _HOST.fullmatch(host):
        raise ValidationError([("Host", "must be a host, with or without a port")])


def check_path(environ: dict[str, Any]) -> None:
    """Raise InvalidQueryError where the path is no text."""
    path: str = environ["PATH_INFO"]
    # Its escapes are decoded, and each byte is one character (PEP 3333).
    problem = None if path.isascii() and "\0" not in path else _problem(path.encode("latin-1"))
    if problem is not None:
        raise InvalidQueryError(f"The address {problem}.")


def check_query(environ: dict[str, Any]) -> None:
    """Raise InvalidQueryError, with the name of each parameter that is no text."""
    query: str = environ.get("QUERY_STRING", "")
    if not _UNCLEAR.search(query):
        return
    details = []
    for pair in query.encode("latin-1").replace(b"+", b" ").split(b"&"):
        problem = _problem(unquote_to_bytes(pair))
        if problem is not None:
            name = unquote_to_bytes(pair.partition(b"=")[0]).decode(errors="replace")
            details.append((name.replace("\0", "\ufffd"), problem))
    if details:
        name, problem = details[0]
        raise InvalidQueryError(f"The parameter {name} {problem}.", details)


def _problem(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _BAD_UTF8
    return _HAS_NUL if "\0" in text else None
